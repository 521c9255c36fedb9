"""Sweeper that enqueues lost discoveries again, fails interrupted ones, and dispatches waiting pages."""

from __future__ import annotations

import logging
from datetime import timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from sites.audits.dispatch import dispatch_pages
from sites.audits.services import (
    DISCOVERY_LEASE,
    MAX_ATTEMPTS,
    enqueue_discovery,
    fail_audit,
    waiting_discoveries,
)
from sites.models import Audit, AuditPage

logger = logging.getLogger(__name__)

REQUEUE_DELAY = timedelta(seconds=30)
MAX_AUDITS_PER_SWEEP = 200
INTERRUPTED = "The search for its pages was interrupted several times on our side."


def sweep_audits() -> None:
    """Recover audits whose discovery or dispatch was lost.

    Idempotent, even with concurrent sweepers.
    """
    _enqueue_lost_discoveries()
    _fail_interrupted_discoveries()
    for organization_id in _organizations_with_waiting_pages():
        dispatch_pages(organization_id)


def _enqueue_lost_discoveries() -> None:
    now = timezone.now()
    lost_discoveries = waiting_discoveries().filter(enqueued_at__lt=now - REQUEUE_DELAY)
    for audit_id, enqueued_at in lost_discoveries.order_by("enqueued_at").values_list("id", "enqueued_at")[
        :MAX_AUDITS_PER_SWEEP
    ]:
        # Compare-and-set, so that two concurrent sweepers requeue an audit only once.
        if Audit.objects.filter(id=audit_id, enqueued_at=enqueued_at).update(enqueued_at=now):
            enqueue_discovery(audit_id)


def _fail_interrupted_discoveries() -> None:
    interrupted_audits = Audit.objects.filter(
        DISCOVERY_LEASE.run_out, status=Audit.Status.DISCOVERING, attempts__gte=MAX_ATTEMPTS
    )
    for audit_id in interrupted_audits.values_list("id", flat=True)[:MAX_AUDITS_PER_SWEEP]:
        with transaction.atomic():
            audit = interrupted_audits.select_for_update(no_key=True, skip_locked=True).filter(id=audit_id).first()
            if audit is not None:
                audit.release()
                audit.error_code, audit.error_message = "SCAN_INTERRUPTED", INTERRUPTED
                fail_audit(audit)
                logger.error("discovery of the pages of %s was interrupted %d times, giving up", audit_id, MAX_ATTEMPTS)


def _organizations_with_waiting_pages() -> list[int]:
    waiting = AuditPage.objects.filter(audit=OuterRef("pk"), status=AuditPage.Status.WAITING)
    audits = Audit.objects.filter(Exists(waiting), status=Audit.Status.RUNNING)
    return list(audits.order_by().values_list("organization_id", flat=True).distinct())
