"""Muted findings of a report, for the report page and the API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, TypedDict
from urllib.parse import urlencode

from msgspec import Struct

from website_scan.json_types import Fingerprint, Grade, ScanId, Score, SeverityName, Timestamp, component, identifier
from website_scan.report.cap_sentence import score_cap_sentence
from website_scan.report.mute_matching import NO_MUTES, MutedPlaces, MuteRule, Mutes
from website_scan.report.places import describe_places
from website_scan.report_json import ExportedFinding, ExportJson, FindingStatus
from website_scan.score_basis import FixStep, fix_steps, recompute_score
from website_scan.stored_data import StoredBasis
from website_scan.timestamps import timestamp


class MutedPart(Struct, frozen=True):
    """Part of a finding that one rule mutes.

    `places` are descriptions of places, or empty if the rule is for all places.
    """

    rule: MuteRule
    places: tuple[str, ...]


class Muting(Struct, frozen=True):
    """Mute rules for a report.

    They include the reader's permissions to see and create mutes.

    `scoring` is the basis of the report's score, None if it was not stored. `shows_rules` is True for members, who see
    who muted a finding, why and until when. `mute_url` is the address of the mute form with a query string, to which
    parameters can be appended; empty for readers who may not mute.
    """

    mutes: Mutes
    scoring: StoredBasis | None
    shows_rules: bool
    mute_url: str

    def findings(self, export: ExportJson) -> dict[str, MutedPlaces]:
        return self.mutes.findings(export)

    def held(self, export: ExportJson, muted: Mapping[str, MutedPlaces]) -> str:
        """Return the sentence about caps that lower the score.

        It assumes that muted findings remain unfixed.
        """
        unfixed = {id for id, covered in muted.items() if covered.is_whole}
        if not unfixed or self.scoring is None or not export["held"]:
            return export["held"]
        return score_cap_sentence(self.scoring, [cap["reason"] for cap in export["caps"]], unfixed)

    def fix_steps(self, ids: Sequence[str], muted: Mapping[str, MutedPlaces]) -> Mapping[str, FixStep]:
        """Return what each fix gains if the checks are fixed in this order, and muted findings are not.

        Empty if the basis of the score is not stored, or if other scoring rules made it.
        """
        unfixed = {id for id, covered in muted.items() if covered.is_whole}
        return fix_steps(self.scoring, ids, unfixed) if self.scoring is not None else {}

    def mute_form_url(self, check_id: str) -> str:
        """Return the URL of the form that mutes a finding.

        Empty if the reader may not mute findings.
        """
        return f"{self.mute_url}&{urlencode({'check': check_id})}" if self.mute_url else ""


MUTING_WITHOUT_RULES = Muting(NO_MUTES, None, shows_rules=False, mute_url="")


class ScoreWithout(Struct, frozen=True):
    """Score and grade of a report without its muted findings."""

    score: int
    grade: str


@component("Mute")
class MuteJson(TypedDict):
    """Mute that is in force."""

    id: Annotated[str, identifier("mute")]
    check: str
    host: str
    path_prefix: Annotated[str | None, "Null: the whole host."]
    outcome: Annotated[str | None, "Null: all outcomes of the check."]
    fingerprint: Annotated[Fingerprint | None, "Null: all places."]
    place: Annotated[str | None, "The place in words, if it was muted on a page."]
    reason: str
    by: Annotated[str | None, "A member's address or an API key's name; null if removed."]
    created_at: Timestamp
    expires_at: Timestamp


class MutedFinding(TypedDict):
    """Finding of a report that is muted as a whole or in part."""

    check: str
    title: str
    status: FindingStatus
    severity: SeverityName
    is_whole: Annotated[bool, "False where other places of it are not muted."]
    mutes: list[MuteJson]


@component("ScoreWithout")
class ScoreWithoutMuted(TypedDict):
    """Score and grade as if the muted findings had passed."""

    score: Score
    grade: Grade


@component("ReportMutes")
class ReportMutesJson(TypedDict):
    """Findings of a report that are currently muted, and the score without them."""

    id: ScanId
    score: Score
    grade: Grade
    without_muted: Annotated[
        ScoreWithoutMuted | None,
        "Null where no finding is muted as a whole, and for reports from before mutes.",
    ]
    findings: list[MutedFinding]


def serialize_mute(rule: MuteRule) -> MuteJson:
    return {
        "id": rule.id,
        "check": rule.check_id,
        "host": rule.host,
        "path_prefix": rule.path_prefix or None,
        "outcome": rule.outcome or None,
        "fingerprint": rule.fingerprint or None,
        "place": rule.place or None,
        "reason": rule.reason,
        "by": rule.by or None,
        "created_at": timestamp(rule.created_at),
        "expires_at": timestamp(rule.expires_at),
    }


def muted_parts(finding: ExportedFinding, covered: MutedPlaces) -> tuple[MutedPart, ...]:
    """Group the muted places of a finding by mute rule."""
    places_by_rule: dict[str, list[str]] = {}
    rules = {rule.id: rule for rule in covered.rules.values()}
    for place, text in describe_places(finding).items():
        if place in covered.rules:
            places_by_rule.setdefault(covered.rules[place].id, []).append(text)
    return tuple(
        MutedPart(rules[id], () if rules[id].is_for_all_places else tuple(filter(None, texts)))
        for id, texts in places_by_rule.items()
    )


def without_muted(scoring: StoredBasis | None, muted: Mapping[str, MutedPlaces]) -> ScoreWithout | None:
    """Return score and grade without muted findings.

    Findings that are muted as a whole count as passed.

    None if no finding is muted as a whole, if the basis of the report's score is not stored, or if other scoring rules
    made it.
    """
    passed = {id for id, covered in muted.items() if covered.is_whole}
    score_and_grade = recompute_score(scoring, passed) if passed and scoring is not None else None
    return ScoreWithout(*score_and_grade) if score_and_grade else None


def serialize_muted_findings(export: ExportJson, scoring: StoredBasis | None, mutes: Mutes) -> ReportMutesJson:
    """Return the muted findings of a JSON export as JSON for the API."""
    muted = mutes.findings(export)
    findings: list[MutedFinding] = [
        {
            "check": check["id"],
            "title": check["title"],
            "status": check["status"],
            "severity": check["severity"],
            "is_whole": muted[check["id"]].is_whole,
            "mutes": [serialize_mute(part.rule) for part in muted_parts(check, muted[check["id"]])],
        }
        for category in export["categories"]
        for check in category["checks"]
        if check["status"] != "pass" and check["id"] in muted
    ]
    score, grade = export["score"], export["grade"]
    # Failed scans, which have no score, have no stored report.
    assert score is not None
    assert grade is not None
    without = without_muted(scoring, muted)
    return {
        "id": export["id"],
        "score": score,
        "grade": grade,
        "without_muted": {"score": without.score, "grade": without.grade} if without else None,
        "findings": findings,
    }
