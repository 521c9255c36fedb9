"""Tables of Lighthouse's audits and of Lighthouse CI's presets."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from website_scan.requirements.model import BytesRule, Condition, FileKind, Metric, MetricRule

FOLDER = Path(__file__).parent
PRESETS = ("lighthouse:all", "lighthouse:recommended", "lighthouse:no-pwa")
NO_FAULT = {"maxLength": 0}


class NumberAudit(Struct, frozen=True):
    """Audit of a number. Lighthouse scores `good` by 0.9 and `median` by 0.5."""

    metric: Metric | None
    good: float
    median: float

    def limit(self, at_most: float) -> Condition:
        if self.metric is None:
            return BytesRule(FileKind.TOTAL, round(at_most))
        is_fraction = self.metric is Metric.CUMULATIVE_LAYOUT_SHIFT
        return MetricRule(self.metric, round(at_most, 4) if is_fraction else round(at_most))


class Audits(Struct, frozen=True):
    """Audits by ID: their outcomes, their numbers, or the reason why they are not translated.

    Audits of `never_failing` have the best score whatever they list. `reason_of_never_failing` is a template.
    """

    outcomes: Mapping[str, tuple[str, ...]]
    numbers: Mapping[str, NumberAudit]
    categories: Mapping[str, str]
    reasons: Mapping[str, str]
    reason_of_categories: str
    never_failing: frozenset[str]
    reason_of_never_failing: str


@cache
def audits() -> Audits:
    table = _read("audits.toml")
    outcomes = {audit: tuple(names) for audit, names in table["outcomes"].items()}
    outcomes |= {audit: (audit,) for audit in table["same"]}
    return Audits(
        outcomes,
        {
            audit: NumberAudit(Metric(row["metric"]) if "metric" in row else None, row["good"], row["median"])
            for audit, row in table["numbers"].items()
        },
        table["categories"],
        {audit: table["reasons"][reason] for reason, listed in table["not_translated"].items() for audit in listed},
        table["reasons"]["categories"],
        frozenset(table["never_failing"]["audits"]),
        table["reasons"]["never_failing"],
    )


def preset(name: str) -> dict[str, tuple[str, Mapping[str, Any]]]:
    """Return the level and the options of each audit of a preset, such as `lighthouse:all`."""
    table = _read("presets.toml")
    if name == "lighthouse:all":
        names = [audit for group, listed in table.items() if not group.startswith("off_in") for audit in listed]
        return dict.fromkeys(sorted({*names, *table["off_in_recommended"]}), ("error", {}))
    levels: dict[str, tuple[str, Mapping[str, Any]]] = {}
    for level in ("error", "warn"):
        levels |= dict.fromkeys(table[level], (level, {}))
        levels |= dict.fromkeys(table[f"{level}_max_length"], (level, NO_FAULT))
    if name == "lighthouse:no-pwa":
        levels |= dict.fromkeys(table["off_in_no_pwa"], ("off", {}))
    return levels


@cache
def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((FOLDER / name).read_text(encoding="utf-8"))
