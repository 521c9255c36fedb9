"""Matching of an organization's mute rules with findings. Pure functions; stored reports never change.

A rule mutes a check on a host, optionally only below a path, optionally only at one place (a fingerprint, ADR 11).
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from website_scan.report.places import is_cut, places_of
from website_scan.report_json import ComparableFinding, ComparableJson
from website_scan.urls import Url


@dataclass(frozen=True, slots=True)
class MuteRule:
    """A mute that is in force. `host` includes a port that is not the scheme's default.

    `path_prefix` is empty for the whole host, `outcome` for all outcomes of the check, `fingerprint` for all places.
    `place` is the place in words, `by` the person or API key that made the rule; both may be empty. Times are aware,
    UTC.
    """

    id: str
    check_id: str
    host: str
    path_prefix: str
    outcome: str
    fingerprint: str
    place: str
    reason: str
    by: str
    created_at: datetime
    expires_at: datetime

    @property
    def of_all_places(self) -> bool:
        return not self.fingerprint

    @property
    def address(self) -> str:
        return f"{self.host}{self.path_prefix}"

    def is_about(self, outcome: str, fingerprint: str) -> bool:
        """Return True if the rule mutes a place with this fingerprint of a finding with this outcome."""
        return self.outcome in ("", outcome) and self.fingerprint in ("", fingerprint)

    def covers_page(self, host: str, path: str) -> bool:
        """Return True if the rule covers the page. Compares whole path segments: /shop does not cover /shopping."""
        if host != self.host:
            return False
        return not self.path_prefix or path == self.path_prefix or path.startswith(f"{self.path_prefix}/")


@dataclass(frozen=True, slots=True)
class Covered:
    """The muted places of a finding: the rules by the places' fingerprints, in the finding's order.

    `is_whole` is True if no place is left. If the report cut the list of places, only a rule for all places mutes the
    finding as a whole, because the list may lack places.
    """

    rules: Mapping[str, MuteRule]
    is_whole: bool

    @property
    def rule(self) -> MuteRule:
        """The rule that expires first: from then on, a part of the finding shows again."""
        return min(self.rules.values(), key=lambda rule: rule.expires_at)


class Mutes:
    """The mute rules of one organization in force at one moment."""

    def __init__(self, rules: Iterable[MuteRule] = ()) -> None:
        self._of_check: dict[str, list[MuteRule]] = {}
        # If several rules match, the widest one is shown as the reason; of equally wide ones, the longest-lasting.
        for rule in sorted(rules, key=_width):
            self._of_check.setdefault(rule.check_id, []).append(rule)

    def __bool__(self) -> bool:
        return bool(self._of_check)

    def __iter__(self) -> Iterator[MuteRule]:
        return (rule for rules in self._of_check.values() for rule in rules)

    @property
    def digest(self) -> str:
        """Hash of the rules' IDs, empty without rules. IDs suffice, as a rule's scope never changes."""
        ids = " ".join(sorted(rule.id for rule in self))
        return hashlib.sha256(ids.encode()).hexdigest()[:16] if ids else ""

    def of(self, check_id: str, outcome: str, url: str, fingerprint: str) -> MuteRule | None:
        """Return the rule that mutes this place of a finding on the page `url`, None if it is not muted."""
        rules = self._of_check.get(check_id)
        if not rules:
            return None
        host, path = host_and_path(url)
        about = (rule for rule in rules if rule.is_about(outcome, fingerprint))
        return next((rule for rule in about if rule.covers_page(host, path)), None)

    def of_host(self, check_id: str, outcome: str, host: str, fingerprint: str) -> MuteRule | None:
        """Return the rule that mutes this place of a finding on the whole host, None if there is none."""
        about = (rule for rule in self._of_check.get(check_id, ()) if rule.is_about(outcome, fingerprint))
        return next((rule for rule in about if rule.host == host and not rule.path_prefix), None)

    @property
    def check_ids(self) -> Collection[str]:
        """IDs of the checks for which there are rules."""
        return self._of_check.keys()

    def of_page(self, url: str) -> Mutes:
        """Return the rules that cover the page `url`."""
        host, path = host_and_path(url)
        return Mutes(rule for rule in self if rule.covers_page(host, path))

    def without_reasons(self) -> Mutes:
        """Return the rules without reason and author, for strangers, who may see only what is muted."""
        return Mutes(replace(rule, reason="", by="") for rule in self)

    def covering(self, finding: ComparableFinding, url: str) -> Covered | None:
        """Return the muted places of a failed or warned check on the page `url`; None if none is."""
        if finding["id"] not in self._of_check:
            return None
        places = places_of(finding)
        rules = {
            each: rule for each in places if (rule := self.of(finding["id"], finding["outcome"], url, each)) is not None
        }
        if not rules:
            return None
        may_lack_places = is_cut(finding) and not any(rule.of_all_places for rule in rules.values())
        return Covered(rules, is_whole=len(rules) == len(places) and not may_lack_places)

    def findings(self, document: ComparableJson) -> dict[str, Covered]:
        """Return the muted places of a document's findings, by check ID."""
        if not self:
            return {}
        return {
            check["id"]: covered
            for category in document["categories"]
            for check in category["checks"]
            if check["status"] != "pass" and (covered := self.covering(check, document["url"])) is not None
        }


def host_and_path(url: str) -> tuple[str, str]:
    """Return a canonical URL's host, with a port that is not the scheme's default, and its path without query."""
    parsed = Url.of(url)
    return parsed.host_and_port, parsed.path


def _width(rule: MuteRule) -> tuple[str, str, int, float]:
    return rule.fingerprint, rule.outcome, len(rule.path_prefix), -rule.expires_at.timestamp()


NO_MUTES = Mutes()
