"""Rendering: what only stands on the page once scripts have run. Search engines see it later, if at all."""

from __future__ import annotations

from scans.engine.accessibility.document import AccessibleDocument
from scans.engine.accessibility.names import shown_text
from scans.engine.browser.evidence import Rendered
from scans.engine.catalogue import Category, check
from scans.engine.findings import HIGH, MEDIUM, Fail, Finding, NotApplicable, Pass, Warn
from scans.engine.messages import excerpt
from scans.engine.page.evidence import Clock, Document, Page
from scans.engine.page.markup import attribute, enclosing, live
from scans.engine.seo.canonical import canonicals, named_url
from scans.engine.seo.checks.content import count_words
from scans.engine.seo.indexing import EVERYBODY, GOOGLE, exclusions, indexing_rules

CATEGORY = Category("Rendering", weight=5)

NOT_HTML = NotApplicable("The page is not HTML.")
JAVASCRIPT_SEO = "Google Search Central: JavaScript SEO basics"
FEW_WORDS = 50
# So much of the rendered text has to stand in the HTML itself.
LEAST_SHARE = 0.5
ENOUGH_CHARACTERS = 40_000


@check(
    "rendered-metadata",
    name="Same metadata with and without scripts",
    severity=MEDIUM,
    fix='Send <title>, <link rel="canonical"> and <meta name="robots"> in the HTML itself as the script would set '
    "them, and do not change them by script.",
    references=(JAVASCRIPT_SEO,),
)
def rendered_metadata(page: Page, document: Document, rendered: Rendered) -> Finding:
    """Search engines may take either version."""
    if not page.is_html:
        return NOT_HTML
    pairs = {
        "title": (_title(document), _title(rendered.document)),
        "canonical": (_canonical(page, document), _canonical(page, rendered.document)),
        "robots": (_robots(document), _robots(rendered.document)),
    }
    changed = {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
    if changed:
        shown = "; ".join(
            f"{name} from {_quoted(before)} to {_quoted(after)}" for name, (before, after) in changed.items()
        )
        return Warn(
            f"Scripts change {shown}; search engines may take either.",
            evidence=tuple(
                {"name": name, "raw": excerpt(before), "rendered": excerpt(after)}
                for name, (before, after) in changed.items()
            ),
        )
    return Pass("Scripts leave title, canonical and robots as they are.")


@check(
    "raw-noindex",
    name="No noindex that only scripts remove",
    severity=HIGH,
    fix='Take <meta name="robots" content="noindex"> out of the HTML itself: search engines that see it do not run '
    "the scripts.",
    references=(JAVASCRIPT_SEO,),
)
def raw_noindex(page: Page, document: Document, rendered: Rendered, clock: Clock) -> Finding:
    """Google skips rendering where the HTML says noindex, so the script never runs."""
    if not page.is_html:
        return NOT_HTML
    if not _is_excluded(page, document, clock):
        return Pass("The HTML itself does not say noindex.")
    if _is_excluded(page, rendered.document, clock):
        return Pass("The page says noindex with and without scripts.")
    return Fail("The HTML says noindex, and only a script takes that back, which search engines do not run then.")


@check(
    "rendered-content",
    name="Content without scripts",
    severity=MEDIUM,
    fix="Render the main text on the server, or prerender the page.",
    references=(JAVASCRIPT_SEO,),
)
def rendered_content(page: Page, document: AccessibleDocument, rendered: Rendered) -> Finding:
    """What stands only in the rendered page is found late, and by few search engines."""
    if not page.is_html:
        return NOT_HTML
    before, after = _words(document), _words(AccessibleDocument(rendered.document))
    if after < FEW_WORDS:
        return NotApplicable(f"The rendered page has {after} words, too few to compare.")
    if before < after * LEAST_SHARE:
        return Warn(f"Of {after:,} words, {before:,} stand in the HTML itself; scripts bring the rest.")
    return Pass(f"{before:,} of {after:,} words stand in the HTML itself.")


def _words(document: AccessibleDocument) -> int:
    body = document.document.tree.body
    return count_words(shown_text(document, body, ENOUGH_CHARACTERS)) if body is not None else 0


def _title(document: Document) -> str:
    titles = (
        " ".join((node.text() or "").split()) for node in live(document, "title") if enclosing(node, "svg") is None
    )
    return next(titles, "")


def _canonical(page: Page, document: Document) -> str:
    return named_url(canonicals(page, document)) or ""


def _robots(document: Document) -> str:
    """The rules that change anything, however they are written."""
    rules = {
        " ".join(rule.split())
        for node in live(document, "meta[name]")
        if (attribute(node, "name") or "").strip().lower() in ("robots", "googlebot")
        for rule in (attribute(node, "content") or "").lower().split(",")
    }
    return ", ".join(sorted(rules - {"", "all", "index", "follow"}))


def _is_excluded(page: Page, document: Document, clock: Clock) -> bool:
    found = exclusions(indexing_rules(page, document), clock.now)
    return any(rule.agent in (EVERYBODY, GOOGLE) for rule in found)


def _quoted(value: str) -> str:
    return f"“{excerpt(value, 80)}”" if value else "nothing"
