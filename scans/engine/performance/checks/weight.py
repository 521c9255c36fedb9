"""Page weight: how much visitors have to load, in bytes, files and hosts.

Counted is what a browser was seen to load, without one what the markup and its style sheets load with the page. What
is lazy or comes by script is not known then; of fonts, of which browsers load those that the text needs, only what is
certain (`web_fonts`).
"""

from __future__ import annotations

from collections import Counter

from scans.engine.catalogue import Category, check
from scans.engine.findings import HIGH, LOW, MEDIUM, EvidenceItem, Fail, Finding, NotApplicable, Pass, Warn
from scans.engine.messages import counted, excerpt, some
from scans.engine.page.evidence import Page
from scans.engine.page.references import ResourceKind
from scans.engine.page.registrable_domain import is_same_site, site_of
from scans.engine.performance.evidence import Resource, Resources, Styles
from scans.engine.performance.fonts import ADAPTING_HOSTS, certain_fonts

CATEGORY = Category("Page weight", weight=10)

NOT_HTML = NotApplicable("The page is not HTML.")
EVIDENCE_ITEMS = 20
KB = 1000
# Smaller files, such as counting pixels, are alike without being the same thing twice.
LEAST_DUPLICATE_BYTES = 500
# On a page of hardly any files a counter and a font are already half of them.
SHARE_POOR, FEW_REQUESTS = 50, 5


@check(
    "total-weight",
    name="Total weight",
    severity=HIGH,
    fix="Compress and resize images, split scripts and load them where they are needed, and load what is further "
    'down later (loading="lazy").',
    references=("HTTP Archive: page weight", "Lighthouse: total-byte-weight"),
)
def total_weight(page: Page, resources: Resources) -> Finding:
    if not page.is_html:
        return NOT_HTML
    return _weighed(
        "The page weighs", _loaded(resources), resources, 1_500 * KB, 4_000 * KB, page.response.body_wire_bytes
    )


@check(
    "js-weight",
    name="Weight of scripts",
    severity=HIGH,
    fix="Remove scripts that the page does not use, split bundles by page, and send them compressed.",
    references=("HTTP Archive: JavaScript bytes", "YellowLabTools: jsBytes"),
)
def js_weight(page: Page, resources: Resources) -> Finding:
    return _kind_weighed(page, resources, ResourceKind.SCRIPT, "script", 150 * KB, 600 * KB)


@check(
    "css-weight",
    name="Weight of style sheets",
    severity=MEDIUM,
    fix="Remove rules that the page does not use, and send style sheets compressed.",
    references=("HTTP Archive: CSS bytes", "sitespeed.io coach: cssSize"),
)
def css_weight(page: Page, resources: Resources) -> Finding:
    return _kind_weighed(page, resources, ResourceKind.STYLESHEET, "style sheet", 80 * KB, 120 * KB)


@check(
    "image-weight",
    name="Weight of images",
    severity=MEDIUM,
    fix="Send images in the size they are shown in (srcset), as AVIF or WebP, and those further down with "
    'loading="lazy".',
    references=("HTTP Archive: image bytes", "sitespeed.io coach: imageSize"),
)
def image_weight(page: Page, resources: Resources) -> Finding:
    return _kind_weighed(page, resources, ResourceKind.IMAGE, "image", 700 * KB, 1_500 * KB)


@check(
    "font-weight",
    name="Weight of fonts",
    severity=MEDIUM,
    fix="Cut fonts down to the characters that the site needs (pyftsubset), use fewer weights, and send WOFF2.",
    references=("HTTP Archive: font bytes", "YellowLabTools: fontsSize"),
)
def font_weight(page: Page, resources: Resources, styles: Styles) -> Finding:
    """At least these: preloaded ones, and one of each family in use, but none of services that adapt to browsers."""
    if not page.is_html:
        return NOT_HTML
    fonts = [each for each in certain_fonts(resources, styles) if each.host not in ADAPTING_HOSTS]
    if not fonts:
        return NotApplicable("No font file is sure to be loaded.")
    verb = "weighs" if len(fonts) == 1 else "weigh"
    least = f"{counted(len(fonts), 'font')} that the page is sure to load {verb}"
    return _weighed(least, fonts, resources, 130 * KB, 300 * KB)


@check(
    "requests",
    name="Number of requests",
    severity=MEDIUM,
    fix="Join small files, drop those that the page can do without, and load the rest when it is needed.",
    references=("HTTP Archive: total requests", "YellowLabTools: totalRequests"),
)
def requests(page: Page, resources: Resources) -> Finding:
    if not page.is_html:
        return NOT_HTML
    loaded = _loaded(resources)
    count = len(page.hops) + len(loaded) + resources.left_out
    kinds = Counter(each.kind.value for each in loaded)
    shown = ", ".join(f"{kind} {number}" for kind, number in kinds.most_common())
    message = f"The page is loaded with {counted(count, 'request')}" + (f" ({shown})" if shown else "")
    return _graded(message, count, 80, 240)


@check(
    "domains",
    name="Number of domains",
    severity=LOW,
    fix="Serve files from your own host, and drop services that the page does not need: each domain costs a DNS "
    "look-up and a connection.",
    references=("YellowLabTools: domains",),
)
def domains(page: Page, resources: Resources) -> Finding:
    if not page.is_html:
        return NOT_HTML
    hosts = list(dict.fromkeys([page.target.host, *(each.host for each in _loaded(resources))]))
    return _graded(f"The page is loaded from {counted(len(hosts), 'domain')}: {some(hosts)}", len(hosts), 12, 30)


