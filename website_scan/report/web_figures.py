"""Statistics about the web from web_at_large.toml.

They say, for example, how many sites have a fault.

The card of a finding displays the statistic. Statistics are not stored with a report, and do not affect scores.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TypedDict

from msgspec import Struct

DATA = Path(__file__).with_name("web_at_large.toml")


class WebFigure(Struct, frozen=True):
    """Statistic about the web.

    `text` is a sentence without full stop, `dated` when it was measured ("July 2025").
    """

    text: str
    source: str
    dated: str
    sample: str
    address: str


class Band(Struct, frozen=True):
    """Thresholds of a performance metric, in seconds or without a unit.

    Values up to `good` are good, values above `poor` are poor.
    """

    good: float
    poor: float


class _Table(TypedDict):
    """Table in web_at_large.toml.

    It has the statistics of one source by check ID.
    """

    source: str
    dated: str
    sample: str
    address: str
    says: dict[str, str]


def _figures_by_check(tables: Mapping[str, _Table]) -> dict[str, WebFigure]:
    """Return the statistics by check ID.

    Raises ValueError if two tables have a statistic for the same check.
    """
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
    """Return the statistic for a check.

    None if web_at_large.toml has none.
    """
    return WEB_FIGURES.get(check_id)
