"""Checks of page weight: bytes, files and hosts that visitors have to load.

With a browser, its requests are counted; without one, the files that the markup and its style sheets load with the
page. Lazy files and those of scripts are unknown then. Of fonts, which browsers load only if the text needs them, only
the certain ones count (`website_scan.performance.probes.fonts`).
"""

from __future__ import annotations

from collections import Counter

from website_scan.catalogue import Category, check
from website_scan.findings import HIGH, LOW, MEDIUM, EvidenceItem, Finding, NotApplicable, Pass, Warn, by_limits
from website_scan.messages import KB, agreeing, by_steps, counted, excerpt, size, some
from website_scan.page.evidence import Page
from website_scan.page.references import ResourceKind
from website_scan.page.registrable_domain import is_same_site, site_of
from website_scan.performance.evidence import Fonts, Resource, Resources

CATEGORY = Category("Page weight", weight=10, html=True, content=True)

# Smaller files, such as tracking pixels, may be equal without being duplicates.
LEAST_DUPLICATE_BYTES = 500
# Half of all pages send more than thirty requests to other sites (HTTP Archive), so fonts and a library are not many.
SHARE_PERCENT, FEW_REQUESTS = (10, 50), 10
# Pairs of limits: up to the first is good, above the second is too much.
TOTAL_BYTES, JS_BYTES, CSS_BYTES = (1_500 * KB, 4_000 * KB), (150 * KB, 600 * KB), (80 * KB, 120 * KB)
IMAGE_BYTES, FONT_BYTES = (700 * KB, 1_500 * KB), (130 * KB, 300 * KB)
REQUESTS, DOMAINS = (80, 240), (12, 30)


@check(
    "total-weight",
    name="Total page weight",
    found="Heavy page",
    why="Every byte costs time on slow connections, and money on mobile plans.",
    judged=by_steps(*map(size, TOTAL_BYTES)),
    severity=HIGH,
    fix="Compress and resize images, split scripts and load them where they are needed, and lazy-load what is "
    'further down (loading="lazy").',
    references=("HTTP Archive: page weight", "Lighthouse: total-byte-weight"),
)
def total_weight(page: Page, resources: Resources) -> Finding:
    return _weighed("The page weighs", _loaded(resources), resources, *TOTAL_BYTES, page.response.body_wire_bytes)


@check(
    "js-weight",
    name="JavaScript weight",
    found="Heavy JavaScript",
    why="Scripts have to be parsed, compiled and run after the download: byte for byte, the most expensive content.",
    judged=by_steps(*map(size, JS_BYTES)),
    severity=HIGH,
    fix="Remove scripts that the page does not use, split bundles by page, and send them compressed.",
    references=("HTTP Archive: page weight", "Lighthouse: bootup-time"),
)
def js_weight(resources: Resources) -> Finding:
    return _kind_weighed(resources, ResourceKind.SCRIPT, "script", *JS_BYTES)


@check(
    "css-weight",
    name="CSS weight",
    found="Heavy CSS",
    why="Browsers paint nothing until style sheets have arrived and been parsed.",
    judged=by_steps(*map(size, CSS_BYTES)),
    severity=MEDIUM,
    fix="Remove rules that the page does not use, and send style sheets compressed.",
    references=("HTTP Archive: page weight", "Lighthouse: unused-css-rules"),
)
def css_weight(resources: Resources) -> Finding:
    return _kind_weighed(resources, ResourceKind.STYLESHEET, "style sheet", *CSS_BYTES)


@check(
    "image-weight",
    name="Image weight",
    found="Heavy images",
    why="Heavy images take long to arrive on slow connections, and use up mobile data.",
    judged=by_steps(*map(size, IMAGE_BYTES)),
    severity=MEDIUM,
    fix="Serve images in the size they are shown in (srcset), as AVIF or WebP, and those further down with "
    'loading="lazy".',
    references=("HTTP Archive: page weight", "Lighthouse: uses-responsive-images"),
)
def image_weight(resources: Resources) -> Finding:
    return _kind_weighed(resources, ResourceKind.IMAGE, "image", *IMAGE_BYTES)


