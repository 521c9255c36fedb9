"""Mutes applied to the findings of an audit: a finding is muted on all, some or none of its pages.

An audit stores a few sample pages of each finding, not all. So a finding is muted on all pages if rules for whole hosts
cover all hosts of the audit, or if rules for paths cover its pages and all of these are samples; else on some.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlsplit

from django.db.models import QuerySet

from scanner.report.mute_matching import NO_MUTES, MuteRule, Mutes, host_and_path
from sites.models import Audit, AuditFinding, AuditPage
from sites.models.audit import SamplePage

ALL, SOME, NONE = "all", "some", "none"


@dataclass(frozen=True, slots=True)
class MutedOn:
    """Extent of a finding's muting: `pages` is ALL, SOME or NONE; `rules` are the rules that mute it, each once."""

    pages: str
    rules: tuple[MuteRule, ...] = ()


class AuditMutes:
    """Active mute rules for the findings of one audit; queries the database only if there are any.

    `shows_rules`: the reader is a member, who may see who muted what, why and until when.
    """

    def __init__(self, audit: Audit, mutes: Mutes = NO_MUTES, *, shows_rules: bool = True) -> None:
        self._audit, self._mutes, self.shows_rules = audit, mutes, shows_rules

    def __bool__(self) -> bool:
        return bool(self._mutes)

    def on(self, finding: AuditFinding) -> MutedOn:
        """Return the extent to which a finding of the audit is muted."""
        if finding.check_id not in self._mutes.check_ids:
            return MutedOn(NONE)
        of_hosts = self._of_all_hosts(finding.check_id, finding.fingerprint)
        if of_hosts:
            return MutedOn(ALL, of_hosts)
        found = self._of_samples(finding.check_id, finding.fingerprint, finding.samples)
        rules = tuple(dict.fromkeys(filter(None, found)))
        is_all = all(found) and finding.pages_affected == len(found)
        return MutedOn(ALL if is_all else SOME if rules else NONE, rules)

    def muted(self, findings: QuerySet[AuditFinding]) -> list[int]:
        """Return the row IDs of findings that are muted on all of their pages."""
        if not self:
            return []
        candidates = findings.order_by().filter(check_id__in=self._mutes.check_ids)
        rows = list(candidates.values_list("id", "check_id", "fingerprint", "pages_affected"))
        by_host = {id for id, check_id, place, _ in rows if self._of_all_hosts(check_id, place)}
        # All pages of these findings are known, because they have no more than the samples.
        known = [id for id, _, _, pages in rows if id not in by_host and pages <= AuditFinding.SAMPLES]
        sampled = candidates.filter(id__in=known).values_list(
            "id", "check_id", "fingerprint", "pages_affected", "samples"
        )
        by_page = {
            id
            for id, check_id, place, pages, samples in sampled
            if len(samples) == pages and all(self._of_samples(check_id, place, samples))
        }
        return sorted(by_host | by_page)

    def _of_all_hosts(self, check_id: str, fingerprint: str) -> tuple[MuteRule, ...]:
        """Return the rules that mute a finding on all hosts of the audit; empty if any host has none."""
        found = [self._mutes.of_host(check_id, host, fingerprint) for host in self._hosts]
        return tuple(rule for rule in found if rule is not None) if all(found) else ()

    def _of_samples(self, check_id: str, fingerprint: str, samples: list[SamplePage]) -> list[MuteRule | None]:
        return [self._mutes.of(check_id, each["url"], fingerprint) for each in samples]

    @cached_property
    def _hosts(self) -> list[str]:
        if self._audit.kind != Audit.Kind.PAGES:
            # All pages of a site are on one host.
            return [host_and_path(self._audit.url)[0]]
        origins = AuditPage.objects.filter(audit=self._audit).order_by().values_list("origin", flat=True).distinct()
        return sorted({urlsplit(origin).netloc for origin in origins})
