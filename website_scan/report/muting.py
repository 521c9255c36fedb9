"""Muted findings of a report, for its page and for the API. Without database access."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypedDict
from urllib.parse import urlencode

from website_scan.document import ExportDocument, ExportedFinding, StoredBasis
from website_scan.report.held import held
from website_scan.report.mute_matching import NO_MUTES, Covered, MuteRule, Mutes
from website_scan.report.places import places_of
from website_scan.score_basis import score_without


@dataclass(frozen=True, slots=True)
class MutedPart:
    """The part of a finding that one rule mutes: `places` in words, empty if the rule is for all places."""

    rule: MuteRule
    places: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Muting:
    """The mutes that apply to a report, and how much of them its reader may see.

    `scoring` is the basis of the report's score, None if it was not stored. `shows_rules` is True for members, who see
    who muted a finding, why and until when. `mute_url` is the address of the mute form with a query string, to which
    parameters can be appended; empty for readers who may not mute.
    """

    mutes: Mutes
    scoring: StoredBasis | None
    shows_rules: bool
    mute_url: str

    def findings(self, document: ExportDocument) -> dict[str, Covered]:
        return self.mutes.findings(document)

    def held(self, document: ExportDocument, muted: Mapping[str, Covered]) -> str:
        """Return the sentence on what holds the score. Findings that are muted as a whole stay unfixed in it."""
        spared = {id for id, covered in muted.items() if covered.is_whole}
        if not spared or self.scoring is None or not document["held"]:
            return document["held"]
        return held(self.scoring, [cap["reason"] for cap in document["caps"]], spared)

    def url_of(self, check_id: str) -> str:
        """Return the address of the form that mutes this finding, empty if the reader may not."""
        return f"{self.mute_url}&{urlencode({'check': check_id})}" if self.mute_url else ""


NOTHING_MUTED = Muting(NO_MUTES, None, shows_rules=False, mute_url="")


@dataclass(frozen=True, slots=True)
class ScoreWithout:
    """Score and grade of a report without its muted findings."""

    score: int
    grade: str


class MutedFinding(TypedDict):
    """Finding that is muted as a whole or in part."""

    check: str
    title: str
    status: str
    severity: str
    is_whole: bool
    mutes: list[MuteRule]


class MutedOfReport(TypedDict):
    """The API's document on the muted findings of a report; `reports.mutes.serializers` writes it."""

    id: str
    score: int | None
    grade: str | None
    without_muted: ScoreWithout | None
    findings: list[MutedFinding]


def muted_parts(finding: ExportedFinding, url: str, covered: Covered) -> tuple[MutedPart, ...]:
    """Return the muted parts of a finding of a JSON export, one for each rule."""
    by_rule: dict[str, list[str]] = {}
    rules = {rule.id: rule for rule in covered.rules.values()}
    for place, text in places_of(finding, url).items():
        if place in covered.rules:
            by_rule.setdefault(covered.rules[place].id, []).append(text)
    return tuple(
        MutedPart(rules[id], () if rules[id].of_all_places else tuple(filter(None, texts)))
        for id, texts in by_rule.items()
    )


def without_muted(scoring: StoredBasis | None, muted: Mapping[str, Covered]) -> ScoreWithout | None:
    """Return the score as if all findings that are muted as a whole had passed.

    None if there are none, if the report has no stored basis of its score, or if it was made by other scoring rules.
    """
    passed = {id for id, covered in muted.items() if covered.is_whole}
    found = score_without(scoring, passed) if passed and scoring is not None else None
    return ScoreWithout(*found) if found else None


def muted_of_report(document: ExportDocument, scoring: StoredBasis | None, mutes: Mutes) -> MutedOfReport:
    """Return the API's document on the muted findings of a JSON export."""
    muted = mutes.findings(document)
    findings: list[MutedFinding] = [
        {
            "check": check["id"],
            "title": check["title"],
            "status": check["status"],
            "severity": check["severity"],
            "is_whole": muted[check["id"]].is_whole,
            "mutes": [part.rule for part in muted_parts(check, document["url"], muted[check["id"]])],
        }
        for category in document["categories"]
        for check in category["checks"]
        if check["status"] != "pass" and check["id"] in muted
    ]
    return {
        "id": document["id"],
        "score": document["score"],
        "grade": document["grade"],
        "without_muted": without_muted(scoring, muted),
        "findings": findings,
    }
