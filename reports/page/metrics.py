"""The figures of a performance scan, for the top of its page: from the evidence of the checks that judge them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Metric:
    """A figure with its unit; `status` is that of its check, `anchor` the check's card."""

    name: str
    value: str
    unit: str
    status: str
    anchor: str
    meaning: str

    @property
    def verdict(self) -> str:
        return {"pass": "Good", "warn": "Needs work", "fail": "Poor"}[self.status]


def _seconds(value: float) -> tuple[str, str]:
    return f"{value:.1f}", "s"


def _milliseconds(value: float) -> tuple[str, str]:
    return f"{1000 * value:,.0f}", "ms"


def _plain(value: float) -> tuple[str, str]:
    return f"{value:.3f}".rstrip("0").rstrip("."), ""


# By the check's ID, in the order of the page.
METRICS: Mapping[str, tuple[str, str, Callable[[float], tuple[str, str]]]] = {
    "lcp": ("Largest contentful paint", "when the main content shows", _seconds),
    "fcp": ("First contentful paint", "when something shows", _seconds),
    "tbt": ("Total blocking time", "how long it does not answer", _milliseconds),
    "cls": ("Cumulative layout shift", "how much moves about", _plain),
}
# Of the evidence's figures, whose names tell none.
UNITS: Mapping[str, Mapping[str, str]] = {
    id: dict.fromkeys(("median", "least", "largest"), "s") for id in ("lcp", "fcp", "tbt")
}


def metrics(checks: Mapping[str, Mapping[str, Any]], prefix: str = "") -> tuple[Metric, ...]:
    """Those that were measured; `checks` are the export's by ID, `prefix` stands before anchors."""
    found = []
    for id, (name, meaning, write) in METRICS.items():
        check = checks.get(id)
        median = check["evidence"][0].get("median") if check and check["evidence"] else None
        if check and isinstance(median, int | float):
            found.append(Metric(name, *write(median), check["status"], f"{prefix}check-{id}", meaning))
    return tuple(found)
