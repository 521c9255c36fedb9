"""Loading: how long until visitors see and can use the page.

Without a browser there is one check, a model of the load on a slow link (`scans.engine.load_model` tells how).
"""

from __future__ import annotations

import statistics

from scans.engine.catalogue import Category, check
from scans.engine.evidence import Page, Resources, Timing
from scans.engine.findings import MEDIUM, EvidenceItem, Fail, Finding, NotApplicable, Pass, Warn
from scans.engine.load_model import estimate

CATEGORY = Category("Loading", weight=15)

GOOD_S, POOR_S = 5.0, 10.0


@check(
    "est-load-time",
    name="Estimated load time on a slow link",
    severity=MEDIUM,
    fix="Send fewer bytes before the page is complete: compress and resize images, drop unused scripts, load "
    'images further down with loading="lazy".',
    references=("Lighthouse: throttling (1.6 Mbit/s, 150 ms)",),
)
def est_load_time(page: Page, resources: Resources, timing: Timing) -> Finding:
    if not page.is_html:
        return NotApplicable("The page is not HTML.")
    result = estimate(page, resources.items, statistics.median(timing.ttfb_s))
    evidence: tuple[EvidenceItem, ...] = (
        {
            "seconds": round(result.seconds, 1),
            "document_seconds": round(result.document_s, 1),
            "wire_bytes": result.wire_bytes,
            "requests": result.requests,
            "not_counted": resources.left_out,
        },
    )
    least = "at least " if resources.left_out else ""
    message = (
        f"On a link of 1.6 Mbit/s and 150 ms the page would take {least}{result.seconds:.1f} s: "
        f"{result.wire_bytes / 1000:,.0f} kB in {result.requests} requests"
    )
    if result.seconds <= GOOD_S:
        return Pass(f"{message}.", evidence)
    if result.seconds <= POOR_S:
        return Warn(f"{message}; up to {GOOD_S:g} s is good.", evidence=evidence)
    return Fail(f"{message}; more than {POOR_S:g} s is slow.", evidence=evidence)
