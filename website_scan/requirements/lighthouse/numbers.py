"""Limits of numbers in Lighthouse's files, and the scores that stand for such a limit."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TypeGuard

from website_scan.requirements.reading import MAX_LIMIT

# Lighthouse raises scores above 0.9 by this share of the difference, and then rounds down.
BOOST = 0.05
PASSING_SCORE = 0.9


def is_limit(value: object) -> TypeGuard[float]:
    """Return True for a number that a rule may have as its limit."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= MAX_LIMIT


def value_of_score(score: float, good: float, median: float) -> float:
    """Return the largest value that has at least this score on Lighthouse's log-normal curve.

    The curve has the score 0.9 at `good`, and 0.5 at `median`. Without a curve, `good` equals `median`.
    """
    if good == median or score == PASSING_SCORE:
        return good
    if score > PASSING_SCORE:
        score = (score + BOOST * PASSING_SCORE) / (1 + BOOST)
    if score >= 1:
        return 0.0
    if score <= 0:
        return math.inf
    quantile = NormalDist().inv_cdf(1 - score)
    return median * math.exp(quantile * math.log(median / good) / NormalDist().inv_cdf(PASSING_SCORE))
