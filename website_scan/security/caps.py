"""Score caps of security."""

from website_scan.findings import CRITICAL, HIGH
from website_scan.scoring import Cap

CAPS = (
    Cap(49, "A critical check failed.", severity=CRITICAL),
    # Each further failed check of high severity lowers the cap by one grade.
    Cap(59, "Four or more high-severity checks failed.", severity=HIGH, count=4),
    Cap(69, "Three high-severity checks failed.", severity=HIGH, count=3),
    Cap(79, "Two high-severity checks failed.", severity=HIGH, count=2),
    Cap(89, "A high-severity check failed.", severity=HIGH),
)
