"""Mutes applied to the findings of an audit: a finding or place is muted on all, some or none of its pages.

An audit stores a few sample pages of each place, not all. So a place is muted on all pages if rules for whole hosts
cover all hosts of the audit, or if rules for paths cover its pages and all of these are samples; else on some. A
finding is muted on all pages if all of its places are, and all are known.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from sites.models import Audit, AuditFinding, AuditPage, AuditPlace
from sites.models.audit import SamplePage
from website_scan.report.mute_matching import NO_MUTES, MuteRule, Mutes, host_and_path
from website_scan.urls import host_and_port_of

ALL, SOME, NONE = "all", "some", "none"


@dataclass(frozen=True, slots=True)
class MutedOn:
    """Extent of a muting: `pages` is ALL, SOME or NONE; `rules` are the rules that mute, each once."""

    pages: str
    rules: tuple[MuteRule, ...] = ()


UNMUTED = MutedOn(NONE)


class PlaceOnPages(Protocol):
    """Place of a finding, with sample pages: a row of AuditPlace, or what was read of one."""

    @property
    def fingerprint(self) -> str: ...
    @property
    def pages_affected(self) -> int: ...
    @property
    def samples(self) -> list[SamplePage]: ...


class AuditMutes:
    """Active mute rules for the findings of one audit; queries the database only if there are any.

    `shows_rules`: the reader is a member, who may see who muted what, why and until when.
    """

    def __init__(self, audit: Audit, mutes: Mutes = NO_MUTES, *, shows_rules: bool = True) -> None:
        self._audit, self._mutes, self.shows_rules = audit, mutes, shows_rules

    def __bool__(self) -> bool:
        return bool(self._mutes)

    def of(self, findings: Iterable[AuditFinding]) -> dict[int, MutedOn]:
        """Return the extent to which each finding of the audit is muted, by its row ID; at most one query for all."""
        found, candidates = {}, {}
        for each in findings:
            of_hosts = self._of_all_hosts(each)
            found[each.id] = MutedOn(ALL, of_hosts) if of_hosts else UNMUTED
            if not of_hosts and each.check_id in self._mutes.check_ids:
                candidates[each.id] = each
        muted: dict[int, list[MutedOn]] = {id: [] for id in candidates}
        for place in AuditPlace.objects.filter(finding__in=candidates).order_by("id") if candidates else ():
            muted[place.finding_id].append(self.on_place(candidates[place.finding_id], place))
        return found | {id: _together(each) for id, each in muted.items()}

    def on_place(self, finding: AuditFinding, place: PlaceOnPages) -> MutedOn:
        """Return the extent to which a place of a finding is muted."""
        if finding.check_id not in self._mutes.check_ids:
            return UNMUTED
        if of_hosts := self._of_all_hosts(finding, place.fingerprint):
            return MutedOn(ALL, of_hosts)
        outcome = finding.only_outcome
        found = [self._mutes.of(finding.check_id, outcome, each["url"], place.fingerprint) for each in place.samples]
        rules = tuple(dict.fromkeys(filter(None, found)))
        is_all = all(found) and place.pages_affected == len(found)
        return MutedOn(ALL if is_all else SOME if rules else NONE, rules)

    def _of_all_hosts(self, finding: AuditFinding, fingerprint: str = "") -> tuple[MuteRule, ...]:
        """Return the rules that mute a place, or else all places, on all hosts; empty if any host has none."""
        if finding.check_id not in self._mutes.check_ids:
            return ()
        outcome = finding.only_outcome
        found = [self._mutes.of_host(finding.check_id, outcome, host, fingerprint) for host in self._hosts]
        return tuple(rule for rule in found if rule is not None) if all(found) else ()

    @cached_property
    def _hosts(self) -> list[str]:
        if self._audit.kind != Audit.Kind.PAGES:
            # All pages of a site are on one host.
            return [host_and_path(self._audit.url)[0]]
        origins = AuditPage.objects.filter(audit=self._audit).order_by().values_list("origin", flat=True).distinct()
        return sorted({host_and_port_of(origin) for origin in origins})


def _together(places: list[MutedOn]) -> MutedOn:
    """Return the extent to which a finding is muted whose places are muted so far."""
    rules = tuple(dict.fromkeys(rule for each in places for rule in each.rules))
    is_all = 0 < len(places) < AuditPlace.MOST and all(each.pages == ALL for each in places)
    return MutedOn(ALL if is_all else SOME if rules else NONE, rules)
