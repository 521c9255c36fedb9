"""Where the web stands in what a check looks at: figures that others measured, from one file of data.

They are told beside a finding when its page is made, are no part of the frozen document, and count for no score.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DATA = Path(__file__).with_name("web_at_large.toml")


@dataclass(frozen=True, slots=True)
class Standing:
    """`text` is a sentence without its full stop; `dated` is when it was measured, such as "July 2025"."""

    text: str
    source: str
    dated: str
    sample: str
    address: str


@dataclass(frozen=True, slots=True)
class Band:
    """A metric up to `good` is good, beyond `poor` it is poor; in seconds, or without a unit."""

    good: float
    poor: float


def _standings(tables: Mapping[str, Any]) -> dict[str, Standing]:
    """By the check's ID. Raises ValueError where two tables speak of one check."""
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
    """What is known of the web for this check; None where nobody measured it."""
    return STANDINGS.get(check_id)