@check(
    "font-weight",
    name="Web font weight",
    found="Heavy web fonts",
    why="Until its font arrives, text is invisible or shown in another font.",
    judged=by_steps(*map(size, FONT_BYTES)) + " Counted are preloaded fonts and one file of each family in use, but "
    "none of services that adapt to browsers.",
    severity=MEDIUM,
    fix="Subset fonts to the characters that the site needs (pyftsubset), use fewer weights, and serve WOFF2.",
    references=("HTTP Archive: page weight", "web.dev: font best practices"),
)
def font_weight(resources: Resources, fonts: Fonts) -> Finding:
    files = fonts.same_for_all
    if not files:
        return NotApplicable("No font file is certain to be loaded.")
    verb = "weighs" if len(files) == 1 else "weigh"
    least = f"{counted(len(files), 'font')} that the page is certain to load {verb}"
    return _weighed(least, files, resources, *FONT_BYTES)


@check(
    "requests",
    name="Number of requests",
    found="Many requests",
    why="Each request waits for a connection and for the server, and requests compete for bandwidth.",
    judged=by_steps(*REQUESTS),
    severity=MEDIUM,
    fix="Bundle small files, remove those that the page can do without, and load the rest when it is needed.",
    references=("HTTP Archive: state of the web",),
)
def requests(page: Page, resources: Resources) -> Finding:
    loaded = _loaded(resources)
    count = len(page.hops) + len(loaded) + resources.left_out
    kinds = Counter(each.kind.value for each in loaded)
    shown = ", ".join(f"{kind}: {number:,}" for kind, number in kinds.most_common())
    message = f"The page is loaded with {counted(count, 'request')}" + (f" ({shown})" if shown else "")
    return _graded(message, count, *REQUESTS)


@check(
    "domains",
    name="Number of domains",
    found="Many domains",
    why="Each further domain costs a DNS lookup, a connection and a TLS handshake.",
    judged=by_steps(*DOMAINS),
    severity=LOW,
    fix="Serve files from your own host, and remove services that the page does not need.",
    references=("Lighthouse: uses-rel-preconnect",),
)
def domains(page: Page, resources: Resources) -> Finding:
    hosts = list(dict.fromkeys([page.target.host, *(each.host for each in _loaded(resources))]))
    return _graded(f"The page is loaded from {counted(len(hosts), 'domain')}: {some(hosts)}", len(hosts), *DOMAINS)


@check(
    "third-party-share",
    name="Third-party usage",
    found="High third-party usage",
    why="Other sites' servers decide how fast the page is, and learn who visits it.",
    judged=by_steps(f"{SHARE_PERCENT[0]}%", f"{SHARE_PERCENT[1]}%") + f" Low below {FEW_REQUESTS} requests.",
    severity=MEDIUM,
    fix="Remove third-party scripts and widgets that the page can do without, or load them after the page.",
    references=("web.dev: third-party JavaScript",),
)
def third_party_share(page: Page, resources: Resources) -> Finding:
    loaded = _loaded(resources)
    foreign = [each for each in loaded if not is_same_site(each.host, page.target.host)]
    total = len(loaded) + 1
    share = 100 * len(foreign) / total
    sites = [site for site, _ in Counter(site_of(each.host) for each in foreign).most_common()]
    message = f"{len(foreign)} of {total} requests ({share:.0f}%) {agreeing(len(foreign), 'goes', 'go')} to other sites"
    if sites:
        message += f": {some(sites)}"
    if share > SHARE_PERCENT[0] and len(foreign) < FEW_REQUESTS:
        return Warn(f"{message}; these are so few that it matters little.", LOW)
    return _graded(message, share, *SHARE_PERCENT, "%")


