"""What changed between two reports of the same page: fixed, new, still there. Pure; checks are known by their IDs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

SEVERITY_RANK = {"critical": 0, "high": 1, "medium": 2, "low": 3}
STATUS_RANK = {"fail": 0, "warn": 1, "pass": 2}


class Note(StrEnum):
    """What is to be said of a change beside its group; empty where nothing is."""

    NONE = ""
    WORSE = "failed now, only a warning before"
    BETTER = "only a warning now, failed before"
    UNJUDGED = "not judged last time"
    COULD_NOT_RUN = "could not run this time"
    NOT_APPLICABLE = "does not apply any more"


@dataclass(frozen=True, slots=True)
class Change:
    """A check that has failed or warned in one of the two reports.

    `severity` is the one it has now, or had where it has none now; `is_in_report`: whether the newer report judged it.
    """

    id: str
    name: str
    severity: str | None
    note: Note
    is_in_report: bool = True


@dataclass(frozen=True, slots=True)
class Changes:
    """`gone` are findings of the earlier report on which the newer one is silent: neither fixed nor still there.

    Where the catalogues differ, the page need not have changed for the score or a finding to be another.
    """

    points: int | None  # the newer score less the earlier one; None where they come from different rules
    score_before: int
    fixed: tuple[Change, ...]
    new: tuple[Change, ...]
    still: tuple[Change, ...]
    gone: tuple[Change, ...]
    catalogue_before: str | None  # the earlier version, where it was another one

    @property
    def is_empty(self) -> bool:
        """Whether both found the same: nothing fixed, nothing new, nothing gone."""
        return not (self.fixed or self.new or self.gone)


def compare(earlier: Mapping[str, Any], newer: Mapping[str, Any]) -> Changes:
    """Both are JSON exports. Groups are ordered by what they weigh: severity first, failed before warned."""
    before = {check["id"]: check for check in _checks(earlier)}
    now = {check["id"]: check for check in _checks(newer)}
    skipped = {each["id"] for each in newer["skipped_checks"]}
    fixed, new, still, gone = [], [], [], []
    for id, check in now.items():
        was = before.get(id)
        if check["status"] == "pass":
            if was is not None and was["status"] != "pass":
                fixed.append(_change(was, Note.NONE))
        elif was is None or was["status"] == "pass":
            new.append(_change(check, Note.UNJUDGED if was is None else Note.NONE))
        else:
            still.append(_change(check, _direction(was, check)))
    for id, was in before.items():
        if id not in now and was["status"] != "pass":
            gone.append(_change(was, Note.COULD_NOT_RUN if id in skipped else Note.NOT_APPLICABLE, False))
    version = earlier["catalogue_version"]
    has_same_rules = version == newer["catalogue_version"]
    return Changes(
        points=newer["score"] - earlier["score"] if has_same_rules else None,
        score_before=earlier["score"],
        fixed=_ordered(fixed),
        new=_ordered(new),
        still=_ordered(still),
        gone=_ordered(gone),
        catalogue_before=None if has_same_rules else version,
    )


def _checks(document: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for category in document["categories"]:
        yield from category["checks"]


def _change(check: Mapping[str, Any], note: Note, is_in_report: bool = True) -> tuple[int, Change]:
    severity = check["severity"]
    rank = 10 * SEVERITY_RANK.get(severity or "", len(SEVERITY_RANK)) + STATUS_RANK[check["status"]]
    return rank, Change(check["id"], check.get("title", check["name"]), severity, note, is_in_report)


def _ordered(ranked: list[tuple[int, Change]]) -> tuple[Change, ...]:
    return tuple(change for _, change in sorted(ranked, key=lambda each: each[0]))


def _direction(was: Mapping[str, Any], now: Mapping[str, Any]) -> Note:
    if was["status"] == now["status"]:
        return Note.NONE
    return Note.WORSE if now["status"] == "fail" else Note.BETTER