@check(
    "third-party-share",
    name="Share of third parties",
    severity=MEDIUM,
    fix="Drop third-party scripts and widgets that the page can do without, or load them after it is complete.",
    references=("HTTP Archive: third parties", "Lighthouse: third-party-summary"),
)
def third_party_share(page: Page, resources: Resources) -> Finding:
    if not page.is_html:
        return NOT_HTML
    loaded = _loaded(resources)
    foreign = [each for each in loaded if not is_same_site(each.host, page.target.host)]
    total = len(loaded) + 1
    share = 100 * len(foreign) / total
    sites = [site for site, _ in Counter(site_of(each.host) for each in foreign).most_common()]
    message = f"{len(foreign)} of {total} requests ({share:.0f} %) go to other sites"
    if sites:
        message += f": {some(sites)}"
    if share > SHARE_POOR and len(foreign) < FEW_REQUESTS:
        return Warn(f"{message}; the page has so few that this is no great weight.", LOW)
    return _graded(message, share, 10, SHARE_POOR, " %")


@check(
    "duplicate-files",
    name="No file loaded twice",
    severity=LOW,
    fix="Refer to each file by one address everywhere, with the same query.",
    references=("YellowLabTools: identicalFiles",),
)
def duplicate_files(page: Page, resources: Resources) -> Finding:
    if not page.is_html:
        return NOT_HTML
    if not resources.items:
        return NotApplicable("The page refers to no resource.")
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
    evidence = tuple[EvidenceItem, ...](
        {"url": excerpt(again.url), "same_as": excerpt(once.url), "bytes": again.body_bytes}
        for once, again in twice[:EVIDENCE_ITEMS]
    )
    shown = some([f"{excerpt(again.url, 80)} (as {excerpt(once.url, 80)})" for once, again in twice])
    return _counted_faults(
        twice, f"loaded again under another address: {shown}", 5, evidence, "No file is loaded twice."
    )


@check(
    "empty-responses",
    name="No empty responses",
    severity=LOW,
    fix="Remove references to files that have no content, or let their addresses answer with the right file.",
    references=("YellowLabTools: emptyRequests",),
)
def empty_responses(page: Page, resources: Resources) -> Finding:
    if not page.is_html:
        return NOT_HTML
    if not resources.items:
        return NotApplicable("The page refers to no resource.")
    empty = [each for each in resources.items if each.status == 200 and each.body_bytes == 0 and each.is_fetched]
    evidence = tuple[EvidenceItem, ...](
        {"url": excerpt(each.url), "kind": each.kind.value} for each in empty[:EVIDENCE_ITEMS]
    )
    shown = some([excerpt(each.url, 80) for each in empty])
    return _counted_faults(empty, f"without any content: {shown}", 1, evidence, "Every file has content.")


def _loaded(resources: Resources) -> list[Resource]:
    return [each for each in resources.items if each.eager]


def _kind_weighed(page: Page, resources: Resources, kind: ResourceKind, noun: str, good: int, poor: int) -> Finding:
    if not page.is_html:
        return NOT_HTML
    loaded = [each for each in _loaded(resources) if each.kind is kind]
    if not loaded:
        return NotApplicable(f"The page loads no {noun} by its markup.")
    verb = "weighs" if len(loaded) == 1 else "weigh"
    return _weighed(f"{counted(len(loaded), noun)} {verb}", loaded, resources, good, poor)


def _weighed(
    what: str, loaded: list[Resource], resources: Resources, good: int, poor: int, own_bytes: int = 0
) -> Finding:
    """Judge the bytes of what is loaded; `what` begins the sentence, as in "3 scripts weigh"."""
    total = own_bytes + sum(each.wire_bytes for each in loaded)
    heaviest = sorted(loaded, key=lambda each: -each.wire_bytes)
    evidence = tuple[EvidenceItem, ...](
        {"url": excerpt(each.url), "kind": each.kind.value, "wire_bytes": each.wire_bytes}
        for each in heaviest[:EVIDENCE_ITEMS]
    )
    least = "at least " if resources.left_out else ""
    message = f"{what} {least}{total / KB:,.0f} kB"
    if heaviest and heaviest[0].wire_bytes > good / 10:
        message += f", the heaviest {excerpt(heaviest[0].url, 80)} ({heaviest[0].wire_bytes / KB:,.0f} kB)"
    if total <= good:
        return Pass(f"{message}.", evidence)
    limit = f"up to {good / KB:,.0f} kB is light"
    if total <= poor:
        return Warn(f"{message}; {limit}.", evidence=evidence)
    return Fail(f"{message}; {limit}, more than {poor / KB:,.0f} kB heavy.", evidence=evidence)


def _graded(message: str, value: float, good: int, poor: int, unit: str = "") -> Finding:
    if value <= good:
        return Pass(f"{message}.")
    if value <= poor:
        return Warn(f"{message}; up to {good}{unit} is good.")
    return Fail(f"{message}; more than {poor}{unit} is too much.")


def _counted_faults(
    faults: list[Resource] | list[tuple[Resource, Resource]],
    what: str,
    tolerated: int,
    evidence: tuple[EvidenceItem, ...],
    passed: str,
) -> Finding:
    if not faults:
        return Pass(passed)
    message = f"{counted(len(faults), 'file')} {what}."
    if len(faults) <= tolerated:
        return Warn(message, evidence=evidence)
    return Fail(message, evidence=evidence)
