"""Diff of two reports as JSON, for the API and the command `diff`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, TypedDict

from website_scan.json_types import (
    Count,
    Fingerprint,
    Grade,
    ScanId,
    Score,
    SeverityName,
    Timestamp,
    component,
    values,
)
from website_scan.report.diff import Change, Diff, NotCompared, Place, State
from website_scan.report.not_compared import Reason
from website_scan.report_json import ExportJson, FindingStatus, ReportStatus

SIDES = ("from", "to")
REASONS = [str(reason) for reason in Reason]


@component("Place")
class PlaceJson(TypedDict):
    """A place of a finding: an element, an address, a header or a cookie."""

    fingerprint: Annotated[Fingerprint, "Identical in every report that has this finding at this place."]
    text: Annotated[str, "The place as shown in the report."]


class FindingState(TypedDict):
    """The verdict of a report on a check that did not pass."""

    status: FindingStatus
    severity: SeverityName


@component("Change")
class ChangeJson(TypedDict):
    """A check that failed or warned in at least one of the reports."""

    id: str
    name: str
    title: Annotated[str, "What was found."]
    outcome: Annotated[str, "Stable name of what was found, within the check: `short`."]
    category: str
    message: Annotated[str, "That of the newer finding."]
    before: FindingState | None
    after: FindingState | None
    new_places: list[PlaceJson]
    fixed_places: list[PlaceJson]


@component("NotCompared")
class NotComparedJson(TypedDict):
    """A finding of one report whose check has no verdict in the other report, so it is neither new nor fixed."""

    id: str
    name: str
    title: str
    category: str
    severity: SeverityName
    found_in: Annotated[str, values(SIDES)]
    reason: Annotated[str, values(REASONS), "Why the other report is silent."]


class ComparedReport(TypedDict):
    """One of the two compared reports."""

    id: ScanId
    url: str
    created_at: Timestamp
    completed_at: Timestamp
    status: ReportStatus
    score: Score
    grade: Grade
    browser: str | None
    catalogue_version: str


class ScoreChange(TypedDict):
    """Both scores, and the newer score minus the older score."""

    before: Score
    after: Score
    change: Annotated[int | None, "Null if the scores come from different rules."]


# `from` is a Python keyword, so the TypedDict needs the functional syntax.
_Reports = TypedDict("_Reports", {"from": ComparedReport, "to": ComparedReport})


@component("Diff")
class DiffJson(_Reports):
    """Diff of two reports of the same page and type."""

    score: ScoreChange
    same_rules: Annotated[bool, "False where the reports have different catalogue versions."]
    same_categories: Annotated[bool, "False where they were limited to different categories of security checks."]
    same_browser: Annotated[bool, "False where only one of them was judged in a browser."]
    new: list[ChangeJson]
    fixed: list[ChangeJson]
    worse: Annotated[list[ChangeJson], "Findings that are more severe, fail instead of warning, or have new places."]
    better: list[ChangeJson]
    not_compared: list[NotComparedJson]
    muted: Annotated[list[ChangeJson], "Findings of either that are muted; they are in none of the others."]
    same: Annotated[Count, "How many findings of both have not changed."]


def diff_json_of(diff: Diff[ExportJson]) -> DiffJson:
    before, after = _report_json(diff.before), _report_json(diff.after)
    return {
        "from": before,
        "to": after,
        "score": {"before": before["score"], "after": after["score"], "change": diff.points},
        "same_rules": diff.same_rules,
        "same_categories": diff.same_categories,
        "same_browser": diff.same_browser,
        "new": _changes_json(diff.new),
        "fixed": _changes_json(diff.fixed),
        "worse": _changes_json(diff.worse),
        "better": _changes_json(diff.better),
        "not_compared": [_not_compared_json(finding) for finding in diff.not_compared],
        "muted": _changes_json(diff.muted),
        "same": len(diff.same),
    }


def _report_json(export: ExportJson) -> ComparedReport:
    score, grade = export["score"], export["grade"]
    # A scan without a score has failed and has no report.
    assert score is not None
    assert grade is not None
    return {
        "id": export["id"],
        "url": export["url"],
        "created_at": export["created_at"],
        "completed_at": export["completed_at"],
        "status": export["status"],
        "score": score,
        "grade": grade,
        "browser": export.get("browser"),
        "catalogue_version": export["catalogue_version"],
    }


def _changes_json(changes: Iterable[Change]) -> list[ChangeJson]:
    return [
        {
            "id": change.id,
            "name": change.name,
            "title": change.title,
            "outcome": change.outcome,
            "category": change.category,
            "message": change.message,
            "before": _state_json(change.before),
            "after": _state_json(change.after),
            "new_places": _places_json(change.new_places),
            "fixed_places": _places_json(change.fixed_places),
        }
        for change in changes
    ]


def _state_json(state: State | None) -> FindingState | None:
    return {"status": state.status, "severity": state.severity} if state else None


def _places_json(places: Iterable[Place]) -> list[PlaceJson]:
    return [{"fingerprint": place.fingerprint, "text": place.text} for place in places]


def _not_compared_json(finding: NotCompared) -> NotComparedJson:
    return {
        "id": finding.id,
        "name": finding.name,
        "title": finding.title,
        "category": finding.category,
        "severity": finding.severity,
        "found_in": finding.found_in,
        "reason": str(finding.reason),
    }
