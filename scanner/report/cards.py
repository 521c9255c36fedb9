"""A check as a card of the report page (templates/report/card.html)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from scanner.report.evidence import contrasts, fixes
from scanner.report.evidence.sentences import headline
from scanner.report.evidence.tables import LONG, Table, tables
from scanner.report.metrics import CONCERNED, UNITS
from scanner.report.muting import MutedPart
from scanner.report.pictures import Crop
from scanner.report.references import CriterionLink, ReferenceLink, criterion, reference
from scanner.report.standing import Standing, standing


@dataclass(frozen=True, slots=True)
class CheckCard:
    """What a card shows; `win` is such as "+2.5 points", empty where passing the check alone wins none.

    `muted` is what is muted of it; with `is_muted` that is all of it. `mute_url` is where it can be muted, empty
    for who may not; `shows_rules` is as in `Muting`. Under a cap `later` is what passing it wins once nothing holds
    the score down, where it wins nothing now, and `holds` says that it is one of those that do. `metrics` are those
    that it concerns; one that is hidden does not fit what the reader asked for. `page_url` is the check's page in the
    documentation, empty where there is none.
    """

    id: str
    name: str
    status: str
    severity: str | None
    message: str
    fix: str | None
    points: float
    win: str
    evidence: tuple[Table, ...]
    evidence_count: int
    criteria: tuple[CriterionLink, ...]
    references: tuple[ReferenceLink, ...]
    anchor: str
    page_url: str = ""
    standing: Standing | None = None
    mute_url: str = ""
    muted: tuple[MutedPart, ...] = ()
    is_muted: bool = False
    shows_rules: bool = False
    later: float = 0.0
    holds: bool = False
    metrics: tuple[str, ...] = ()
    is_hidden: bool = False
    crops: Mapping[int, Crop] = field(default_factory=dict)  # by the number of the item of evidence

    @property
    def is_beside(self) -> bool:
        """Whether evidence and fix have room side by side, on a wide screen."""
        pasted = sum(len(part.text) for part in self.fix_parts if part.kind == "snippet")
        return bool(self.fix and self.evidence) and pasted <= LONG and all(table.is_narrow for table in self.evidence)

    @property
    def is_critical(self) -> bool:
        """Whether it puts the site or its visitors at risk at once, whatever it weighs."""
        return self.status == "fail" and self.severity == "critical"

    @property
    def fix_parts(self) -> tuple[fixes.Part, ...]:
        return fixes.parts(self.fix or "")

    @property
    def later_win(self) -> str:
        return _win(self.later)


def card_of(
    exported: Mapping[str, Any],
    *,
    page_url: str = "",
    mute_url: str = "",
    muted: tuple[MutedPart, ...] = (),
    is_muted: bool = False,
    shows_rules: bool = False,
    prefix: str = "",
    later: float = 0.0,
    holds: bool = False,
    is_hidden: bool = False,
    crops: Mapping[int, Crop] | None = None,
) -> CheckCard:
    """The card of a check of a JSON export; what is muted of it and can be, holds and is hidden, the caller knows."""
    named = [(text, criterion(text)) for text in exported["references"]]
    criteria = tuple(found for _, found in named if found)
    items = exported["evidence"]
    if exported["id"] in contrasts.CHECKS:
        items = [contrasts.told(item) for item in items]
    # The page tells criteria elsewhere, and an element by its selector.
    without = ("ancestry", "wcag", "level") if criteria else ("ancestry",)
    evidence = tables(items, without=without, units=UNITS.get(exported["id"]))
    points = exported["points"]
    return CheckCard(
        id=exported["id"],
        name=exported.get("title", exported["name"]),  # stored before there were titles
        status=exported["status"],
        severity=exported["severity"],
        message=headline(exported["message"], exported["evidence"]),
        fix=exported.get("fix"),
        points=points,
        win=_win(points),
        evidence=evidence,
        evidence_count=sum(len(table.rows) for table in evidence),
        criteria=criteria,
        references=tuple(reference(text) for text, found in named if not found),
        anchor=f"{prefix}check-{exported['id']}",
        page_url=page_url,
        standing=standing(exported["id"]),
        mute_url=mute_url,
        muted=muted,
        is_muted=is_muted,
        shows_rules=shows_rules,
        later=0.0 if points else later,
        holds=holds,
        metrics=CONCERNED.get(exported["id"], ()),
        is_hidden=is_hidden,
        crops=crops or {},
    )


def _win(points: float) -> str:
    return f"+{points:g} point{'' if points == 1 else 's'}" if points > 0 else ""
