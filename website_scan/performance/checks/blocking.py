"""Checks for scripts and style sheets that delay the first paint."""

from __future__ import annotations

from typing import Annotated, ClassVar

from website_scan.addresses import normal_address
from website_scan.catalogue import Category, check
from website_scan.findings import HIGH, LOW, MEDIUM
from website_scan.messages import KIB, counted, cut, document_thresholds, excerpt, size
from website_scan.outcomes import Fail, Pass, Verdict, Warn, judge_by_limits, outcome
from website_scan.page.evidence import Document, Page
from website_scan.page.registrable_domain import is_same_site
from website_scan.performance.evidence import Resources, Styles
from website_scan.performance.places import LoadedFile
from website_scan.performance.render_blocking import (
    blocking_scripts,
    blocking_sheets,
    count_unconditional_writes,
    synchronous_scripts,
)
from website_scan.places import Column, Identity, Place, Resource, as_prose
from website_scan.urls import host_of
from website_scan.values import Bytes, Count, Excerpt, Value, Values, Word

CATEGORY = Category("Render blocking", weight=10, html=True, content=True)

GOOD_SCRIPT_COUNT, POOR_SCRIPT_COUNT = 0, 2
# With HTTP/1.1, browsers load up to six small files concurrently.
PARALLEL_SHEETS, POOR_SHEET_COUNT = 6, 3
# A server may send ten packets before the first acknowledgement (RFC 6928).
INITIAL_WINDOW_BYTES = 14_500
GOOD_HOST_COUNT, POOR_HOST_COUNT = 0, 1
GOOD_WRITE_CALLS, POOR_WRITE_CALLS = 0, 2
# Limit for the total text of scripts that are searched for document.write.
MAX_SCRIPT_CHARACTERS = 1024 * KIB


class ImportedSheet(Place, frozen=True):
    """Style sheet that another style sheet imports."""

    kind: ClassVar[str] = "imported-sheet"

    style_sheet: Annotated[str, Identity(normal_address), Column("Style sheet", "address")]
    imports: Annotated[str, Identity(normal_address), Column("Imports", "address")]

    @property
    def label(self) -> str:
        return f"{cut(self.imports, 75)} by {cut(self.style_sheet, 75)}"


class WritingScript(Place, frozen=True):
    """Script that calls `document.write()` while the document is parsed."""

    kind: ClassVar[str] = "writing-script"

    script: Annotated[str, Identity(as_prose), Column("Script", "address")]
    calls: Annotated[int, Column("Calls", "number")]

    @property
    def label(self) -> str:
        return f"{self.script} ({counted(self.calls, 'call')})"


@check(
    "blocking-scripts",
    name="No render-blocking scripts",
    outcomes={"synchronous": outcome("Render-blocking scripts", HIGH, MEDIUM, LOW)},
    why="Browsers show nothing until these scripts have been loaded and run.",
    consequence="Visitors look at an empty screen for longer than necessary, and may leave.",
    judged=document_thresholds(GOOD_SCRIPT_COUNT, POOR_SCRIPT_COUNT)
    + f" Milder if they weigh up to {size(INITIAL_WINDOW_BYTES)} in all.",
    severity=HIGH,
    fix='Add `defer` (or `async`, or `type="module"`) to scripts in the head, or move them to the end of the body.',
    references=("Lighthouse: render-blocking-resources", "HTML, the script element"),
)
def blocking_scripts_in_head(document: Document, resources: Resources) -> Verdict:
    urls = blocking_scripts(document)
    if not urls:
        return Pass("No script in the head blocks rendering.")
    weight_template, weight = _describe_weight(urls, resources)
    fits_into_one_round_trip = _fit_into_one_round_trip(urls, resources)
    has_many_scripts = len(urls) > POOR_SCRIPT_COUNT
    kind = Fail if has_many_scripts else Warn
    small = MEDIUM if has_many_scripts else LOW
    return kind(
        "synchronous",
        f"{{scripts}} in the head ({weight_template}) {{scripts:has|have}} neither async nor defer.",
        severity=small if fits_into_one_round_trip else None,
        places=_make_places(urls, resources),
        scripts=Count(len(urls), "script"),
        weight=weight,
    )


@check(
    "blocking-css",
    name="Little render-blocking CSS",
    outcomes={"too-much": "Too much render-blocking CSS"},
    why="Browsers show nothing until these style sheets have arrived.",
    judged=f"Passes with up to {PARALLEL_SHEETS} style sheets of {size(INITIAL_WINDOW_BYTES)} in all. Else warns up to "
    f"{POOR_SHEET_COUNT}, fails above that.",
    severity=MEDIUM,
    fix="Join the style sheets into one, inline what the first screen needs, and load the rest later.",
    references=("Lighthouse: render-blocking-resources", "RFC 6928"),
)
def blocking_css(document: Document, resources: Resources) -> Verdict:
    urls = blocking_sheets(document)
    if not urls:
        return Pass("No style sheet in the head blocks rendering.")
    weight_template, weight = _describe_weight(urls, resources)
    summary = f"The page waits for {{sheets}} in the head ({weight_template})"
    sheets = Count(len(urls), "style sheet")
    places = _make_places(urls, resources)
    if len(urls) <= PARALLEL_SHEETS and _fit_into_one_round_trip(urls, resources):
        return Pass(f"{summary}.", details=places, sheets=sheets, weight=weight)
    kind = Warn if len(urls) <= POOR_SHEET_COUNT else Fail
    limit = f"up to {PARALLEL_SHEETS} with {INITIAL_WINDOW_BYTES / 1000:g} kB in all are good"
    summary = f"The page waits for {{sheets}} in the head ({weight_template}; {limit})."
    return kind("too-much", summary, places=places, sheets=sheets, weight=weight)


