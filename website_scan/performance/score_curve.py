"""Lighthouse's curve for the scores of metrics."""

from __future__ import annotations

import math


def log_normal_score(value: float, good: float, median: float) -> float:
    """Return the score of a metric, 0 to 1, on Lighthouse's log-normal curve.

    The curve passes through 0.9 at `good` (the 10th percentile) and 0.5 at `median`. Despite rounding, a value as good
    as `good` earns at least 0.9, and a value as good as `median` at least 0.5.
    """
    ratio = value / median
    if ratio <= 0:
        return 1.0
    # The factor is erfc⁻¹(0.2), so that the curve passes through 0.9.
    z = math.log(ratio) * 0.9061938024368232 / -math.log(good / median)
    credit = (1 - math.erf(z)) / 2
    least = 0.9 if value <= good else 0.5 if value <= median else 0.0
    return min(1.0, max(credit, least))
