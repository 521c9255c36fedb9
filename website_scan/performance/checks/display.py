"""Check whether a browser displays the page's content, or a blank page."""

from __future__ import annotations

from website_scan.browser.evidence import ShownContent
from website_scan.browser.unshown import FIX, JUDGED, OUTCOMES, judge_shown_content
from website_scan.catalogue import Category, check
from website_scan.findings import CRITICAL
from website_scan.outcomes import Verdict

# The weight is small, because a blank page caps the score (`website_scan/performance/caps.py`).
CATEGORY = Category("Display", weight=1, html=True, error_pages=False, content=True)


@check(
    "blank-page",
    name="Page shows its content in a browser",
    outcomes=OUTCOMES,
    why="Visitors see nothing of what the page offers, however fast it is.",
    judged=JUDGED,
    severity=CRITICAL,
    fix=FIX,
    references=("web.dev: First Contentful Paint",),
)
def blank_page(content: ShownContent) -> Verdict:
    return judge_shown_content(content)
