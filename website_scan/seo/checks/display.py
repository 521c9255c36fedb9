"""Display check: does the page show its content in a browser?"""

from __future__ import annotations

from website_scan.browser.evidence import ShownContent
from website_scan.browser.unshown import FIX, JUDGED, OUTCOMES, judge_shown_content
from website_scan.catalogue import Category, check
from website_scan.findings import CRITICAL
from website_scan.outcomes import Verdict

# The weight is small, because a failure caps the score anyway.
CATEGORY = Category("Display", weight=1, html=True, error_pages=False, content=True)


@check(
    "seo-blank-page",
    name="Page shows its content in a browser",
    outcomes=OUTCOMES,
    why="Search engines that render the page find nothing to index.",
    judged=JUDGED,
    severity=CRITICAL,
    fix=FIX,
    references=("Google Search Central: JavaScript SEO basics",),
)
def seo_blank_page(content: ShownContent) -> Verdict:
    return judge_shown_content(content)
