"""Signal receivers that end an organization's scans when it is closed, and delete its counters when it is deleted."""

from __future__ import annotations

from django.db.models import Model
from django.utils import timezone

from accounts import access
from accounts.models import Organization
from infrastructure.leases import RELEASED
from scans.models import Scan, ScanCount


def stop_scans(*, organization: Organization, **_: object) -> None:
    """End queued and running scans as failed. Workers lose their claims and write nothing. No webhook event is sent."""
    scans = access.rows(Scan, organization.id)
    unfinished = scans.filter(status__in=(Scan.Status.QUEUED, Scan.Status.SCANNING))
    scan_ids = [scan.pk for scan in unfinished.locked().only("pk")]  # type: ignore[attr-defined]  # ScanQuerySet
    Scan.objects.filter(pk__in=scan_ids).update(
        status=Scan.Status.FAILED,
        completed_at=timezone.now(),
        percent=100,
        phase="done",
        **RELEASED,
        error_code="SCAN_CANCELLED",
        error_message="The organization was deleted.",
    )
    scans.filter(encrypted_credentials__isnull=False).update(encrypted_credentials=None)


def delete_counts(*, instance: Model, **_: object) -> None:
    """Delete the organization's scan counters. They have no foreign key, so the database does not cascade to them."""
    ScanCount.objects.filter(organization_id=instance.pk).delete()
