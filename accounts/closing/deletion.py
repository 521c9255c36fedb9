"""Deletion of the rows of closed organizations and accounts, in small transactions."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import CASCADE

from accounts.models import Organization, User
from infrastructure.postgresql.deletion import delete_with_references

# Longer than any request that began before the closing. Later requests have no valid key and no membership.
GRACE = timedelta(minutes=2)


def delete_closed(now: datetime, time_limit_s: float) -> bool:
    """Delete organizations and accounts closed at least `GRACE` before `now`. Returns False if the time ran out."""
    deadline = time.monotonic() + time_limit_s

    def has_time() -> bool:
        return time.monotonic() <= deadline

    for organization in Organization.objects.filter(closed_at__lte=now - GRACE).order_by("closed_at"):
        if not _delete_organization(organization, has_time):
            return False
    for user in User.objects.filter(closed_at__lte=now - GRACE):
        if not has_time():
            return False
        user.delete()
    return True


def _delete_organization(organization: Organization, has_time: Callable[[], bool]) -> bool:
    # In reverse order, dependent rows are deleted first: deleting a key before its scans would search all scans.
    for relation in reversed(Organization._meta.related_objects):
        if relation.on_delete is not CASCADE:
            continue
        rows = relation.related_model._default_manager.filter(organization_id=organization.pk)
        if not delete_with_references(rows, has_time):
            return False
    with transaction.atomic():
        # Under this lock, no row that refers to the organization can be inserted. Rows inserted before are deleted too.
        Organization.objects.select_for_update().get(pk=organization.pk).delete()
    return True
