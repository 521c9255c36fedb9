"""Checks of how many bytes, files and hosts visitors load.

With a browser, its requests are counted. Without a browser, the files count that the markup and its style sheets load
with the page: lazy files and files of scripts are unknown. Only fonts that the page is sure to load count
(`website_scan.performance.probes.fonts`), because browsers load a font only if text needs it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Annotated, ClassVar

from website_scan.catalogue import Category, check
from website_scan.findings import HIGH, LOW, MEDIUM, NotApplicable
from website_scan.messages import KB, cut, document_thresholds, excerpt, size
from website_scan.outcomes import Pass, Verdict, Warn, judge_by_limits, outcome
from website_scan.page.evidence import Page
from website_scan.page.references import ResourceKind
from website_scan.page.registrable_domain import is_same_site, site_of
from website_scan.performance.evidence import Fonts, Resource, Resources
from website_scan.performance.places import LoadedFile
from website_scan.places import Column, Place, PlaceUrl
from website_scan.values import Address, Bytes, Count, Excerpt, Percent, Share, Values

CATEGORY = Category("Page weight", weight=10, html=True, content=True)

# Smaller files, such as tracking pixels, may have equal content by chance.
MIN_DUPLICATE_BYTES = 500
# Half of all pages send more than thirty third-party requests (HTTP Archive).
THIRD_PARTY_SHARE_PERCENT, MAX_TOLERATED_REQUESTS = (10, 50), 10
# Pairs of limits: a page passes up to the first limit, and fails above the second.
TOTAL_BYTES_LIMITS, JS_BYTES_LIMITS, CSS_BYTES_LIMITS = (
    (1_500 * KB, 4_000 * KB),
    (150 * KB, 600 * KB),
    (80 * KB, 120 * KB),
)
IMAGE_BYTES_LIMITS, FONT_BYTES_LIMITS = (700 * KB, 1_500 * KB), (130 * KB, 300 * KB)
REQUESTS, DOMAINS = (80, 240), (12, 30)
MAX_LISTED_KINDS = 4
NOUNS = {
    ResourceKind.SCRIPT: "script",
    ResourceKind.STYLESHEET: "style sheet",
    ResourceKind.IMAGE: "image",
    ResourceKind.FONT: "font",
    ResourceKind.MEDIA: "media file",
    ResourceKind.ICON: "icon",
    ResourceKind.OTHER: "other request",
}


class DuplicateFile(Place, frozen=True):
    """File with the same content as another file of the page."""

    kind: ClassVar[str] = "duplicate-file"

    url: PlaceUrl
    same_as: Annotated[str, Column("Same file", "address")]
    bytes: Annotated[int, Column("Size", "number", "bytes")]

    @property
    def label(self) -> str:
        return f"{cut(self.url, 75)} (as {cut(self.same_as, 75)})"


@check(
    "total-weight",
    name="Total page weight",
    outcomes={"heavy": "Heavy page"},
    why="Every byte costs time on slow connections, and money on mobile plans.",
    consequence="The page takes longer to load on phones and uses up visitors' data, so some may leave.",
    judged=document_thresholds(*map(size, TOTAL_BYTES_LIMITS)),
    severity=HIGH,
    fix="Compress and resize images, split scripts and load them where they are needed, and lazy-load what is "
    'further down (`loading="lazy"`).',
    references=("HTTP Archive: page weight", "Lighthouse: total-byte-weight"),
)
def total_weight(page: Page, resources: Resources) -> Verdict:
    loaded = _answered_resources(resources)
    files = Count(len(loaded) + 1, "file")
    document_bytes = page.response.body_wire_bytes
    return _judge_weight(
        "The page weighs {weight} in {files}", files, loaded, resources, TOTAL_BYTES_LIMITS, document_bytes
    )


@check(
    "js-weight",
    name="JavaScript weight",
    outcomes={"heavy": "Heavy JavaScript"},
    why="Scripts have to be parsed, compiled and run after the download: byte for byte, the most expensive content.",
    consequence="Phones need longer to get the page ready, so visitors wait before they can use it.",
    judged=document_thresholds(*map(size, JS_BYTES_LIMITS)),
    severity=HIGH,
    fix="Remove scripts that the page does not use, split bundles by page, and send them compressed.",
    references=("HTTP Archive: page weight", "Lighthouse: bootup-time"),
)
def js_weight(resources: Resources) -> Verdict:
    return _judge_weight_of_kind(resources, ResourceKind.SCRIPT, JS_BYTES_LIMITS)


@check(
    "css-weight",
    name="CSS weight",
    outcomes={"heavy": "Heavy CSS"},
    why="Browsers paint nothing until style sheets have arrived and been parsed.",
    judged=document_thresholds(*map(size, CSS_BYTES_LIMITS)),
    severity=MEDIUM,
    fix="Remove rules that the page does not use, and send style sheets compressed.",
    references=("HTTP Archive: page weight", "Lighthouse: unused-css-rules"),
)
def css_weight(resources: Resources) -> Verdict:
    return _judge_weight_of_kind(resources, ResourceKind.STYLESHEET, CSS_BYTES_LIMITS)


@check(
    "image-weight",
    name="Image weight",
    outcomes={"heavy": "Heavy images"},
    why="Heavy images take long to arrive on slow connections, and use up mobile data.",
    judged=document_thresholds(*map(size, IMAGE_BYTES_LIMITS)),
    severity=MEDIUM,
    fix="Serve images in the size they are shown in (`srcset`), as AVIF or WebP, and those further down with "
    '`loading="lazy"`.',
    references=("HTTP Archive: page weight", "Lighthouse: uses-responsive-images"),
)
def image_weight(resources: Resources) -> Verdict:
    return _judge_weight_of_kind(resources, ResourceKind.IMAGE, IMAGE_BYTES_LIMITS)


@check(
    "font-weight",
    name="Web font weight",
    outcomes={"heavy": "Heavy web fonts"},
    why="Until its font arrives, text is invisible or shown in another font.",
    judged=document_thresholds(*map(size, FONT_BYTES_LIMITS))
    + " Counted are preloaded fonts and one file of each family in use, but "
    "none of services that adapt to browsers.",
    severity=MEDIUM,
    fix="Subset fonts to the characters that the site needs (`pyftsubset`), use fewer weights, and serve WOFF2.",
    references=("HTTP Archive: page weight", "web.dev: font best practices"),
)
def font_weight(resources: Resources, fonts: Fonts) -> Verdict:
    files = fonts.unadapted_files
    if not files:
        return NotApplicable("No font file is certain to be loaded.")
    summary = "{files} that the page is certain to load {files:weighs|weigh} {weight}"
    return _judge_weight(summary, Count(len(files), "font"), files, resources, FONT_BYTES_LIMITS)


@check(
    "requests",
    name="Number of requests",
    outcomes={"many": "Many requests"},
    why="Each request waits for a connection and for the server, and requests compete for bandwidth.",
    judged=document_thresholds(*REQUESTS),
    severity=MEDIUM,
    fix="Bundle small files, remove those that the page can do without, and load the rest when it is needed.",
    references=("HTTP Archive: state of the web",),
)
def requests(page: Page, resources: Resources) -> Verdict:
    loaded = _loaded_resources(resources)
    count = len(page.hops) + len(loaded) + resources.left_out
    requests = Count(count, "request")
    if not loaded:
        return judge_by_limits(
            "many", "The page is loaded with {requests}", count, REQUESTS, limit=Count(REQUESTS[0]), requests=requests
        )
    kinds = Counter(NOUNS[resource.kind] for resource in loaded).most_common()
    files = [Count(number, noun) for noun, number in kinds[:MAX_LISTED_KINDS]]
    if rest := sum(number for _, number in kinds[MAX_LISTED_KINDS:]):
        files.append(Count(rest, "other"))
    return judge_by_limits(
        "many",
        "The page is loaded with {requests} ({files})",
        count,
        REQUESTS,
        limit=Count(REQUESTS[0]),
        requests=requests,
        files=Values(files),
    )


@check(
    "domains",
    name="Number of domains",
    outcomes={"many": "Many domains"},
    why="Each further domain costs a DNS lookup, a connection and a TLS handshake.",
    judged=document_thresholds(*DOMAINS),
    severity=LOW,
    fix="Serve files from your own host, and remove services that the page does not need.",
    references=("Lighthouse: uses-rel-preconnect",),
)
def domains(page: Page, resources: Resources) -> Verdict:
    hosts = list(dict.fromkeys([page.target.host, *(resource.host for resource in _loaded_resources(resources))]))
    return judge_by_limits(
        "many",
        "The page is loaded from {domains}: {hosts}",
        len(hosts),
        DOMAINS,
        limit=Count(DOMAINS[0]),
        domains=Count(len(hosts), "domain"),
        hosts=Values([Excerpt(host) for host in hosts]),
    )


@check(
    "third-party-share",
    name="Third-party usage",
    outcomes={"high": outcome("High third-party usage", MEDIUM, LOW)},
    why="Other sites' servers decide how fast the page is, and learn who visits it.",
    judged=document_thresholds(f"{THIRD_PARTY_SHARE_PERCENT[0]}%", f"{THIRD_PARTY_SHARE_PERCENT[1]}%")
    + f" Low below {MAX_TOLERATED_REQUESTS} requests.",
    severity=MEDIUM,
    fix="Remove third-party scripts and widgets that the page can do without, or load them after the page.",
    references=("web.dev: third-party JavaScript",),
)
def third_party_share(page: Page, resources: Resources) -> Verdict:
    loaded = _answered_resources(resources)
    foreign = [resource for resource in loaded if not is_same_site(resource.host, page.target.host)]
    if not foreign:
        return Pass("No request goes to another site.")
    total = len(loaded) + 1
    share = 100 * len(foreign) / total
    sites = [site for site, _ in Counter(site_of(resource.host) for resource in foreign).most_common()]
    requests, share_of_all = Share(len(foreign), total, "request"), Percent(share)
    summary = "{requests} ({share}) {requests:goes|go} to other sites ({sites})"
    listed = Values([Excerpt(site) for site in sites])
    if share > THIRD_PARTY_SHARE_PERCENT[0] and len(foreign) < MAX_TOLERATED_REQUESTS:
        return Warn(
            "high",
            f"{summary}, too few to matter much.",
            severity=LOW,
            requests=requests,
            share=share_of_all,
            sites=listed,
        )
    return judge_by_limits(
        "high",
        summary,
        share,
        THIRD_PARTY_SHARE_PERCENT,
        limit=Percent(THIRD_PARTY_SHARE_PERCENT[0]),
        requests=requests,
        share=share_of_all,
        sites=listed,
    )


@check(
    "duplicate-files",
    name="No duplicate files",
    outcomes={"loaded-twice": "Duplicate files"},
    why="Browsers download the same bytes again, because they have another URL.",
    severity=LOW,
    fix="Refer to each file by the same URL everywhere, with the same query string.",
    references=("RFC 9111, section 2",),
)
def duplicate_files(resources: Resources) -> Verdict:
    if not resources.items:
        return NotApplicable("The page loads no resources.")
    first_by_digest: dict[str, Resource] = {}
    duplicates: list[tuple[Resource, Resource]] = []
    for resource in resources.items:
        if resource.status != 200 or resource.kind is ResourceKind.MEDIA or not resource.is_fetched:
            continue
        if resource.body_bytes < MIN_DUPLICATE_BYTES:
            continue
        original = first_by_digest.setdefault(resource.body_sha256, resource)
        if original is not resource and original.final_url != resource.final_url:
            duplicates.append((original, resource))
    if not duplicates:
        return Pass("No file is loaded twice.")
    return judge_by_limits(
        "loaded-twice",
        "{files} {files:is|are} loaded again from another URL",
        len(duplicates),
        (0, 5),
        files=Count(len(duplicates), "file"),
        places=[
            DuplicateFile(excerpt(copy.url), excerpt(original.url), copy.body_bytes) for original, copy in duplicates
        ],
    )


@check(
    "empty-responses",
    name="No empty responses",
    outcomes={"no-content": "Empty responses"},
    why="A request that returns nothing still costs a round trip.",
    severity=LOW,
    fix="Remove references to files that have no content, or serve the right files at their URLs.",
    references=("HTML, fetching resources",),
)
def empty_responses(resources: Resources) -> Verdict:
    if not resources.items:
        return NotApplicable("The page loads no resources.")
    empty = [
        resource
        for resource in resources.items
        if resource.status == 200 and resource.body_bytes == 0 and resource.is_fetched
    ]
    if not empty:
        return Pass("Every file has content.")
    return judge_by_limits(
        "no-content",
        "{files} {files:has|have} no content",
        len(empty),
        (0, 1),
        files=Count(len(empty), "file"),
        places=[LoadedFile(excerpt(resource.url), resource.kind.value) for resource in empty],
    )


def _loaded_resources(resources: Resources) -> list[Resource]:
    return [resource for resource in resources.items if resource.eager]


def _answered_resources(resources: Resources) -> list[Resource]:
    """Return the loaded resources that got a response.

    The others are broken and weigh nothing.
    """
    return [resource for resource in _loaded_resources(resources) if resource.status is not None]


def _judge_weight_of_kind(resources: Resources, kind: ResourceKind, limits: tuple[int, int]) -> Verdict:
    loaded = [resource for resource in _answered_resources(resources) if resource.kind is kind]
    if not loaded:
        return NotApplicable(f"The page loads no {NOUNS[kind]}.")
    files = Count(len(loaded), NOUNS[kind])
    return _judge_weight("{files} {files:weighs|weigh} {weight}", files, loaded, resources, limits)


def _judge_weight(
    summary: str,
    files: Count,
    loaded: Sequence[Resource],
    resources: Resources,
    limits: tuple[int, int],
    document_bytes: int = 0,
) -> Verdict:
    """Judge the total bytes of the document and its resources.

    `summary` is a template with the values `files` and `weight`.
    """
    total = document_bytes + sum(resource.wire_bytes for resource in loaded)
    if resources.left_out:
        summary = summary.replace("{weight}", "at least {weight}")
    heaviest_first = sorted(loaded, key=lambda resource: -resource.wire_bytes)
    judge = partial(
        judge_by_limits,
        "heavy",
        value=total,
        limits=limits,
        limit=Bytes(limits[0]),
        details=[LoadedFile.from_resource(resource) for resource in heaviest_first],
        files=files,
        weight=Bytes(total),
    )
    if not heaviest_first or heaviest_first[0].wire_bytes <= limits[0] / 10:
        return judge(summary)
    heaviest, heaviest_bytes = Address(heaviest_first[0].url, 80), Bytes(heaviest_first[0].wire_bytes)
    if files.value == 1:
        return judge(f"{summary}: {{heaviest}}", heaviest=heaviest)
    summary += ", the heaviest file {heaviest} ({heaviest_bytes})"
    return judge(summary, heaviest=heaviest, heaviest_bytes=heaviest_bytes)
