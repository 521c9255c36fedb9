"""Mutes applied to the findings of an audit.

A finding or place is muted on all, some or none of its pages. An audit stores a few sample pages of each place, not
all. So a place is muted on all pages if rules for whole hosts cover all hosts of the audit, or if rules for paths cover
its sample pages and there are no other pages; else on some. A finding is muted on all pages if all of its places are,
and all places are stored.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Protocol

from msgspec import Struct

from sites.models import Audit, AuditFinding, AuditPage, AuditPlace
from sites.models.audit import SamplePage
from website_scan.report.mute_matching import NO_MUTES, MuteRule, Mutes, host_and_path
from website_scan.urls import host_and_port_of

ALL, SOME, NONE = "all", "some", "none"


class MutedOn(Struct, frozen=True):
    """Pages on which a finding or place is muted, and the rules that mute it.

    `pages` is ALL, SOME or NONE.
    """

    pages: str
    rules: tuple[MuteRule, ...] = ()


UNMUTED = MutedOn(NONE)


class PlaceOnPages(Protocol):
    """Place of a finding with sample pages, as an AuditPlace or a PlaceRow."""

    @property
    def fingerprint(self) -> str: ...
    @property
    def pages_affected(self) -> int: ...
    @property
    def samples(self) -> list[SamplePage]: ...


class AuditMutes:
    """Active mute rules for the findings of one audit.

    Without rules, the database is not queried.

    `shows_rules` is True if the reader is a member, who may see who muted a finding, why and until when.
    """

    def __init__(self, audit: Audit, mutes: Mutes = NO_MUTES, *, shows_rules: bool = True) -> None:
        self._audit, self._mutes, self.shows_rules = audit, mutes, shows_rules

    def __bool__(self) -> bool:
        return bool(self._mutes)

    def of(self, findings: Iterable[AuditFinding]) -> dict[int, MutedOn]:
        """Return on which pages the findings are muted, by row ID.

        Executes at most one query.
        """
        muted_by_finding, candidates = {}, {}
        for finding in findings:
            host_rules = self._host_rules(finding)
            muted_by_finding[finding.id] = MutedOn(ALL, host_rules) if host_rules else UNMUTED
            if not host_rules and finding.check_id in self._mutes.check_ids:
                candidates[finding.id] = finding
        muted_places: dict[int, list[MutedOn]] = {id: [] for id in candidates}
        for place in AuditPlace.objects.filter(finding__in=candidates).order_by("id") if candidates else ():
            muted_places[place.finding_id].append(self.place_muting(candidates[place.finding_id], place))
        return muted_by_finding | {id: _combine_places(places) for id, places in muted_places.items()}

    def place_muting(self, finding: AuditFinding, place: PlaceOnPages) -> MutedOn:
        """Return whether a place of a finding is muted on all, some or none of its pages."""
        if finding.check_id not in self._mutes.check_ids:
            return UNMUTED
        if host_rules := self._host_rules(finding, place.fingerprint):
            return MutedOn(ALL, host_rules)
        outcome = finding.only_outcome
        page_rules = [
            self._mutes.of(finding.check_id, outcome, page["url"], place.fingerprint) for page in place.samples
        ]
        rules = tuple(dict.fromkeys(filter(None, page_rules)))
        covers_all_pages = all(page_rules) and place.pages_affected == len(page_rules)
        return MutedOn(ALL if covers_all_pages else SOME if rules else NONE, rules)

    def _host_rules(self, finding: AuditFinding, fingerprint: str = "") -> tuple[MuteRule, ...]:
        """Return one mute rule per host for the place, or nothing if a host has no matching rule.

        Without a fingerprint, the rules must mute all places.
        """
        if finding.check_id not in self._mutes.check_ids:
            return ()
        outcome = finding.only_outcome
        rules = [self._mutes.rule_for_host(finding.check_id, outcome, host, fingerprint) for host in self._hosts]
        return tuple(rule for rule in rules if rule is not None) if all(rules) else ()

    @cached_property
    def _hosts(self) -> list[str]:
        if self._audit.kind in (Audit.Kind.PAGE, Audit.Kind.SITE):
            # All pages of a site have the same host.
            return [host_and_path(self._audit.url)[0]]
        origins = AuditPage.objects.filter(audit=self._audit).order_by().values_list("origin", flat=True).distinct()
        return sorted({host_and_port_of(origin) for origin in origins})


def _combine_places(places: list[MutedOn]) -> MutedOn:
    """Combine the mutes of a finding's places into the finding's own."""
    rules = tuple(dict.fromkeys(rule for place in places for rule in place.rules))
    covers_all_places = 0 < len(places) < AuditPlace.MOST and all(place.pages == ALL for place in places)
    return MutedOn(ALL if covers_all_places else SOME if rules else NONE, rules)
