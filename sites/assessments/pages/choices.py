"""Audits that a form offers for an assessment."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import QuerySet

from accounts import access
from infrastructure.web.time_zones import with_zone
from sites.audits.conformance import TYPE
from sites.models import Assessment, Audit
from website_scan.messages import counted, cut
from website_scan.urls import host_and_port_of

MAX_CHOICES = 50
# Number of the newest ended audits of which those of accessibility are offered.
MAX_EXAMINED = 1_000


def assessable_audits(organization_id: int, audit_id: str = "") -> list[Audit]:
    """Return the newest ended audits with accessibility results, and the audit with this ID, if it is one."""
    audits = _ended_audits(organization_id)
    choices = _kept(audits.filter(id__in=_newest(audits)))
    if audit_id and audit_id not in {audit.id for audit in choices}:
        choices = [*_kept(audits.filter(id=audit_id)), *choices]
    return choices[:MAX_CHOICES]


def later_audits(assessment: Assessment) -> list[Audit]:
    """Return ended audits of the assessment's site that are not older than its automatic results, newest first."""
    host = host_and_port_of(assessment.url)
    audits = _ended_audits(assessment.organization_id).exclude(id=assessment.audit_id)
    if assessment.evidence_at is not None:
        audits = audits.filter(completed_at__gte=assessment.evidence_at)
    candidates = audits.filter(id__in=_newest(audits), url__icontains=host.partition(":")[0])
    return [audit for audit in _kept(candidates) if host_and_port_of(audit.url) == host][:MAX_CHOICES]


def choices_of(audits: Iterable[Audit]) -> list[tuple[str, str]]:
    """Return the audits as choices of a form, with the address, the number of pages and the time."""
    return [(audit.id, _label(audit)) for audit in audits]


def _label(audit: Audit) -> str:
    ended_at = with_zone(audit.completed_at or audit.created_at)
    return f"{cut(audit.url, 100)} · {counted(audit.pages_done, 'page')} · {ended_at}"


def _ended_audits(organization_id: int) -> QuerySet[Audit]:
    return access.rows(Audit, organization_id).filter(status__in=Audit.FINAL).order_by("-created_at", "-id")


def _newest(audits: QuerySet[Audit]) -> QuerySet[Audit, str]:
    return audits.values_list("id", flat=True)[:MAX_EXAMINED]


def _kept(audits: QuerySet[Audit]) -> list[Audit]:
    """Return the audits with accessibility results whose reports have not expired."""
    judged = audits.filter(types__contains=[TYPE], **{f"totals__{TYPE}__pages__gt": 0})
    return [audit for audit in judged.defer("encrypted_credentials")[: 2 * MAX_CHOICES] if audit.is_kept]
