"""Receivers that end an organization's scans when it is closed, and delete their counters when it is deleted."""

from __future__ import annotations

from django.db.models import Model
from django.utils import timezone

from accounts import access
from accounts.models import Organization
from infrastructure.leases import RELEASED
from scans.models import Scan, ScanCount


def stop_scans(*, organization: Organization, **_: object) -> None:
    """End queued and running scans. Workers lose their claims and write nothing; no receiver is left for events."""
    scans = access.rows(Scan, organization.id)
    unfinished = scans.filter(status__in=(Scan.Status.QUEUED, Scan.Status.SCANNING))
    stopped = [each.pk for each in unfinished.locked().only("pk")]  # type: ignore[attr-defined]  # ScanQuerySet
    Scan.objects.filter(pk__in=stopped).update(
        status=Scan.Status.FAILED,
        completed_at=timezone.now(),
        percent=100,
        phase="done",
        **RELEASED,
        error_code="SCAN_CANCELLED",
        error_message="The organization was deleted.",
    )
    scans.filter(encrypted_credentials__isnull=False).update(encrypted_credentials=None)


def forget_counts(*, instance: Model, **_: object) -> None:
    """Delete the organization's counters, which have no foreign key to it and so do not follow its deletion."""
    ScanCount.objects.filter(organization_id=instance.pk).delete()
