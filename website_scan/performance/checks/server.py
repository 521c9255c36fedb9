"""Checks of time to first byte, redirects, failed resources and DOM size."""

from __future__ import annotations

import re
import statistics
from typing import Annotated, ClassVar, Self, TypedDict

from website_scan.catalogue import Category, States, check
from website_scan.findings import HIGH, LOW, MEDIUM, NotApplicable
from website_scan.messages import cut, document_thresholds, excerpt
from website_scan.outcomes import Fail, Pass, Verdict, Warn, judge_by_limits, outcome
from website_scan.page.evidence import Document, Page
from website_scan.page.markup import attribute, live
from website_scan.page.references import ResourceKind
from website_scan.page.registrable_domain import is_same_site
from website_scan.performance.evidence import DomSize, Resource, Resources, Timing
from website_scan.performance.places import ResourceType
from website_scan.places import Column, Place, PlaceUrl, RedirectHop, Status
from website_scan.values import Address, Code, Count, Milliseconds, Share, Values, Word

CATEGORY = Category("Server and document", weight=7, html=True)

OUTSIDE_NAMES_UNRESOLVED = "the scanner's name servers cannot resolve other sites"
TTFB_GOOD_MS, TTFB_POOR_MS = 600, 1_800
GOOD_DOM_ELEMENTS, POOR_DOM_ELEMENTS = 1_500, 3_000
GOOD_DOM_DEPTH, POOR_DOM_DEPTH = 15, 25
# HTTP statuses that servers send to block bots, but not visitors.
REFUSALS = frozenset({401, 403, 429, 451, 999})
# Code that sets an unload handler, but not a beforeunload handler.
UNLOAD = re.compile(
    r"""(?<![\w$])onunload\s*=(?!=)|addEventListener\(\s*["'`]unload["'`]|\.(?:on|bind)\(\s*["'`]unload["'`]"""
)


class Attempt(Place, frozen=True):
    """One of several attempts to load the document, with its time to first byte."""

    kind: ClassVar[str] = "attempt"

    attempt: Annotated[int, Column("Try", "number")]
    ttfb_ms: Annotated[int, Column("Time to first byte", "number", "ms")]


class FailedResource(Place, frozen=True):
    """Resource that failed to load, with an error status or without a response."""

    kind: ClassVar[str] = "failed-resource"

    url: PlaceUrl
    type: ResourceType
    status: Status
    error: Annotated[str | None, Column("Error")]
    loaded_with_the_page: Annotated[bool, Column("Loaded with the page", "short")]

    @classmethod
    def from_resource(cls, resource: Resource) -> Self:
        error = resource.error or None
        return cls(excerpt(resource.url), resource.kind.value, resource.status, error, resource.eager)

    @property
    def label(self) -> str:
        reason = self.error.rstrip(".") if self.error else self.status
        return f"{cut(self.url, 100)} ({reason}{'' if self.loaded_with_the_page else ', perhaps unused'})"


class _FurtherCounts(TypedDict, total=False):
    left_out: Count
    unknown: Count
    unused: Count


@check(
    "ttfb",
    name="Time to first byte",
    outcomes={"slow": "Slow time to first byte"},
    why="Nothing else can start before the first byte of the document has arrived.",
    consequence="Your server takes a long time to answer, so visitors wait before anything appears.",
    judged=document_thresholds(f"{TTFB_GOOD_MS} ms", f"{TTFB_POOR_MS:,} ms"),
    severity=HIGH,
    fix="Answer from a cache (a page cache, or a CDN near the visitor), and look for slow database queries.",
    references=("Lighthouse: server-response-time", "web.dev: Time to First Byte"),
    html=False,
)
def ttfb(timing: Timing) -> Verdict:
    milliseconds = [round(1000 * seconds) for seconds in timing.ttfb_s]
    median = round(statistics.median(milliseconds))
    return judge_by_limits(
        "slow",
        f"The server starts to respond after {{ttfb}} ({'median of ' if len(milliseconds) > 1 else ''}{{tries}})",
        median,
        (TTFB_GOOD_MS, TTFB_POOR_MS),
        limit=Milliseconds(TTFB_GOOD_MS),
        ttfb=Milliseconds(median),
        tries=Count(len(milliseconds), "try", "tries"),
        details=[Attempt(number, millisecond) for number, millisecond in enumerate(milliseconds, 1)],
    )


