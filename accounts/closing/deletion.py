"""Delete the rows of closed organizations and accounts in small transactions."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import CASCADE

from accounts.models import Organization, User
from infrastructure.postgresql.deletion import delete_with_references

# The grace period is longer than any request that began before the closing. Later requests have no valid key and no
# membership.
GRACE_PERIOD = timedelta(minutes=2)


def delete_closed(now: datetime, time_limit_s: float) -> bool:
    """Delete organizations and accounts closed at least `GRACE_PERIOD` before `now`.

    Returns False if time ran out.
    """
    deadline = time.monotonic() + time_limit_s

    def has_time_left() -> bool:
        return time.monotonic() <= deadline

    for organization in Organization.objects.filter(closed_at__lte=now - GRACE_PERIOD).order_by("closed_at"):
        if not _delete_organization(organization, has_time_left):
            return False
    for user in User.objects.filter(closed_at__lte=now - GRACE_PERIOD):
        if not has_time_left():
            return False
        user.delete()
    return True


def _delete_organization(organization: Organization, has_time_left: Callable[[], bool]) -> bool:
    # The reverse order deletes dependent rows first: deleting a key before its scans would search all scans.
    for relation in reversed(Organization._meta.related_objects):
        if relation.on_delete is not CASCADE:
            continue
        rows = relation.related_model._default_manager.filter(organization_id=organization.pk)
        if not delete_with_references(rows, has_time_left):
            return False
    with transaction.atomic():
        # This lock prevents inserts of rows that refer to the organization. Earlier rows are deleted by the cascade.
        Organization.objects.select_for_update().get(pk=organization.pk).delete()
    return True