@check(
    "duplicate-files",
    name="No duplicate files",
    found="Duplicate files",
    why="Browsers download the same bytes again, because they have another URL.",
    severity=LOW,
    fix="Refer to each file by the same URL everywhere, with the same query string.",
    references=("RFC 9111, section 2",),
)
def duplicate_files(resources: Resources) -> Finding:
    if not resources.items:
        return NotApplicable("The page loads no resources.")
    first: dict[str, Resource] = {}
    twice: list[tuple[Resource, Resource]] = []
    for each in resources.items:
        if each.status != 200 or each.kind is ResourceKind.MEDIA or not each.is_fetched:
            continue
        if each.body_bytes < LEAST_DUPLICATE_BYTES:
            continue
        known = first.setdefault(each.body_sha256, each)
        if known is not each and known.final_url != each.final_url:
            twice.append((known, each))
    evidence: list[EvidenceItem] = [
        {"url": excerpt(again.url), "same_as": excerpt(once.url), "bytes": again.body_bytes} for once, again in twice
    ]
    shown = some([f"{excerpt(again.url, 80)} (as {excerpt(once.url, 80)})" for once, again in twice])
    if not twice:
        return Pass("No file is loaded twice.")
    message = f"{counted(len(twice), 'file is', 'files are')} loaded again from another URL: {shown}"
    return by_limits(len(twice), 0, 5, message, evidence=evidence)


@check(
    "empty-responses",
    name="No empty responses",
    found="Empty responses",
    why="A request that returns nothing still costs a round trip.",
    severity=LOW,
    fix="Remove references to files that have no content, or serve the right files at their URLs.",
    references=("HTML, fetching resources",),
)
def empty_responses(resources: Resources) -> Finding:
    if not resources.items:
        return NotApplicable("The page loads no resources.")
    empty = [each for each in resources.items if each.status == 200 and each.body_bytes == 0 and each.is_fetched]
    evidence: list[EvidenceItem] = [{"url": excerpt(each.url), "kind": each.kind.value} for each in empty]
    shown = some([excerpt(each.url, 80) for each in empty])
    if not empty:
        return Pass("Every file has content.")
    return by_limits(
        len(empty),
        0,
        1,
        f"{counted(len(empty), 'file has', 'files have')} no content: {shown}",
        evidence=evidence,
    )


def _loaded(resources: Resources) -> list[Resource]:
    return [each for each in resources.items if each.eager]


def _kind_weighed(resources: Resources, kind: ResourceKind, noun: str, good: int, poor: int) -> Finding:
    loaded = [each for each in _loaded(resources) if each.kind is kind]
    if not loaded:
        return NotApplicable(f"The page loads no {noun}.")
    verb = "weighs" if len(loaded) == 1 else "weigh"
    return _weighed(f"{counted(len(loaded), noun)} {verb}", loaded, resources, good, poor)


def _weighed(
    what: str, loaded: list[Resource], resources: Resources, good: int, poor: int, own_bytes: int = 0
) -> Finding:
    """Judge the bytes of the loaded resources; `what` begins the sentence, as in "3 scripts weigh"."""
    total = own_bytes + sum(each.wire_bytes for each in loaded)
    heaviest = sorted(loaded, key=lambda each: -each.wire_bytes)
    evidence: list[EvidenceItem] = [
        {"url": excerpt(each.url), "kind": each.kind.value, "wire_bytes": each.wire_bytes} for each in heaviest
    ]
    least = "at least " if resources.left_out else ""
    message = f"{what} {least}{size(total)}"
    if heaviest and heaviest[0].wire_bytes > good / 10:
        message += f", the heaviest file {excerpt(heaviest[0].url, 80)} ({size(heaviest[0].wire_bytes)})"
    return by_limits(total, good, poor, message, f"up to {size(good)} is good", evidence)


def _graded(message: str, value: float, good: int, poor: int, unit: str = "") -> Finding:
    return by_limits(value, good, poor, message, f"up to {good}{unit} is good")