@check(
    "doc-redirects",
    name="No redirects before the document",
    outcomes={"redirected": "Redirects before the document"},
    why="Each redirect costs a round trip before the page starts to load.",
    severity=MEDIUM,
    fix="Link to the final URL everywhere, and redirect to it in one step.",
    references=("Lighthouse: redirects",),
    html=False,
    states=States.NONE,
)
def doc_redirects(page: Page) -> Verdict:
    count = len(page.hops) - 1
    if count == 0:
        return Pass("The document loads without a redirect.", details=_redirect_hops(page))
    is_single_internal_redirect = count == 1 and is_same_site(page.requested.host, page.target.host)
    kind = Warn if is_single_internal_redirect else Fail
    return kind(
        "redirected",
        "{redirects} {redirects:comes|come} before the document: to {urls}.",
        redirects=Count(count, "redirect"),
        urls=Values([Address(hop.url, 80) for hop in page.hops[1:]]),
        details=_redirect_hops(page),
    )


@check(
    "broken-resources",
    name="No broken resources",
    outcomes={
        "failed": outcome("Resources failed to load", HIGH, MEDIUM),
        "perhaps-unused": outcome("Resources failed to load", LOW),
        "refused": outcome("Resources were refused to the scanner", LOW),
    },
    why="Visitors may miss styles, scripts or images of the page.",
    consequence="Visitors may miss pictures or functions, because some files of the page do not load.",
    judged="Medium if only images of style sheets are missing.",
    severity=HIGH,
    fix="Correct the URLs, or remove references to files that no longer exist.",
    references=("HTML, fetching resources",),
)
def broken_resources(resources: Resources) -> Verdict:
    if not resources.items:
        return NotApplicable("The page loads no resources.")
    faults = (
        resource
        for resource in resources.items
        if (resource.error or (resource.status or 0) >= 400) and not resource.may_fail
    )
    failed = {resource.url: resource for resource in faults}.values()
    faulty = [resource for resource in failed if not resource.may_exist]
    unknown = len(failed) - len(faulty)
    refused = [resource for resource in faulty if resource.status in REFUSALS]
    unused = [resource for resource in faulty if resource not in refused and not resource.eager]
    broken = [resource for resource in faulty if resource not in refused and resource.eager]
    total = len(resources.items)
    further: _FurtherCounts = {}
    notes = []
    if resources.left_out:
        notes.append("{left_out} more {left_out:was|were} not requested")
        further["left_out"] = Count(resources.left_out)
    if unknown:
        notes.append(f"{{unknown}} could not be checked, because {OUTSIDE_NAMES_UNRESOLVED}")
        further["unknown"] = Count(unknown, "resource")
    note = f" ({'; '.join(notes)})" if notes else ""
    if broken:
        also = ""
        if unused:
            also = ", and {unused} that visitors may never need"
            further["unused"] = Count(len(unused))
        return Fail(
            "failed",
            f"{{failed}} failed to load{also}{note}.",
            severity=MEDIUM if all(map(_is_background_image, broken)) else HIGH,
            places=[FailedResource.from_resource(resource) for resource in broken + unused],
            failed=Share(len(broken), total, "resource"),
            **further,
        )
    if unused:
        return Warn(
            "perhaps-unused",
            f"{{failed}} failed to load, though visitors may never need {{failed:it|them}}{note}.",
            places=[FailedResource.from_resource(resource) for resource in unused],
            failed=Share(len(unused), total, "resource"),
            **further,
        )
    if refused:
        return Warn(
            "refused",
            f"{{refused}} {{refused:was|were}} refused to the scanner, and perhaps to visitors{note}.",
            places=[FailedResource.from_resource(resource) for resource in refused],
            fix="Check in a browser whether the files load; if they do, the server only blocks bots, and nothing is "
            "wrong.",
            refused=Share(len(refused), total, "resource"),
            **further,
        )
    if not unknown:
        return Pass(f"{{loaded}} loaded without a failure{note}.", loaded=Count(total, "resource"), **further)
    if len({resource.url for resource in resources.items}) == unknown:
        return NotApplicable(f"All resources are on other sites, and {OUTSIDE_NAMES_UNRESOLVED}.")
    return Pass(f"All other resources loaded{note}.", **further)


