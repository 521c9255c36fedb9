"""What becomes of an organization's scans when it is closed, and of their counters when it is deleted."""

from __future__ import annotations

from django.db.models import Model
from django.utils import timezone

from accounts import access
from accounts.models import Organization
from infrastructure.leases import RELEASED
from scans.models import Scan, ScanCount


def stop_scans(*, organization: Organization, **_: object) -> None:
    """End what waits and what runs: who runs it loses the claim, and writes nothing. No events: nobody is left."""
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
    """They refer to the organization by its number alone."""
    ScanCount.objects.filter(organization_id=instance.pk).delete()
