"""Checks of render blocking: scripts and style sheets that the first paint waits for."""

from __future__ import annotations

from website_scan.catalogue import Category, check
from website_scan.findings import HIGH, LOW, MEDIUM, EvidenceItem, Fail, Finding, Pass, Warn, by_limits
from website_scan.messages import KIB, agreeing, by_steps, counted, excerpt, size, some
from website_scan.page.evidence import Document, Page
from website_scan.page.registrable_domain import is_same_site
from website_scan.performance.evidence import Resources, Styles
from website_scan.performance.render_blocking import (
    blocking_scripts,
    blocking_sheets,
    synchronous_scripts,
    written_at_once,
)
from website_scan.urls import host_of

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


@check(
    "blocking-scripts",
    name="No render-blocking scripts",
    found="Render-blocking scripts",
    why="Browsers show nothing until these scripts have been loaded and run.",
    judged=by_steps(SCRIPTS_GOOD, SCRIPTS_POOR) + f" Milder if they weigh up to {size(FIRST_BYTES)} in all.",
    severity=HIGH,
    fix='Add defer (or async, or type="module") to scripts in the head, or move them to the end of the body.',
    references=("Lighthouse: render-blocking-resources", "HTML, the script element"),
)
def blocking_scripts_in_head(document: Document, resources: Resources) -> Finding:
    found = blocking_scripts(document)
    if not found:
        return Pass("No script in the head blocks rendering.")
    have = agreeing(len(found), "has", "have")
    message = f"{counted(len(found), 'script')} in the head {have} neither async nor defer{_size(found, resources)}"
    text = f"{message}: {_shown(found)}."
    evidence = _evidence(found, resources)
    is_small = _come_at_once(found, resources)
    if len(found) > SCRIPTS_POOR:
        return Fail(text, MEDIUM if is_small else None, evidence)
    return Warn(text, LOW if is_small else None, evidence)


@check(
    "blocking-css",
    name="Little render-blocking CSS",
    found="Too much render-blocking CSS",
    why="Browsers show nothing until these style sheets have arrived.",
    judged=f"Passes with up to {SHEETS_AT_ONCE} style sheets of {size(FIRST_BYTES)} in all. Else warns up to "
    f"{SHEETS_POOR}, fails above that.",
    severity=MEDIUM,
    fix="Join the style sheets into one, inline what the first screen needs, and load the rest later.",
    references=("Lighthouse: render-blocking-resources", "RFC 6928"),
)
def blocking_css(document: Document, resources: Resources) -> Finding:
    found = blocking_sheets(document)
    if not found:
        return Pass("No style sheet in the head blocks rendering.")
    message = f"The page waits for {counted(len(found), 'style sheet')} in the head{_size(found, resources)}"
    evidence = _evidence(found, resources)
    if len(found) <= SHEETS_AT_ONCE and _come_at_once(found, resources):
        return Pass(f"{message}.", evidence)
    text = f"{message}: {_shown(found)}; up to {FIRST_BYTES / 1000:g} kB in all is good."
    return Warn(text, evidence=evidence) if len(found) <= SHEETS_POOR else Fail(text, evidence=evidence)


@check(
    "css-import",
    name="No @import in style sheets",
    found="Style sheets use @import",
    why="Browsers discover an imported style sheet only when the one that imports it has arrived.",
    severity=MEDIUM,
    fix="Replace @import by a <link> for each style sheet, or bundle the style sheets.",
    references=("CSS Cascade 4, section 2", "MDN: @import"),
)
def css_import(styles: Styles) -> Finding:
    if not styles.imports:
        return Pass("No style sheet uses @import.")
    shown = some([f"{excerpt(each.address, 80)} by {excerpt(each.sheet, 80)}" for each in styles.imports])
    return Warn(
        f"{counted(len(styles.imports), 'style sheet is', 'style sheets are')} imported by others: {shown}.",
        evidence=[{"style_sheet": excerpt(each.sheet), "imports": excerpt(each.address)} for each in styles.imports],
    )


@check(
    "third-party-spof",
    name="No third-party single point of failure",
    found="Third-party single point of failure",
    why="While such a site does not answer, the page stays blank.",
    judged=by_steps(HOSTS_GOOD, HOSTS_POOR),
    severity=MEDIUM,
    fix="Serve what the page waits for from your own site, or load it with async, so that another site's outage "
    "leaves no blank page.",
    references=("web.dev: third-party JavaScript",),
)
def third_party_spof(page: Page, document: Document) -> Finding:
    urls = {url: host_of(url) for url in blocking_scripts(document) + blocking_sheets(document)}
    foreign = {url: host for url, host in urls.items() if not is_same_site(host, page.target.host)}
    if not foreign:
        return Pass("No render-blocking file comes from another site.")
    hosts = list(dict.fromkeys(foreign.values()))
    return by_limits(
        len(hosts),
        HOSTS_GOOD,
        HOSTS_POOR,
        f"Render-blocking files come from {counted(len(hosts), 'domain')} of other sites: {some(hosts)}",
        evidence=[{"url": excerpt(url)} for url in foreign],
    )


@check(
    "document-write",
    name="No document.write()",
    found="document.write() is used",
    why="Such calls block the parser, and on slow connections browsers may ignore them.",
    judged=by_steps(WRITES_GOOD, WRITES_POOR) + " Calls count that run whenever the page is parsed.",
    severity=LOW,
    fix="Add elements with append() or insertAdjacentHTML(), and scripts with async.",
    references=("Lighthouse: no-document-write", "HTML, document.write()", "MDN: document.write()"),
)
def document_write(document: Document, resources: Resources) -> Finding:
    bodies = {each.url: each.body for each in resources.items if each.status == 200 and each.is_fetched}
    found: list[tuple[str, int]] = []
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
        if count := written_at_once(script):
            found.append((excerpt(url, 80) if url else "a script in the document", count))
    total = sum(count for _, count in found)
    if not found:
        return Pass("No script was seen that calls document.write() while the document is parsed.")
    return by_limits(
        total,
        WRITES_GOOD,
        WRITES_POOR,
        f"document.write() is called {agreeing(total, 'once', f'{total:,} times')} while the document is parsed: "
        f"{some([f'{place} ({count})' for place, count in found])}",
        evidence=[{"script": place, "calls": count} for place, count in found],
    )


def _come_at_once(urls: tuple[str, ...], resources: Resources) -> bool:
    """Return True if all files are known and fit into the first packets together, so that they cost one round trip."""
    sizes = _sizes(urls, resources)
    return len(sizes) == len(urls) and sum(sizes.values()) <= FIRST_BYTES


def _size(urls: tuple[str, ...], resources: Resources) -> str:
    """Return what is known of the size, as the end of a clause; empty if it is nothing."""
    sizes = _sizes(urls, resources)
    return f", {'' if len(sizes) == len(urls) else 'at least '}{size(sum(sizes.values()))}" if sizes else ""


def _sizes(urls: tuple[str, ...], resources: Resources) -> dict[str, int]:
    return {each.url: each.wire_bytes for each in resources.items if each.url in urls and each.status is not None}


def _shown(urls: tuple[str, ...]) -> str:
    return some([excerpt(url, 80) for url in urls])


def _evidence(urls: tuple[str, ...], resources: Resources) -> list[EvidenceItem]:
    sizes = {each.url: each.wire_bytes for each in resources.items}
    return [{"url": excerpt(url), "wire_bytes": sizes.get(url)} for url in urls]