@check(
    "css-import",
    name="No @import in style sheets",
    outcomes={"imported": "Style sheets use @import"},
    why="Browsers discover an imported style sheet only when the one that imports it has arrived.",
    severity=MEDIUM,
    fix="Replace `@import` with a `<link>` for each style sheet, or bundle the style sheets.",
    references=("CSS Cascade 4, section 2", "MDN: @import"),
)
def css_import(styles: Styles) -> Verdict:
    if not styles.imports:
        return Pass("No style sheet uses @import.")
    return Warn(
        "imported",
        "{sheets} {sheets:is imported by another one|are imported by others}.",
        sheets=Count(len(styles.imports), "style sheet"),
        places=[
            ImportedSheet(excerpt(style_import.sheet), excerpt(style_import.address)) for style_import in styles.imports
        ],
    )


@check(
    "third-party-spof",
    name="No third-party single point of failure",
    outcomes={"other-site": "Third-party single point of failure"},
    why="While such a site does not answer, the page stays blank.",
    judged=document_thresholds(GOOD_HOST_COUNT, POOR_HOST_COUNT),
    severity=MEDIUM,
    fix="Serve what the page waits for from your own site, or load it with `async`, so that another site's outage "
    "leaves no blank page.",
    references=("web.dev: third-party JavaScript",),
)
def third_party_spof(page: Page, document: Document) -> Verdict:
    urls = {url: host_of(url) for url in blocking_scripts(document) + blocking_sheets(document)}
    foreign = {url: host for url, host in urls.items() if not is_same_site(host, page.target.host)}
    if not foreign:
        return Pass("No render-blocking file comes from another site.")
    hosts = list(dict.fromkeys(foreign.values()))
    return judge_by_limits(
        "other-site",
        "Render-blocking files come from {domains} of {domains:another site|other sites} ({hosts})",
        len(hosts),
        (GOOD_HOST_COUNT, POOR_HOST_COUNT),
        places=[Resource(excerpt(url)) for url in foreign],
        domains=Count(len(hosts), "domain"),
        hosts=Values([Excerpt(host) for host in hosts]),
    )


@check(
    "document-write",
    name="No document.write()",
    outcomes={"called": "document.write() is used"},
    why="Such calls block the parser, and on slow connections browsers may ignore them.",
    judged=document_thresholds(GOOD_WRITE_CALLS, POOR_WRITE_CALLS)
    + " Calls count that run whenever the page is parsed.",
    severity=LOW,
    fix="Add elements with `append()` or `insertAdjacentHTML()`, and scripts with `async`.",
    references=("Lighthouse: no-document-write", "HTML, document.write()", "MDN: document.write()"),
)
def document_write(document: Document, resources: Resources) -> Verdict:
    bodies = {
        resource.url: resource.body for resource in resources.items if resource.status == 200 and resource.is_fetched
    }
    scripts: list[WritingScript] = []
    seen_urls: set[str] = set()
    remaining = MAX_SCRIPT_CHARACTERS
    for url, source in synchronous_scripts(document):
        if url in seen_urls or remaining <= 0:
            continue
        if url:
            seen_urls.add(url)
        script = bodies.get(url, b"")[:remaining].decode("latin-1") if url else source[:remaining]
        if "document.write" not in script:
            continue
        remaining -= len(script)
        if count := count_unconditional_writes(script):
            scripts.append(WritingScript(excerpt(url, 80) if url else "a script in the document", count))
    if not scripts:
        return Pass("No script was seen that calls document.write() while the document is parsed.")
    total = sum(script.calls for script in scripts)
    return judge_by_limits(
        "called",
        "{calls} of document.write() {calls:runs|run} while the document is parsed",
        total,
        (GOOD_WRITE_CALLS, POOR_WRITE_CALLS),
        places=scripts,
        calls=Count(total, "call"),
    )


def _fit_into_one_round_trip(urls: tuple[str, ...], resources: Resources) -> bool:
    """Return True if all files fit into one round trip.

    The sizes of all files must be known.
    """
    sizes = _sizes_by_url(urls, resources)
    return len(sizes) == len(urls) and sum(sizes.values()) <= INITIAL_WINDOW_BYTES


def _describe_weight(urls: tuple[str, ...], resources: Resources) -> tuple[str, Value]:
    """Return a message template for the total size of the files.

    Its value is `weight`.
    """
    sizes = _sizes_by_url(urls, resources)
    if not sizes:
        return "{weight}", Word("size unknown")
    return "{weight}" if len(sizes) == len(urls) else "at least {weight}", Bytes(sum(sizes.values()))


def _sizes_by_url(urls: tuple[str, ...], resources: Resources) -> dict[str, int]:
    return {
        resource.url: resource.wire_bytes
        for resource in resources.items
        if resource.url in urls and resource.status is not None
    }


def _make_places(urls: tuple[str, ...], resources: Resources) -> list[LoadedFile]:
    sizes = {resource.url: resource.wire_bytes for resource in resources.items}
    return [LoadedFile(excerpt(url), wire_bytes=sizes.get(url)) for url in urls]
