"""Check that a browser displays content on the page."""

from __future__ import annotations

from website_scan.browser.shown_content import ShownContent
from website_scan.browser.unshown import FIX, JUDGED, OUTCOMES, judge_shown_content
from website_scan.catalogue import Category, check
from website_scan.findings import CRITICAL
from website_scan.outcomes import Verdict

# The category's weight is small, because a blank page also caps the score.
CATEGORY = Category("Display", weight=1, html=True, error_pages=False, content=True)


@check(
    "seo-blank-page",
    name="Page shows its content in a browser",
    outcomes=OUTCOMES,
    why="Search engines that render the page find nothing to index.",
    consequence="Search engines may find nothing on the page, so people may not find it by searching.",
    judged=JUDGED,
    severity=CRITICAL,
    fix=FIX,
    references=("Google Search Central: JavaScript SEO basics",),
)
def seo_blank_page(content: ShownContent) -> Verdict:
    return judge_shown_content(content)
