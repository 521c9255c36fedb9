"""What becomes of an organization's scans and monitors when it is closed, and of their counters when it is deleted."""

from __future__ import annotations

from django.db.models import Model
from django.utils import timezone

from accounts import access
from accounts.models import Organization
from scans.audits.services import cancel
from scans.models import Audit, Monitor, Scan, ScanCount


def stop_scans(*, organization: Organization, **_: object) -> None:
    """End what waits and what runs: who runs it loses the claim, and writes nothing. No events: nobody is left."""
    unfinished = access.rows(Scan, organization.id).filter(status__in=(Scan.Status.QUEUED, Scan.Status.SCANNING))
    # Scans before audits, as who ends a visit locks them.
    stopped = [each.pk for each in unfinished.locked().only("pk")]  # type: ignore[attr-defined]  # ScanQuerySet
    Scan.objects.filter(pk__in=stopped).update(
        status=Scan.Status.FAILED,
        completed_at=timezone.now(),
        percent=100,
        phase="done",
        claim_token=None,
        lease_expires_at=None,
        error_code="SCAN_CANCELLED",
        error_message="The organization was deleted.",
    )
    audits = access.rows(Audit, organization.id).unfinished()  # type: ignore[attr-defined]  # AuditQuerySet
    for audit in audits.select_for_update(no_key=True).order_by("id"):
        cancel(audit)
    access.rows(Monitor, organization.id).update(next_run_at=None)
    for model in (Scan, Audit, Monitor):
        kept = access.rows(model, organization.id).filter(encrypted_credentials__isnull=False)
        kept.update(encrypted_credentials=None)


def forget_counts(*, instance: Model, **_: object) -> None:
    """They refer to the organization by its number alone."""
    ScanCount.objects.filter(organization_id=instance.pk).delete()
