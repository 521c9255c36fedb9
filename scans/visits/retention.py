"""Rows of scans, which stay for ever unless the organization's plan says something else."""

from __future__ import annotations

from collections.abc import Callable

from accounts import access
from accounts.closing.retention import with_expired
from infrastructure.postgresql.deletion import delete_with_what_refers
from scans.models import Scan


def delete_old(has_time: Callable[[], bool]) -> bool:
    """Delete scans that are kept no longer, with what refers to them; False when the time was not enough for all.

    Those of an audit stay as long as it does, and what has not ended stays. Their counters follow by themselves.
    """
    for organization_id, before in with_expired(Scan, "scans_kept_days", "created_at"):
        ended = access.rows(Scan, int(organization_id)).filter(status__in=sorted(Scan.FINAL), audit_page=None)
        if not delete_with_what_refers(ended.filter(created_at__lt=before), has_time):
            return False
    return True
