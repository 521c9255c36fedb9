"""Figures about the web at large, measured by others, from web_at_large.toml: how common the fault of a check is.

The page has the figure on the card of a finding. Figures are not stored with a report, and do not affect scores.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

DATA = Path(__file__).with_name("web_at_large.toml")


@dataclass(frozen=True, slots=True)
class WebFigure:
    """Figure about the web. `text` is a sentence without full stop, `dated` the time of measurement: "July 2025"."""

    text: str
    source: str
    dated: str
    sample: str
    address: str


@dataclass(frozen=True, slots=True)
class Band:
    """Thresholds of a metric: good up to `good`, poor beyond `poor`; in seconds, or without a unit."""

    good: float
    poor: float


class _Table(TypedDict):
    """Table of web_at_large.toml: the figures of one source page by check ID."""

    source: str
    dated: str
    sample: str
    address: str
    says: dict[str, str]


def _figures_by_check(tables: Mapping[str, _Table]) -> dict[str, WebFigure]:
    """Return the figures by check ID. Raises ValueError if two tables have a figure for the same check."""
    figures: dict[str, WebFigure] = {}
    for table in tables.values():
        for id, text in table["says"].items():
            if id in figures:
                raise ValueError(f"{DATA.name} has two figures for {id}.")
            figures[id] = WebFigure(text, table["source"], table["dated"], table["sample"], table["address"])
    return figures


_DATA = tomllib.loads(DATA.read_text("utf-8"))
WEB_FIGURES: Mapping[str, WebFigure] = _figures_by_check(_DATA["standings"])
BANDS: Mapping[str, Band] = {id: Band(*limits) for id, limits in _DATA["bands"].items()}


def web_figure(check_id: str) -> WebFigure | None:
    """Return the figure for a check, None if web_at_large.toml has no figure for the check."""
    return WEB_FIGURES.get(check_id)
