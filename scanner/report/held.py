"""Caps that lower a report's score, and the points that each finding would win without them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scanner.document import ExportDocument, ExportedCap, ExportedCheck, StoredBasis
from scanner.scoring import Uncapped, uncapped

NAMED = 3


@dataclass(frozen=True, slots=True)
class Holder:
    """A failed check that a cap counts."""

    name: str
    anchor: str


@dataclass(frozen=True, slots=True)
class HeldCap:
    """A cap that lowered the score to `limit`. `reason` continues a sentence; `more` counts the unlisted holders."""

    limit: int
    reason: str
    holders: tuple[Holder, ...]
    more: int


@dataclass(frozen=True, slots=True)
class Held:
    """The caps of a report, the lowest first.

    `without` is the score without caps, `points` what each finding would win then, by check ID. `held_by` has the IDs
    of the checks that the caps count. Old reports lack the basis of their score: `without` is None, the others empty.
    """

    caps: tuple[HeldCap, ...]
    without: int | None
    points: Mapping[str, float]
    held_by: frozenset[str]


NOT_HELD = Held((), None, {}, frozenset())


def held(
    document: ExportDocument, scoring: StoredBasis | None, checks: Mapping[str, ExportedCheck], prefix: str
) -> Held:
    """Return the caps of a JSON export. `scoring` is the stored basis of the score, `checks` are its checks by ID."""
    if not document["caps"]:
        return NOT_HELD
    found = uncapped(scoring) if scoring is not None else None
    caps = tuple(_cap(cap, _counted(found, number), checks, prefix) for number, cap in enumerate(document["caps"]))
    if found is None:
        return Held(caps, None, {}, frozenset())
    return Held(caps, found.value, found.points, frozenset().union(*found.held_by))


def _counted(found: Uncapped | None, number: int) -> list[str]:
    """Return the IDs of the checks that a cap counts, those with the most points first."""
    if found is None or number >= len(found.held_by):
        return []
    return sorted(found.held_by[number], key=lambda id: (-found.points[id], id))


def _cap(cap: ExportedCap, ids: list[str], checks: Mapping[str, ExportedCheck], prefix: str) -> HeldCap:
    holders = tuple(
        Holder(checks[id].get("title", checks[id]["name"]), f"{prefix}check-{id}") for id in ids if id in checks
    )
    reason = cap["reason"].removesuffix(".")
    return HeldCap(cap["limit"], reason[:1].lower() + reason[1:], holders[:NAMED], max(0, len(holders) - NAMED))
