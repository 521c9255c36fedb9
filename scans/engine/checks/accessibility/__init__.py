"""Accessibility checks."""

from scans.engine.findings import CRITICAL
from scans.engine.scoring import Cap

CAPS = (
    Cap(79, "Three or more critical checks failed.", severity=CRITICAL, count=3),
    Cap(89, "A critical check failed.", severity=CRITICAL),
    Cap(96, "Judged without a browser, so at most an A.", count=0),
)
