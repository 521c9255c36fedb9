"""Check that a browser shows content on the page."""

from __future__ import annotations

from website_scan.browser.shown_content import ShownContent
from website_scan.browser.unshown import FIX, JUDGED, OUTCOMES, judge_shown_content
from website_scan.catalogue import Category, check
from website_scan.findings import CRITICAL
from website_scan.outcomes import Verdict

# The category's weight is small, because a blank page also caps the score.
CATEGORY = Category("Display", weight=1, html=True, error_pages=False, content=True)


@check(
    "accessibility-blank-page",
    name="Page shows its content in a browser",
    outcomes=OUTCOMES,
    why="Nobody can use a page without its content, with or without assistive technology.",
    consequence="Visitors may not see what you offer: the page stays empty, keeps loading or shows an error.",
    judged=JUDGED,
    severity=CRITICAL,
    fix=FIX,
    references=("web.dev: First Contentful Paint",),
)
def accessibility_blank_page(content: ShownContent) -> Verdict:
    return judge_shown_content(content)
