"""Sweeper of audits: lost and interrupted discoveries, and free slots."""

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

REQUEUE_AFTER = timedelta(seconds=30)
AT_ONCE = 200
INTERRUPTED = "The search for its pages was interrupted several times on our side."


def sweep_audits() -> None:
    """Sweep the audits. Idempotent, also with concurrent sweepers."""
    _enqueue_lost()
    _fail_interrupted()
    for organization_id in _organizations_with_waiting_pages():
        dispatch_pages(organization_id)


def _enqueue_lost() -> None:
    now = timezone.now()
    lost = waiting_discoveries().filter(enqueued_at__lt=now - REQUEUE_AFTER)
    for audit_id, enqueued_at in lost.order_by("enqueued_at").values_list("id", "enqueued_at")[:AT_ONCE]:
        # Compare-and-set, so that two concurrent sweepers requeue an audit only once.
        if Audit.objects.filter(id=audit_id, enqueued_at=enqueued_at).update(enqueued_at=now):
            enqueue_discovery(audit_id)


def _fail_interrupted() -> None:
    dead = Audit.objects.filter(DISCOVERY_LEASE.run_out, status=Audit.Status.DISCOVERING, attempts__gte=MAX_ATTEMPTS)
    for audit_id in dead.values_list("id", flat=True)[:AT_ONCE]:
        with transaction.atomic():
            audit = dead.select_for_update(no_key=True, skip_locked=True).filter(id=audit_id).first()
            if audit is not None:
                audit.release()
                audit.error_code, audit.error_message = "SCAN_INTERRUPTED", INTERRUPTED
                fail_audit(audit)
                logger.error("the pages of %s were looked for %d times, giving up", audit_id, MAX_ATTEMPTS)


def _organizations_with_waiting_pages() -> list[int]:
    waiting = AuditPage.objects.filter(audit=OuterRef("pk"), status=AuditPage.Status.WAITING)
    audits = Audit.objects.filter(Exists(waiting), status=Audit.Status.RUNNING)
    return list(audits.order_by().values_list("organization_id", flat=True).distinct())
