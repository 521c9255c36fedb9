"""Render blocking: what browsers wait for before they show anything."""

from __future__ import annotations

from urllib.parse import urlsplit

from scans.engine.catalogue import Category, check
from scans.engine.findings import HIGH, LOW, MEDIUM, EvidenceItem, Fail, Finding, NotApplicable, Pass, Warn, by_limits
from scans.engine.messages import counted, excerpt, some
from scans.engine.page.evidence import Document, Page
from scans.engine.page.registrable_domain import is_same_site
from scans.engine.performance.evidence import Resources, Styles
from scans.engine.performance.render_blocking import (
    blocking_scripts,
    blocking_sheets,
    synchronous_scripts,
    written_at_once,
)

CATEGORY = Category("Render blocking", weight=10)

NOT_HTML = NotApplicable("The page is not HTML.")
EVIDENCE_ITEMS = 20
KB = 1000
SCRIPTS_GOOD, SCRIPTS_POOR = 0, 2
SHEETS_GOOD, SHEETS_POOR = 1, 3
# What ten packets carry, all that a server may send before it has an answer (RFC 6928).
SHEET_BYTES = 14_500
HOSTS_GOOD, HOSTS_POOR = 0, 1
WRITES_GOOD, WRITES_POOR = 0, 2
# Of all scripts together that mention document.write.
READ_CHARACTERS = 1024 * 1024


@check(
    "blocking-scripts",
    name="No blocking scripts in the head",
    severity=HIGH,
    fix='Add defer (or async, or type="module") to scripts in the head, or move them to the end of the body.',
    references=("Lighthouse: render-blocking-resources", "HTML, the script element"),
)
def blocking_scripts_in_head(page: Page, document: Document, resources: Resources) -> Finding:
    if not page.is_html:
        return NOT_HTML
    found = blocking_scripts(document)
    if not found:
        return Pass("No script in the head keeps the page from being shown.")
    return by_limits(
        len(found),
        SCRIPTS_GOOD,
        SCRIPTS_POOR,
        f"{counted(len(found), 'script')} in the head without async or defer, {_size(found, resources)}: "
        f"{_shown(found)}",
        "nothing is shown before they have come and run",
        _evidence(found, resources),
    )


@check(
    "blocking-css",
    name="Few and small style sheets in the head",
    severity=MEDIUM,
    fix="Join the style sheets into one, put what the first screen needs into the document, and load the rest later.",
    references=("Lighthouse: render-blocking-resources", "RFC 6928"),
)
def blocking_css(page: Page, document: Document, resources: Resources) -> Finding:
    if not page.is_html:
        return NOT_HTML
    found = blocking_sheets(document)
    if not found:
        return Pass("No style sheet in the head keeps the page from being shown.")
    size = _bytes(found, resources)
    message = f"{counted(len(found), 'style sheet')} in the head, {_size(found, resources)}"
    evidence = _evidence(found, resources)
    if len(found) <= SHEETS_GOOD and size <= SHEET_BYTES:
        return Pass(f"{message}.", evidence)
    text = f"{message}, come before anything is shown: {_shown(found)}. One of up to {SHEET_BYTES / KB:g} kB is good."
    return Warn(text, evidence=evidence) if len(found) <= SHEETS_POOR else Fail(text, evidence=evidence)


@check(
    "css-import",
    name="No imports in style sheets",
    severity=MEDIUM,
    fix="Replace @import by a <link> for each style sheet, or join them when they are built.",
    references=("CSS Cascade 4, section 2", "sitespeed.io coach: cssImport"),
)
def css_import(page: Page, styles: Styles) -> Finding:
    if not page.is_html:
        return NOT_HTML
    if not styles.imports:
        return Pass("No style sheet imports another.")
    evidence = tuple[EvidenceItem, ...](
        {"style_sheet": excerpt(each.sheet), "imports": excerpt(each.address)}
        for each in styles.imports[:EVIDENCE_ITEMS]
    )
    shown = some([f"{excerpt(each.address, 80)} by {excerpt(each.sheet, 80)}" for each in styles.imports])
    return Warn(
        f"{counted(len(styles.imports), 'style sheet')} imported by others ({shown}): each is asked for only when the "
        "one before it has come.",
        evidence=evidence,
    )


@check(
    "third-party-spof",
    name="No other site can hold the page up",
    severity=MEDIUM,
    fix="Serve what the page waits for from your own site, or load it with async, so that another site's failure "
    "leaves no blank page.",
    references=("YellowLabTools: blockingFiles", "sitespeed.io coach: spof"),
)
def third_party_spof(page: Page, document: Document) -> Finding:
    if not page.is_html:
        return NOT_HTML
    urls = blocking_scripts(document) + blocking_sheets(document)
    hosts = dict.fromkeys(urlsplit(url).hostname or "" for url in urls)
    foreign = [host for host in hosts if not is_same_site(host, page.target.host)]
    if not foreign:
        return Pass("Nothing that the page waits for comes from another site.")
    return by_limits(
        len(foreign),
        HOSTS_GOOD,
        HOSTS_POOR,
        f"The page waits for {counted(len(foreign), 'domain')} of other sites: {some(foreign)}",
        "while one of them does not answer, visitors see nothing",
        tuple(
            {"url": excerpt(url)} for url in urls if not is_same_site(urlsplit(url).hostname or "", page.target.host)
        )[:EVIDENCE_ITEMS],
    )


@check(
    "document-write",
    name="No document.write",
    severity=LOW,
    fix="Add elements with append() or insertAdjacentHTML(), and scripts with async.",
    references=("Lighthouse: no-document-write", "HTML, document.write()"),
)
def document_write(page: Page, document: Document, resources: Resources) -> Finding:
    """Calls that run whenever the page is parsed; what a function or a condition may call is not counted."""
    if not page.is_html:
        return NOT_HTML
    bodies = {each.url: each.body for each in resources.items if each.status == 200 and each.is_fetched}
    found: list[tuple[str, int]] = []
    seen: set[str] = set()
    left = READ_CHARACTERS
    for url, source in synchronous_scripts(document):
        if url in seen or left <= 0:
            continue  # of a script that runs twice the faults are the same
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
        return Pass("No script was seen that writes into the document while it is parsed.")
    return by_limits(
        total,
        WRITES_GOOD,
        WRITES_POOR,
        f"{counted(total, 'call')} of document.write while the document is parsed: "
        f"{some([f'{place} ({count})' for place, count in found])}",
        "each holds the parser up, and on slow links browsers may refuse it",
        tuple({"script": place, "calls": count} for place, count in found[:EVIDENCE_ITEMS]),
    )


def _bytes(urls: tuple[str, ...], resources: Resources) -> int:
    sizes = {each.url: each.wire_bytes for each in resources.items}
    return sum(sizes.get(url, 0) for url in urls)


def _size(urls: tuple[str, ...], resources: Resources) -> str:
    known = {each.url for each in resources.items if each.status == 200}
    least = "" if known.issuperset(urls) else "at least "
    return f"{least}{_bytes(urls, resources) / KB:,.1f} kB"


def _shown(urls: tuple[str, ...]) -> str:
    return some([excerpt(url, 80) for url in urls])


def _evidence(urls: tuple[str, ...], resources: Resources) -> tuple[EvidenceItem, ...]:
    sizes = {each.url: each.wire_bytes for each in resources.items}
    return tuple({"url": excerpt(url), "wire_bytes": sizes.get(url)} for url in urls[:EVIDENCE_ITEMS])
