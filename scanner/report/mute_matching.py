"""Which findings an organization has muted. Pure: rules in, answers out; stored reports never change.

A rule is about a check on a host, perhaps only below a path, perhaps only at one place (a fingerprint, ADR 21).
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from scanner.fingerprints import EVIDENCE_ITEMS, fingerprints


@dataclass(frozen=True, slots=True)
class MuteRule:
    """A mute that is in force. `host` has its port where that is not the scheme's own.

    `path_prefix` is empty for the whole host, `fingerprint` for all places of the check. `place` is the place in words,
    `by` who made the rule; both may be empty. Times are aware, UTC.
    """

    id: str
    check_id: str
    host: str
    path_prefix: str
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

    def covers_page(self, host: str, path: str) -> bool:
        """Whether the rule is about that page. `path` is compared by whole segments: /shop is not about /shopping."""
        if host != self.host:
            return False
        return not self.path_prefix or path == self.path_prefix or path.startswith(f"{self.path_prefix}/")


@dataclass(frozen=True, slots=True)
class Covered:
    """What is muted of one finding: `rules` by the fingerprints of its muted places, in the finding's order.

    `is_whole` tells whether nothing of it is left. Places of a list that the report cut may be missing in it, so only
    a rule for all places mutes such a finding as a whole.
    """

    rules: Mapping[str, MuteRule]
    is_whole: bool

    @property
    def rule(self) -> MuteRule:
        """The one that ends first: from then on something of it shows again."""
        return min(self.rules.values(), key=lambda rule: rule.expires_at)


class Mutes:
    """The rules of one organization that are in force at one moment."""

    def __init__(self, rules: Iterable[MuteRule] = ()) -> None:
        self._of_check: dict[str, list[MuteRule]] = {}
        # The widest rule is the reason that is given; among equals the one that lasts longest.
        for rule in sorted(rules, key=_width):
            self._of_check.setdefault(rule.check_id, []).append(rule)

    def __bool__(self) -> bool:
        return bool(self._of_check)

    def __iter__(self) -> Iterator[MuteRule]:
        return (rule for rules in self._of_check.values() for rule in rules)

    @property
    def digest(self) -> str:
        """Tells sets of rules apart: what a rule covers never changes. Empty without any."""
        ids = " ".join(sorted(rule.id for rule in self))
        return hashlib.sha256(ids.encode()).hexdigest()[:16] if ids else ""

    def of(self, check_id: str, url: str, fingerprint: str) -> MuteRule | None:
        """The rule that mutes this place of the check on the page `url`, None where it is not muted."""
        rules = self._of_check.get(check_id)
        if not rules:
            return None
        host, path = host_and_path(url)
        about = (rule for rule in rules if rule.fingerprint in ("", fingerprint))
        return next((rule for rule in about if rule.covers_page(host, path)), None)

    def of_host(self, check_id: str, host: str, fingerprint: str) -> MuteRule | None:
        """The rule that mutes this place of the check wherever it is on the host."""
        about = (rule for rule in self._of_check.get(check_id, ()) if rule.fingerprint in ("", fingerprint))
        return next((rule for rule in about if rule.host == host and not rule.path_prefix), None)

    @property
    def check_ids(self) -> Collection[str]:
        """The checks of which anything is muted anywhere."""
        return self._of_check.keys()

    def of_page(self, url: str) -> Mutes:
        """Those that are about the page `url`."""
        host, path = host_and_path(url)
        return Mutes(rule for rule in self if rule.covers_page(host, path))

    def without_reasons(self) -> Mutes:
        """The same for strangers: they learn what is muted, but neither why nor by whom."""
        return Mutes(replace(rule, reason="", by="") for rule in self)

    def covering(self, check: Mapping[str, Any], url: str) -> Covered | None:
        """What is muted of a failed or warned check of a JSON export on the page `url`; None where nothing is."""
        if check["id"] not in self._of_check:
            return None
        evidence = check["evidence"]
        places = fingerprints(check["id"], evidence, url)
        rules = {each: rule for each in places if (rule := self.of(check["id"], url, each)) is not None}
        if not rules:
            return None
        is_cut = len(evidence) >= EVIDENCE_ITEMS and not any(rule.of_all_places for rule in rules.values())
        return Covered(rules, is_whole=len(rules) == len(places) and not is_cut)

    def findings(self, document: Mapping[str, Any]) -> dict[str, Covered]:
        """What is muted of the findings of a JSON export, by the checks' IDs."""
        if not self:
            return {}
        return {
            check["id"]: covered
            for category in document["categories"]
            for check in category["checks"]
            if check["status"] != "pass" and (covered := self.covering(check, document["url"])) is not None
        }


def host_and_path(url: str) -> tuple[str, str]:
    """Of a canonical URL: the host with a port that is not the scheme's own, and the path without a query."""
    parts = urlsplit(url)
    return parts.netloc, parts.path


def _width(rule: MuteRule) -> tuple[str, int, float]:
    return rule.fingerprint, len(rule.path_prefix), -rule.expires_at.timestamp()


NO_MUTES = Mutes()
