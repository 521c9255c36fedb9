"""Dry runs of journeys: a worker executes all steps and takes a picture of each, and judges nothing.

A dry run is an audit without types, which ends without pages. It needs no quota, and is deleted after a day.
"""

from __future__ import annotations

import functools
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from accounts import usage
from accounts.authentication import Caller
from accounts.models import Organization
from infrastructure.api.idempotency import Once
from scans.idempotency_records import Created
from scans.models import Scan
from scans.visits.claims import ScanClaim, lock_claimed
from scans.visits.ending import log_end
from scans.visits.overload import AUDIT_SHARE_OF_WAIT_LIMIT, refuse_when_overloaded
from scans.visits.tallies import record_ended_scans
from sites.audits.schemas import AuditJson
from sites.audits.services import AuditLimit
from sites.audits.settling import end_dry_run
from sites.journeys.run_results import RunOutcome, insert_steps
from sites.journeys.services import insert_run, start_journey_audit
from sites.models import Audit, AuditPage, Journey
from website_scan.findings import ScanType
from website_scan.journeys.journey import Judge
from website_scan.journeys.walk import StepStatus

# Dry runs need no quota, so they have a rate limit of their own, as site audits have.
DRY_RUNS_PER_HOUR_AND_SLOT = 10
KEPT_DAYS = 1


def dry_run_journey(*, caller: Caller, journey_id: str, once: Once | None = None) -> Created[AuditJson]:
    """Start a dry run of a journey.

    Raises NotFound, the refusals of `refuse_unready`, AuditLimit, and those of audits except that of the quota.
    """

    def refuse(_: Journey) -> None:
        refuse_when_overloaded({ScanType.ACCESSIBILITY}, AUDIT_SHARE_OF_WAIT_LIMIT)

    return start_journey_audit(
        caller=caller, journey_id=journey_id, once=once, action="journey.dry_run", refuse=refuse, insert=_insert
    )


def _insert(journey: Journey, organization: Organization, **columns: Any) -> Audit:
    """Insert the audit of a dry run. Raises AuditLimit."""
    _refuse_over_hourly_limit(organization)
    # The organization may share all reports, but a dry run is a draft.
    options: dict[str, Any] = {"run_of": Audit.RunOf.DRY_RUN, "kept_days": KEPT_DAYS, "shared_at": None}
    return insert_run(journey, organization, types=(), **options, **columns)


def _refuse_over_hourly_limit(organization: Organization) -> None:
    """Raise AuditLimit if too many dry runs were started within an hour.

    Organizations that share the limits of this one are counted as well, and so are cancelled and failed dry runs.
    """
    limit = DRY_RUNS_PER_HOUR_AND_SLOT * organization.tier.concurrent_scans
    dry_runs = Audit.objects.filter(
        organization__in=usage.sharing_limits(organization),
        run_of=Audit.RunOf.DRY_RUN,
        created_at__gt=timezone.now() - timedelta(hours=1),
    )
    if dry_runs.count() >= limit:
        raise AuditLimit(f"{limit} dry runs were started within an hour, which is the most your plan allows.")


def finish_dry_run(claim: ScanClaim, outcome: RunOutcome, cpu_s: float | None) -> bool:
    """Store the steps of a dry run, and end its visit, in one transaction. Returns False if the claim was lost."""
    with transaction.atomic():
        if (planned := lock_claimed(claim)) is None:
            return False
        page = AuditPage.objects.get(scans=claim.scan_id)
        (scan,) = planned.values()
        Scan.objects.filter(id=scan.id).delete()
        page.delete()
        audit = Audit.objects.select_for_update(no_key=True).get(id=page.audit_id)
        audit.notes = [*audit.notes, *outcome.notes]
        audit.pages_found = 0
        audit.save(update_fields=["notes", "pages_found"])
        # A run judges these states. Those that were not reached have cards of their own.
        states = {
            position: step.name
            for position, (step, result) in enumerate(outcome.steps)
            if isinstance(step, Judge) and result.status is StepStatus.DONE
        }
        insert_steps(audit.id, outcome.steps, states)
        end_dry_run(audit, outcome.error)
        # Operators see the visit in the log and in the metrics, although its scan no longer exists.
        scan.status = Scan.Status.FAILED if outcome.error else Scan.Status.COMPLETED
        scan.error_code = outcome.error.code if outcome.error else ""
        scan.completed_at = timezone.now()
        record_ended_scans([scan], cpu_s)
        transaction.on_commit(functools.partial(log_end, scan, claim.attempt, cpu_s))
    return True
