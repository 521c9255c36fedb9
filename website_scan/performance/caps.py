"""Score caps of performance scans."""

from website_scan.findings import CRITICAL, HIGH
from website_scan.scoring import Cap

CAPS = (
    Cap(40, "The page shows no content in a browser.", checks=frozenset({"blank-page"})),
    Cap(79, "A critical check failed.", severity=CRITICAL),
    Cap(89, "Two or more high-severity checks failed.", severity=HIGH, count=2),
    Cap(79, "The page's content was not judged, so at most a C.", count=0, is_unseen=True),
    Cap(89, "The browser could not judge the whole page, so at most a B.", count=0, is_unjudged=True),
    Cap(96, "Judged without a browser, so at most an A.", count=0, is_static=True),
)
