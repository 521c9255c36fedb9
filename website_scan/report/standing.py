"""Figures on the web at large for the subject of a check, measured by others, from web_at_large.toml.

The page shows them beside a finding. They are no part of the stored document, and do not affect scores.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

DATA = Path(__file__).with_name("web_at_large.toml")


@dataclass(frozen=True, slots=True)
class Standing:
    """A figure. `text` is a sentence without full stop; `dated` is when it was measured, such as "July 2025"."""

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


def _standings(tables: Mapping[str, _Table]) -> dict[str, Standing]:
    """Return the figures by check ID. Raises ValueError if two tables have a figure for one check."""
    found: dict[str, Standing] = {}
    for table in tables.values():
        for id, text in table["says"].items():
            if id in found:
                raise ValueError(f"{DATA.name} has two figures for {id}.")
            found[id] = Standing(text, table["source"], table["dated"], table["sample"], table["address"])
    return found


_DATA = tomllib.loads(DATA.read_text("utf-8"))
STANDINGS: Mapping[str, Standing] = _standings(_DATA["standings"])
BANDS: Mapping[str, Band] = {id: Band(*limits) for id, limits in _DATA["bands"].items()}


def standing(check_id: str) -> Standing | None:
    """Return the figure for this check, None if there is none."""
    return STANDINGS.get(check_id)
