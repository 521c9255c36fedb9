"""Score caps and the override of accessibility scans.

The override replaces static verdicts with those of axe-core.
"""

from website_scan.accessibility.axe import axe_verdict
from website_scan.findings import CRITICAL
from website_scan.scoring import Cap

CAPS = (
    Cap(40, "The page shows no content in a browser.", checks=frozenset({"accessibility-blank-page"})),
    Cap(79, "Three or more critical checks failed.", severity=CRITICAL, count=3),
    Cap(89, "A critical check failed.", severity=CRITICAL),
    Cap(79, "The page's content was not judged, so at most a C.", count=0, is_unseen=True),
    Cap(89, "The browser could not judge the whole page, so at most a B.", count=0, is_unjudged=True),
    Cap(96, "Judged without a browser, so at most an A.", count=0, is_static=True),
)

OVERRIDE = axe_verdict
