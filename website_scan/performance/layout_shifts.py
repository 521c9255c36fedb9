"""Cumulative layout shift of a page load."""

from __future__ import annotations

import math
from collections.abc import Sequence

from website_scan.browser.evidence import LayoutShift

# Limits of session windows of layout shifts (web.dev, "Cumulative Layout Shift").
SESSION_WINDOW_GAP_S, SESSION_WINDOW_S = 1.0, 5.0


def cumulative_layout_shift(shifts: Sequence[LayoutShift]) -> float:
    """Return the cumulative layout shift (CLS).

    This is the largest sum of layout shifts in a session window of at most five seconds.
    """
    largest = total = 0.0
    window_start_s = previous_shift_s = -math.inf
    for shift in sorted(shifts, key=lambda shift: shift.time_s):
        if shift.time_s - previous_shift_s >= SESSION_WINDOW_GAP_S or shift.time_s - window_start_s >= SESSION_WINDOW_S:
            window_start_s, total = shift.time_s, 0.0
        total += shift.value
        previous_shift_s = shift.time_s
        largest = max(largest, total)
    return largest
