"""Checks of content and metadata that only scripts add.

Search engines index these late or not at all.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

from website_scan.accessibility.document import AccessibleDocument
from website_scan.browser.evidence import Rendered
from website_scan.catalogue import Category, States, check
from website_scan.crawl.canonicals import Canonicals, read_canonicals
from website_scan.crawl.indexing import ALL_CRAWLERS, IndexingRules, read_indexing_rules
from website_scan.crawl.robots import GOOGLEBOT
from website_scan.findings import HIGH, MEDIUM, NotApplicable
from website_scan.messages import cut, excerpt
from website_scan.outcomes import Fail, Pass, Verdict, Warn
from website_scan.page.evidence import Clock, Document, Page
from website_scan.page.markup import attribute, live
from website_scan.places import Column, Identity, Place, as_written
from website_scan.seo.metadata import titles
from website_scan.seo.visible_text import read_visible_text
from website_scan.urls import are_equivalent
from website_scan.values import Share

CATEGORY = Category("Rendering", weight=5, html=True, states=States.NONE)

JAVASCRIPT_SEO_REFERENCE = "Google Search Central: JavaScript SEO basics"
MIN_RENDERED_WORDS = 50
# Minimum share of the rendered text that must be in the HTML itself.
MIN_SHARE_IN_HTML = 0.5
METADATA_LABELS = {"title": "title", "canonical": "canonical URL", "robots": "robots rules"}


class ChangedMetadata(Place, frozen=True):
    """Metadata that scripts change, with its values before and after.

    Missing values are empty.
    """

    kind: ClassVar[str] = "changed-metadata"

    name: Annotated[str, Identity(as_written), Column("Name")]
    raw: Annotated[str, Column("In the HTML as sent")]
    rendered: Annotated[str, Column("After scripts have run")]

    @property
    def label(self) -> str:
        values = f"from {_quote_or_none(self.raw)} to {_quote_or_none(self.rendered)}"
        return f"the {METADATA_LABELS.get(self.name, self.name)} {values}"


@check(
    "rendered-metadata",
    name="Scripts leave metadata unchanged",
    outcomes={"changed": "Scripts change metadata"},
    why="Which version counts depends on whether the search engine runs scripts.",
    severity=MEDIUM,
    fix='Send `<title>`, `<link rel="canonical">` and `<meta name="robots">` in the HTML itself as the scripts would '
    "set them, and do not change them by script.",
    references=(JAVASCRIPT_SEO_REFERENCE,),
)
def rendered_metadata(page: Page, document: Document, canonicals: Canonicals, rendered: Rendered) -> Verdict:
    pairs = {
        "title": (next(titles(document), ""), next(titles(rendered.document), "")),
        "canonical": (canonicals.url or "", read_canonicals(page, rendered.document).url or ""),
        "robots": (_robots_rules(document), _robots_rules(rendered.document)),
    }
    changed = [
        ChangedMetadata(name, excerpt(before), excerpt(after))
        for name, (before, after) in pairs.items()
        if before != after and not (name == "canonical" and are_equivalent(before, after))
    ]
    if changed:
        return Warn("changed", "Scripts change metadata.", places=changed)
    return Pass("Scripts leave title, canonical URL and robots rules as they are.")


@check(
    "raw-noindex",
    name="HTML has no noindex that scripts remove",
    outcomes={"removed": "HTML has a noindex that scripts remove"},
    why="Google may not render a page whose HTML has noindex, so the script may never run.",
    consequence="Search engines may leave the page out, so people may not find it by searching.",
    severity=HIGH,
    fix='Remove `<meta name="robots" content="noindex">` from the HTML itself.',
    references=(JAVASCRIPT_SEO_REFERENCE,),
)
def raw_noindex(page: Page, indexing: IndexingRules, rendered: Rendered, clock: Clock) -> Verdict:
    if not indexing.decisive:
        return Pass("The HTML itself has no noindex.")
    if read_indexing_rules(page, rendered.document, clock.now).decisive:
        return Pass("The page has noindex with and without scripts.")
    return Fail("removed", "The HTML has noindex, and only a script removes it.")


@check(
    "rendered-content",
    name="Text is largely in the HTML itself",
    outcomes={"added-by-scripts": "Text depends largely on scripts"},
    why="Search engines may index text that scripts add late, or not at all.",
    severity=MEDIUM,
    fix="Render the main text on the server, or prerender the page.",
    references=(JAVASCRIPT_SEO_REFERENCE,),
)
def rendered_content(document: AccessibleDocument, rendered: Rendered) -> Verdict:
    before = read_visible_text(document).words
    after = read_visible_text(AccessibleDocument(rendered.document)).words
    if after < MIN_RENDERED_WORDS:
        return NotApplicable(f"The rendered page has {after} words, too few to compare.")
    words = Share(before, after, "word")
    if before < after * MIN_SHARE_IN_HTML:
        return Warn(
            "added-by-scripts", "Only {words} {words:is|are} in the HTML itself; scripts add the rest.", words=words
        )
    return Pass("{words} {words:is|are} in the HTML itself.", words=words)


def _robots_rules(document: Document) -> str:
    """Return the robots rules for Google that restrict indexing.

    They are sorted and in lower case.
    """
    rules = {
        " ".join(rule.split())
        for node in live(document, "meta[name]")
        if (attribute(node, "name") or "").strip().lower() in (ALL_CRAWLERS, GOOGLEBOT)
        for rule in (attribute(node, "content") or "").lower().split(",")
    }
    return ", ".join(sorted(rules - {"", "all", "index", "follow"}))


def _quote_or_none(value: str) -> str:
    return f"“{cut(value, 50)}”" if value else "nothing"
