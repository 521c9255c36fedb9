"""Score caps of performance scans."""

from scanner.findings import CRITICAL, HIGH
from scanner.scoring import Cap

CAPS = (
    Cap(79, "A critical check failed.", severity=CRITICAL),
    Cap(89, "Two or more high-severity checks failed.", severity=HIGH, count=2),
    Cap(96, "Judged without a browser, so at most an A.", count=0, is_static=True),
)
