"""Checks of render blocking: scripts and style sheets that the first paint waits for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from website_scan.addresses import normal_address
from website_scan.catalogue import Category, check
from website_scan.findings import HIGH, LOW, MEDIUM
from website_scan.messages import KIB, by_steps, counted, cut, excerpt, size
from website_scan.outcomes import Fail, Pass, Verdict, Warn, by_limits, outcome
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

SCRIPTS_GOOD, SCRIPTS_POOR = 0, 2
# Small files come at once over as many connections as browsers open with HTTP/1.1.
SHEETS_AT_ONCE, SHEETS_POOR = 6, 3
# Content of ten packets: as much as a server may send before the first acknowledgement (RFC 6928).
FIRST_BYTES = 14_500
HOSTS_GOOD, HOSTS_POOR = 0, 1
WRITES_GOOD, WRITES_POOR = 0, 2
# Limit for all scripts together that contain document.write.
READ_CHARACTERS = 1024 * KIB


@dataclass(frozen=True, slots=True)
class ImportedSheet(Place):
    """Style sheet that another one imports."""

    kind: ClassVar[str] = "imported-sheet"

    style_sheet: Annotated[str, Identity(normal_address), Column("Style sheet", "address")]
    imports: Annotated[str, Identity(normal_address), Column("Imports", "address")]

    @property
    def label(self) -> str:
        return f"{cut(self.imports, 75)} by {cut(self.style_sheet, 75)}"


@dataclass(frozen=True, slots=True)
class WritingScript(Place):
    """Script that calls document.write() while the document is parsed."""

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
    judged=by_steps(SCRIPTS_GOOD, SCRIPTS_POOR) + f" Milder if they weigh up to {size(FIRST_BYTES)} in all.",
    severity=HIGH,
    fix='Add `defer` (or `async`, or `type="module"`) to scripts in the head, or move them to the end of the body.',
    references=("Lighthouse: render-blocking-resources", "HTML, the script element"),
)
def blocking_scripts_in_head(document: Document, resources: Resources) -> Verdict:
    found = blocking_scripts(document)
    if not found:
        return Pass("No script in the head blocks rendering.")
    size_known, weight = _weight(found, resources)
    is_small = _come_at_once(found, resources)
    is_many = len(found) > SCRIPTS_POOR
    kind = Fail if is_many else Warn
    small = MEDIUM if is_many else LOW
    return kind(
        "synchronous",
        f"{{scripts}} in the head ({size_known}) {{scripts:has|have}} neither async nor defer.",
        severity=small if is_small else None,
        places=_places(found, resources),
        scripts=Count(len(found), "script"),
        weight=weight,
    )


@check(
    "blocking-css",
    name="Little render-blocking CSS",
    outcomes={"too-much": "Too much render-blocking CSS"},
    why="Browsers show nothing until these style sheets have arrived.",
    judged=f"Passes with up to {SHEETS_AT_ONCE} style sheets of {size(FIRST_BYTES)} in all. Else warns up to "
    f"{SHEETS_POOR}, fails above that.",
    severity=MEDIUM,
    fix="Join the style sheets into one, inline what the first screen needs, and load the rest later.",
    references=("Lighthouse: render-blocking-resources", "RFC 6928"),
)
def blocking_css(document: Document, resources: Resources) -> Verdict:
    found = blocking_sheets(document)
    if not found:
        return Pass("No style sheet in the head blocks rendering.")
    size_known, weight = _weight(found, resources)
    summary = f"The page waits for {{sheets}} in the head ({size_known})"
    sheets = Count(len(found), "style sheet")
    places = _places(found, resources)
    if len(found) <= SHEETS_AT_ONCE and _come_at_once(found, resources):
        return Pass(f"{summary}.", details=places, sheets=sheets, weight=weight)
    kind = Warn if len(found) <= SHEETS_POOR else Fail
    limit = f"up to {SHEETS_AT_ONCE} with {FIRST_BYTES / 1000:g} kB in all are good"
    summary = f"The page waits for {{sheets}} in the head ({size_known}; {limit})."
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
        places=[ImportedSheet(excerpt(each.sheet), excerpt(each.address)) for each in styles.imports],
    )


@check(
    "third-party-spof",
    name="No third-party single point of failure",
    outcomes={"other-site": "Third-party single point of failure"},
    why="While such a site does not answer, the page stays blank.",
    judged=by_steps(HOSTS_GOOD, HOSTS_POOR),
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
    return by_limits(
        "other-site",
        "Render-blocking files come from {domains} of {domains:another site|other sites} ({hosts})",
        len(hosts),
        (HOSTS_GOOD, HOSTS_POOR),
        places=[Resource(excerpt(url)) for url in foreign],
        domains=Count(len(hosts), "domain"),
        hosts=Values([Excerpt(host) for host in hosts]),
    )


@check(
    "document-write",
    name="No document.write()",
    outcomes={"called": "document.write() is used"},
    why="Such calls block the parser, and on slow connections browsers may ignore them.",
    judged=by_steps(WRITES_GOOD, WRITES_POOR) + " Calls count that run whenever the page is parsed.",
    severity=LOW,
    fix="Add elements with `append()` or `insertAdjacentHTML()`, and scripts with `async`.",
    references=("Lighthouse: no-document-write", "HTML, document.write()", "MDN: document.write()"),
)
def document_write(document: Document, resources: Resources) -> Verdict:
    bodies = {each.url: each.body for each in resources.items if each.status == 200 and each.is_fetched}
    found: list[WritingScript] = []
    seen: set[str] = set()
    left = READ_CHARACTERS
    for url, source in synchronous_scripts(document):
        if url in seen or left <= 0:
            continue  # a script that runs twice has the same faults
        if url:
            seen.add(url)
        script = bodies.get(url, b"")[:left].decode("latin-1") if url else source[:left]
        if "document.write" not in script:
            continue
        left -= len(script)
        if count := count_unconditional_writes(script):
            found.append(WritingScript(excerpt(url, 80) if url else "a script in the document", count))
    if not found:
        return Pass("No script was seen that calls document.write() while the document is parsed.")
    total = sum(each.calls for each in found)
    return by_limits(
        "called",
        "{calls} of document.write() {calls:runs|run} while the document is parsed",
        total,
        (WRITES_GOOD, WRITES_POOR),
        places=found,
        calls=Count(total, "call"),
    )


def _come_at_once(urls: tuple[str, ...], resources: Resources) -> bool:
    """Return True if all files are known and fit into the first packets together, so that they cost one round trip."""
    sizes = _sizes(urls, resources)
    return len(sizes) == len(urls) and sum(sizes.values()) <= FIRST_BYTES


def _weight(urls: tuple[str, ...], resources: Resources) -> tuple[str, Value]:
    """Return a template for the size of the files, as far as it is known, and its value `weight`."""
    sizes = _sizes(urls, resources)
    if not sizes:
        return "{weight}", Word("size unknown")
    return "{weight}" if len(sizes) == len(urls) else "at least {weight}", Bytes(sum(sizes.values()))


def _sizes(urls: tuple[str, ...], resources: Resources) -> dict[str, int]:
    return {each.url: each.wire_bytes for each in resources.items if each.url in urls and each.status is not None}


def _places(urls: tuple[str, ...], resources: Resources) -> list[LoadedFile]:
    sizes = {each.url: each.wire_bytes for each in resources.items}
    return [LoadedFile(excerpt(url), wire_bytes=sizes.get(url)) for url in urls]
