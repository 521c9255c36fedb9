"""Checks of server and document: time to first byte, redirects, failed resources, DOM size."""

from __future__ import annotations

import re
import statistics

from website_scan.catalogue import Category, check
from website_scan.findings import HIGH, LOW, MEDIUM, EvidenceItem, Fail, Finding, NotApplicable, Pass, Warn, by_limits
from website_scan.messages import agreeing, by_steps, counted, excerpt, part, some
from website_scan.page.evidence import Document, Page
from website_scan.page.markup import attribute, live
from website_scan.page.references import ResourceKind
from website_scan.page.registrable_domain import is_same_site
from website_scan.performance.evidence import DomSize, Resource, Resources, Timing

CATEGORY = Category("Server and document", weight=7, html=True)

NO_OUTSIDE_NAMES = "the scanner's name servers know no name of another site"
TTFB_GOOD_MS, TTFB_POOR_MS = 600, 1_800
ELEMENTS_GOOD, ELEMENTS_POOR = 1_500, 3_000
DEPTH_GOOD, DEPTH_POOR = 15, 25
# Statuses with which servers refuse bots files that visitors get.
REFUSALS = frozenset({401, 403, 429, 451, 999})
# An unload handler in a script: a property, or an event name. beforeunload is a different event.
UNLOAD = re.compile(
    r"""(?<![\w$])onunload\s*=(?!=)|addEventListener\(\s*["'`]unload["'`]|\.(?:on|bind)\(\s*["'`]unload["'`]"""
)


@check(
    "ttfb",
    name="Time to first byte",
    found="Slow time to first byte",
    why="Nothing else can start before the first byte of the document has arrived.",
    judged=by_steps(f"{TTFB_GOOD_MS} ms", f"{TTFB_POOR_MS:,} ms"),
    severity=HIGH,
    fix="Answer from a cache (a page cache, or a CDN near the visitor), and look for slow database queries.",
    references=("Lighthouse: server-response-time", "web.dev: Time to First Byte"),
    html=False,
)
def ttfb(timing: Timing) -> Finding:
    milliseconds = [round(1000 * each) for each in timing.ttfb_s]
    median = round(statistics.median(milliseconds))
    tries = f"median of {len(milliseconds)}" if len(milliseconds) > 1 else "one try"
    evidence: list[EvidenceItem] = [{"try": number, "ttfb_ms": value} for number, value in enumerate(milliseconds, 1)]
    message = f"The server starts to respond after {median:,} ms ({tries})"
    return by_limits(median, TTFB_GOOD_MS, TTFB_POOR_MS, message, f"up to {TTFB_GOOD_MS} ms is good", evidence)


@check(
    "doc-redirects",
    name="No redirects before the document",
    found="Redirects before the document",
    why="Each redirect costs a round trip before the page starts to load.",
    severity=MEDIUM,
    fix="Link to the final URL everywhere, and redirect to it in one step.",
    references=("Lighthouse: redirects",),
    html=False,
)
def doc_redirects(page: Page) -> Finding:
    count = len(page.hops) - 1
    evidence: list[EvidenceItem] = [
        {"hop": number, "url": excerpt(hop.url), "status": hop.status} for number, hop in enumerate(page.hops, 1)
    ]
    if count == 0:
        return Pass("The document loads without a redirect.")
    chain = some([excerpt(hop.url, 80) for hop in page.hops[1:]])
    message = f"{counted(count, 'redirect comes', 'redirects come')} before the document: to {chain}"
    if count == 1 and is_same_site(page.requested.host, page.target.host):
        return Warn(f"{message}.", evidence=evidence)
    return Fail(f"{message}.", evidence=evidence)


