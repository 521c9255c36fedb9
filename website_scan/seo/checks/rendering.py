"""Rendering checks: content and metadata that only scripts add. Search engines see them later, if at all."""

from __future__ import annotations

from website_scan.accessibility.document import AccessibleDocument
from website_scan.browser.evidence import Rendered
from website_scan.catalogue import Category, check
from website_scan.crawl.canonicals import Canonicals, read_canonicals
from website_scan.crawl.indexing import EVERYBODY, IndexingRules, read_indexing_rules
from website_scan.crawl.robots import GOOGLEBOT
from website_scan.findings import HIGH, MEDIUM, Fail, Finding, NotApplicable, Pass, Warn
from website_scan.messages import excerpt
from website_scan.page.evidence import Clock, Document, Page
from website_scan.page.markup import attribute, live
from website_scan.seo.metadata import titles
from website_scan.seo.visible_text import read_visible_text

CATEGORY = Category("Rendering", weight=5, html=True)

JAVASCRIPT_SEO = "Google Search Central: JavaScript SEO basics"
FEW_WORDS = 50
# Minimum share of the rendered text that must be in the HTML itself.
LEAST_SHARE = 0.5
LABELS = {"title": "title", "canonical": "canonical URL", "robots": "robots rules"}


@check(
    "rendered-metadata",
    name="Scripts leave metadata unchanged",
    found="Scripts change metadata",
    why="Which version counts depends on whether the search engine runs scripts.",
    severity=MEDIUM,
    fix='Send <title>, <link rel="canonical"> and <meta name="robots"> in the HTML itself as the script would set '
    "them, and do not change them by script.",
    references=(JAVASCRIPT_SEO,),
)
def rendered_metadata(page: Page, document: Document, canonicals: Canonicals, rendered: Rendered) -> Finding:
    pairs = {
        "title": (next(titles(document), ""), next(titles(rendered.document), "")),
        "canonical": (canonicals.url or "", read_canonicals(page, rendered.document).url or ""),
        "robots": (_robots(document), _robots(rendered.document)),
    }
    changed = {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
    if changed:
        shown = "; ".join(
            f"the {LABELS[name]} from {_quoted(before)} to {_quoted(after)}"
            for name, (before, after) in changed.items()
        )
        return Warn(
            f"Scripts change {shown}.",
            evidence=[
                {"name": name, "raw": excerpt(before), "rendered": excerpt(after)}
                for name, (before, after) in changed.items()
            ],
        )
    return Pass("Scripts leave title, canonical URL and robots rules as they are.")


@check(
    "raw-noindex",
    name="HTML has no noindex that scripts remove",
    found="HTML has a noindex that scripts remove",
    why="Google may not render a page whose HTML has noindex, so the script may never run.",
    severity=HIGH,
    fix='Remove <meta name="robots" content="noindex"> from the HTML itself.',
    references=(JAVASCRIPT_SEO,),
)
def raw_noindex(page: Page, indexing: IndexingRules, rendered: Rendered, clock: Clock) -> Finding:
    if not indexing.decisive:
        return Pass("The HTML itself has no noindex.")
    if read_indexing_rules(page, rendered.document, clock.now).decisive:
        return Pass("The page has noindex with and without scripts.")
    return Fail("The HTML has noindex, and only a script removes it.")


@check(
    "rendered-content",
    name="Text is largely in the HTML itself",
    found="Text depends largely on scripts",
    why="Search engines may index text that scripts add late, or not at all.",
    severity=MEDIUM,
    fix="Render the main text on the server, or prerender the page.",
    references=(JAVASCRIPT_SEO,),
)
def rendered_content(document: AccessibleDocument, rendered: Rendered) -> Finding:
    before = read_visible_text(document).words
    after = read_visible_text(AccessibleDocument(rendered.document)).words
    if after < FEW_WORDS:
        return NotApplicable(f"The rendered page has {after} words, too few to compare.")
    if before < after * LEAST_SHARE:
        return Warn(f"Only {before:,} of {after:,} words are in the HTML itself; scripts add the rest.")
    return Pass(f"{before:,} of {after:,} words are in the HTML itself.")


def _robots(document: Document) -> str:
    """Return the robots rules that have an effect, in a normal form."""
    rules = {
        " ".join(rule.split())
        for node in live(document, "meta[name]")
        if (attribute(node, "name") or "").strip().lower() in (EVERYBODY, GOOGLEBOT)
        for rule in (attribute(node, "content") or "").lower().split(",")
    }
    return ", ".join(sorted(rules - {"", "all", "index", "follow"}))


def _quoted(value: str) -> str:
    return f"“{excerpt(value, 80)}”" if value else "nothing"
