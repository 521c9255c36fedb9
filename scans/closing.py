"""Signal receivers for closed and deleted organizations.

They end the scans of a closed organization, and delete the counters of a deleted one.
"""

from __future__ import annotations

from django.db.models import Model
from django.utils import timezone

from accounts import access
from accounts.models import Organization
from infrastructure.leases import RELEASED
from scans.models import Scan, ScanCount


def stop_scans(*, organization: Organization, **_: object) -> None:
    """End the unfinished scans of a closed organization as failed.

    Workers lose their claims. No webhook is called.
    """
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
    """Delete the scan counters of a deleted organization.

    Without a foreign key, the database does not delete them.
    """
    ScanCount.objects.filter(organization_id=instance.pk).delete()