@check(
    "dom-size",
    name="DOM size",
    outcomes={"large": "Large DOM"},
    why="Large documents take more memory, and each change of style or layout takes longer.",
    judged=document_thresholds(f"{GOOD_DOM_ELEMENTS:,} elements", f"{POOR_DOM_ELEMENTS:,}"),
    severity=MEDIUM,
    fix="Remove wrappers that only add styling, load long lists in parts, and create hidden panels when they open.",
    references=("Lighthouse: dom-size",),
)
def dom_size(size: DomSize) -> Verdict:
    return judge_by_limits(
        "large",
        "The document has {elements}",
        size.elements,
        (GOOD_DOM_ELEMENTS, POOR_DOM_ELEMENTS),
        limit=Count(GOOD_DOM_ELEMENTS),
        elements=Count(size.elements, "element"),
    )


@check(
    "dom-depth",
    name="DOM depth",
    outcomes={"deep": "Deeply nested DOM"},
    why="Deep nesting makes each calculation of styles and layout slower.",
    judged=document_thresholds(f"{GOOD_DOM_DEPTH} levels", POOR_DOM_DEPTH),
    severity=LOW,
    fix="Remove elements that only wrap others: with grid and flexbox, most of them are unnecessary.",
    references=("Lighthouse: dom-size",),
)
def dom_depth(size: DomSize) -> Verdict:
    return judge_by_limits(
        "deep",
        "Elements are nested {levels} deep below the body ({path})",
        size.depth,
        (GOOD_DOM_DEPTH, POOR_DOM_DEPTH),
        limit=Count(GOOD_DOM_DEPTH),
        levels=Count(size.depth, "level"),
        path=Code(size.deepest),
    )


@check(
    "bfcache-blocked",
    name="Back/forward cache is not prevented",
    outcomes={"prevented": "Back/forward cache is prevented"},
    why="Going back reloads the page instead of showing it instantly.",
    severity=LOW,
    fix="Replace `unload` with `pagehide`, and send `Cache-Control: no-cache` (or `private`) instead of `no-store`.",
    references=("web.dev: back/forward cache", "Lighthouse: bf-cache"),
)
def bfcache_blocked(page: Page, document: Document) -> Verdict:
    reasons = []
    directives = {
        directive.split("=")[0].strip().lower() for directive in (page.headers.get("Cache-Control") or "").split(",")
    }
    # no-store is right on pages of logged-in users.
    if "no-store" in directives and not page.has_credentials:
        reasons.append("Cache-Control: no-store")
    body = document.tree.body
    if body is not None and attribute(body, "onunload") is not None:
        reasons.append("<body onunload>")
    if any(attribute(node, "src") is None and UNLOAD.search(node.text() or "") for node in live(document, "script")):
        reasons.append("an unload handler in a script of the page")
    if reasons:
        listed = Values([Word(reason) for reason in reasons], " and ")
        return Warn("prevented", "The page prevents the back/forward cache with {reasons}.", reasons=listed)
    return Pass("Nothing in the document prevents the back/forward cache.")


def _is_background_image(resource: Resource) -> bool:
    """Return True if a style sheet loads the image.

    The image is decoration, not content.
    """
    return resource.kind is ResourceKind.IMAGE and resource.depth > 1


def _redirect_hops(page: Page) -> list[RedirectHop]:
    return [RedirectHop(number, excerpt(hop.url), hop.status) for number, hop in enumerate(page.hops, 1)]
