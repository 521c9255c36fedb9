"""Match an organization's mute rules with the findings of reports.

A rule mutes a check on a host, optionally only below a path, optionally only at one place (a fingerprint, ADR 11).
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from website_scan.report.places import describe_places, is_cut
from website_scan.report_json import ComparableFinding, ComparableJson
from website_scan.urls import Url


class MuteRule(Struct, frozen=True):
    """Mute rule that is in force.

    `host` includes the port if it is not the default of the scheme.

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
    def is_for_all_places(self) -> bool:
        return not self.fingerprint

    @property
    def address(self) -> str:
        return f"{self.host}{self.path_prefix}"

    def covers_place(self, outcome: str, fingerprint: str) -> bool:
        """Return True if the rule mutes the place in this finding.

        The fingerprint and the outcome must match.
        """
        return self.outcome in ("", outcome) and self.fingerprint in ("", fingerprint)

    def covers_page(self, host: str, path: str) -> bool:
        """Return True if the rule applies to a page.

        A rule for /shop does not apply to /shopping.
        """
        if host != self.host:
            return False
        return not self.path_prefix or path == self.path_prefix or path.startswith(f"{self.path_prefix}/")


class MutedPlaces(Struct, frozen=True):
    """Mute rules of a finding's muted places.

    They are by fingerprint and in the finding's order.

    `is_whole` is True if all places are muted. If the report has cut the list of places, only a rule for all places
    mutes the finding as a whole, because the list may lack places.
    """

    rules: Mapping[str, MuteRule]
    is_whole: bool

    @property
    def rule(self) -> MuteRule:
        """Mute rule that expires first.

        After that, a part of the finding is visible again.
        """
        return min(self.rules.values(), key=lambda rule: rule.expires_at)


class Mutes:
    """All mute rules of an organization that are in force."""

    def __init__(self, rules: Iterable[MuteRule] = ()) -> None:
        self._rules_by_check: dict[str, list[MuteRule]] = {}
        # Of several matching rules, the page displays the widest, then the one that lasts longest.
        for rule in sorted(rules, key=_sort_key_by_width):
            self._rules_by_check.setdefault(rule.check_id, []).append(rule)

    def __bool__(self) -> bool:
        return bool(self._rules_by_check)

    def __iter__(self) -> Iterator[MuteRule]:
        return (rule for rules in self._rules_by_check.values() for rule in rules)

    @property
    def digest(self) -> str:
        """Hash of the IDs of all rules; empty without rules.

        The scope of a rule never changes.
        """
        ids = " ".join(sorted(rule.id for rule in self))
        return hashlib.sha256(ids.encode()).hexdigest()[:16] if ids else ""

    def of(self, check_id: str, outcome: str, url: str, fingerprint: str) -> MuteRule | None:
        """Return the mute rule for a place of a finding on the page `url`.

        None if the place is not muted.
        """
        rules = self._rules_by_check.get(check_id)
        if not rules:
            return None
        host, path = host_and_path(url)
        matching = (rule for rule in rules if rule.covers_place(outcome, fingerprint))
        return next((rule for rule in matching if rule.covers_page(host, path)), None)

    def rule_for_host(self, check_id: str, outcome: str, host: str, fingerprint: str) -> MuteRule | None:
        """Return the rule that mutes a place on every page of the host, or None."""
        matching = (rule for rule in self._rules_by_check.get(check_id, ()) if rule.covers_place(outcome, fingerprint))
        return next((rule for rule in matching if rule.host == host and not rule.path_prefix), None)

    @property
    def check_ids(self) -> Collection[str]:
        """IDs of the checks with mute rules."""
        return self._rules_by_check.keys()

    def of_page(self, url: str) -> Mutes:
        """Return the mute rules that apply to the page `url`."""
        host, path = host_and_path(url)
        return Mutes(rule for rule in self if rule.covers_page(host, path))

    def hide_reasons(self) -> Mutes:
        """Return the mute rules without reasons and authors.

        Readers who are not members of the organization get these.
        """
        return Mutes(replace(rule, reason="", by="") for rule in self)

    def muted_places(self, finding: ComparableFinding, url: str) -> MutedPlaces | None:
        """Return the muted places of a finding on the page `url`.

        None if no place is muted.
        """
        if finding["id"] not in self._rules_by_check:
            return None
        places = describe_places(finding)
        rules = {
            place: rule
            for place in places
            if (rule := self.of(finding["id"], finding["outcome"], url, place)) is not None
        }
        if not rules:
            return None
        may_have_unlisted_places = is_cut(finding) and not any(rule.is_for_all_places for rule in rules.values())
        return MutedPlaces(rules, is_whole=len(rules) == len(places) and not may_have_unlisted_places)

    def findings(self, report: ComparableJson) -> dict[str, MutedPlaces]:
        """Return the muted places of all findings by check ID."""
        if not self:
            return {}
        return {
            check["id"]: covered
            for category in report["categories"]
            for check in category["checks"]
            if check["status"] != "pass" and (covered := self.muted_places(check, report["url"])) is not None
        }


def host_and_path(url: str) -> tuple[str, str]:
    """Return the host and the path of a canonical URL.

    A port that is not the default is included.
    """
    parsed = Url.of(url)
    return parsed.host_and_port, parsed.path


def _sort_key_by_width(rule: MuteRule) -> tuple[str, str, int, float]:
    return rule.fingerprint, rule.outcome, len(rule.path_prefix), -rule.expires_at.timestamp()


NO_MUTES = Mutes()