@check(
    "broken-resources",
    name="No broken resources",
    found="Resources failed to load",
    why="Visitors may miss styles, scripts or images of the page.",
    judged="Medium if only images of style sheets are missing.",
    severity=HIGH,
    fix="Correct the URLs, or remove references to files that no longer exist.",
    references=("HTML, fetching resources",),
)
def broken_resources(resources: Resources) -> Finding:
    if not resources.items:
        return NotApplicable("The page loads no resources.")
    faults = (each for each in resources.items if (each.error or (each.status or 0) >= 400) and not each.may_fail)
    failed = {each.url: each for each in faults}.values()
    faulty = [each for each in failed if not each.may_exist]
    unknown = len(failed) - len(faulty)
    refused = [each for each in faulty if each.status in REFUSALS]
    unused = [each for each in faulty if each not in refused and not each.eager]
    broken = [each for each in faulty if each not in refused and each.eager]
    left_out = f" ({resources.left_out:,} more were not requested)" if resources.left_out else ""
    asked = len(resources.items)
    unjudged = f" {counted(unknown, 'resource')} could not be checked: {NO_OUTSIDE_NAMES}." if unknown else ""
    if broken or unused:
        evidence = [_resource_evidence(each) for each in (broken + unused)]
        shown = some([_failure(each) for each in broken or unused])
        if broken:
            severity = MEDIUM if all(map(_is_decoration, broken)) else None
            return Fail(
                f"{part(len(broken), asked, 'resource')}{left_out} failed to load: {shown}.{unjudged}",
                severity,
                evidence,
            )
        return Warn(
            f"{part(len(unused), asked, 'resource')}{left_out} failed to load, though perhaps no visit needs "
            f"{agreeing(len(unused), 'it', 'them')}: {shown}.{unjudged}",
            LOW,
            evidence,
        )
    if refused:
        return Warn(
            f"{part(len(refused), asked, 'resource')}{left_out} {agreeing(len(refused), 'was', 'were')} refused to the "
            f"scanner, and perhaps to visitors: {some([_failure(each) for each in refused])}.{unjudged}",
            LOW,
            [_resource_evidence(each) for each in refused],
            fix="Check in a browser whether the files load; if they do, the server only blocks bots, and nothing is "
            "wrong.",
            title="Resources were refused to the scanner",
        )
    if unknown and len({each.url for each in resources.items}) == unknown:
        return NotApplicable(f"All resources are on other sites, and {NO_OUTSIDE_NAMES}.")
    return Pass(
        f"All other resources loaded.{unjudged}"
        if unknown
        else f"Loaded without a failure: {counted(asked, 'resource')}{left_out}."
    )


@check(
    "dom-size",
    name="DOM size",
    found="Large DOM",
    why="Large documents take more memory, and each change of style or layout takes longer.",
    judged=by_steps(f"{ELEMENTS_GOOD:,} elements", f"{ELEMENTS_POOR:,}"),
    severity=MEDIUM,
    fix="Remove wrappers that only add styling, load long lists in parts, and create hidden panels when they open.",
    references=("Lighthouse: dom-size",),
)
def dom_size(size: DomSize) -> Finding:
    return by_limits(
        size.elements,
        ELEMENTS_GOOD,
        ELEMENTS_POOR,
        f"The document has {size.elements:,} {'element' if size.elements == 1 else 'elements'}",
        f"up to {ELEMENTS_GOOD:,} is good",
    )


@check(
    "dom-depth",
    name="DOM depth",
    found="Deeply nested DOM",
    why="Deep nesting makes each calculation of styles and layout slower.",
    judged=by_steps(f"{DEPTH_GOOD} levels", DEPTH_POOR),
    severity=LOW,
    fix="Remove elements that only wrap others: with grid and flexbox, most of them are unnecessary.",
    references=("Lighthouse: dom-size",),
)
def dom_depth(size: DomSize) -> Finding:
    return by_limits(
        size.depth,
        DEPTH_GOOD,
        DEPTH_POOR,
        f"Elements are nested {counted(size.depth, 'level')} deep below the body ({size.deepest})",
        f"up to {DEPTH_GOOD} is good",
    )


@check(
    "bfcache-blocked",
    name="Back/forward cache is not prevented",
    found="Back/forward cache is prevented",
    why="Going back reloads the page instead of showing it instantly.",
    severity=LOW,
    fix="Replace unload with pagehide, and send Cache-Control: no-cache (or private) instead of no-store.",
    references=("web.dev: back/forward cache", "Lighthouse: bf-cache"),
)
def bfcache_blocked(page: Page, document: Document) -> Finding:
    reasons = []
    directives = {each.split("=")[0].strip().lower() for each in (page.headers.get("Cache-Control") or "").split(",")}
    # no-store is right for a page of a logged-in user.
    if "no-store" in directives and not page.is_keyed:
        reasons.append("Cache-Control: no-store")
    body = document.tree.body
    if body is not None and attribute(body, "onunload") is not None:
        reasons.append("<body onunload>")
    if any(attribute(node, "src") is None and UNLOAD.search(node.text() or "") for node in live(document, "script")):
        reasons.append("an unload handler in a script of the page")
    if reasons:
        return Warn(f"The page prevents the back/forward cache with {some(reasons)}.")
    return Pass("Nothing in the document prevents the back/forward cache.")


def _is_decoration(resource: Resource) -> bool:
    """Return True for an image of a style sheet: without it the page looks different, but says the same."""
    return resource.kind is ResourceKind.IMAGE and resource.depth > 1


def _failure(resource: Resource) -> str:
    return f"{excerpt(resource.url, 100)} ({resource.error.rstrip('.') if resource.error else resource.status})"


def _resource_evidence(resource: Resource) -> EvidenceItem:
    return {
        "url": excerpt(resource.url),
        "kind": resource.kind.value,
        "status": resource.status,
        "error": resource.error or None,
        "loaded_with_the_page": resource.eager,
    }
