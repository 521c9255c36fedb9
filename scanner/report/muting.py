"""What of a report is muted, as its page and the API tell it. No database here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from scanner.fingerprints import fingerprints
from scanner.report.mute_matching import NO_MUTES, Covered, MuteRule, Mutes
from scanner.scoring import score_without


@dataclass(frozen=True, slots=True)
class MutedPart:
    """What one rule mutes of a finding: `places` in words, empty where it is all of it."""

    rule: MuteRule
    places: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Muting:
    """The mutes that apply to a report, and how much the person who reads it may see of them.

    `scoring` is what the report's score was worked out from, None where that was not kept. `shows_rules`: who muted it,
    why and until when, which only members learn. `mute_url` is where its findings can be muted, with room for more
    parameters; empty for those who may not.
    """

    mutes: Mutes
    scoring: Mapping[str, Any] | None
    shows_rules: bool
    mute_url: str

    def findings(self, document: Mapping[str, Any]) -> dict[str, Covered]:
        return self.mutes.findings(document)

    def url_of(self, check_id: str) -> str:
        """Where this finding can be muted."""
        return f"{self.mute_url}&{urlencode({'check': check_id})}" if self.mute_url else ""


NOTHING_MUTED = Muting(NO_MUTES, None, shows_rules=False, mute_url="")


@dataclass(frozen=True, slots=True)
class ScoreWithout:
    """What a report's score would be without what is muted."""

    score: int
    grade: str


def muted_parts(check: Mapping[str, Any], url: str, covered: Covered) -> tuple[MutedPart, ...]:
    """What is muted of a finding of a JSON export, by rule."""
    by_rule: dict[str, list[str]] = {}
    rules = {rule.id: rule for rule in covered.rules.values()}
    for place, text in fingerprints(check["id"], check["evidence"], url).items():
        if place in covered.rules:
            by_rule.setdefault(covered.rules[place].id, []).append(text)
    return tuple(
        MutedPart(rules[id], () if rules[id].of_all_places else tuple(filter(None, texts)))
        for id, texts in by_rule.items()
    )


def without_muted(scoring: Mapping[str, Any] | None, muted: Mapping[str, Covered]) -> ScoreWithout | None:
    """The score as if all that is muted altogether had passed.

    None where nothing is, and for reports that do not hold what it takes, or were made by other rules.
    """
    passed = {id for id, covered in muted.items() if covered.is_whole}
    found = score_without(scoring, passed) if passed and scoring is not None else None
    return ScoreWithout(*found) if found else None


def muted_of_report(document: Mapping[str, Any], scoring: Mapping[str, Any] | None, mutes: Mutes) -> dict[str, Any]:
    """What the API tells of the mutes of a JSON export."""
    muted = mutes.findings(document)
    findings = [
        {
            "check": check["id"],
            "title": check.get("title", check["name"]),
            "status": check["status"],
            "severity": check["severity"],
            "is_whole": muted[check["id"]].is_whole,
            "mutes": [part.rule for part in muted_parts(check, document["url"], muted[check["id"]])],
        }
        for category in document["categories"]
        for check in category["checks"]
        if check["id"] in muted
    ]
    return {
        "id": document["id"],
        "score": document["score"],
        "grade": document["grade"],
        "without_muted": without_muted(scoring, muted),
        "findings": findings,
    }
