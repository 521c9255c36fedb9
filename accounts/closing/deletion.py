"""The rows of what was closed, deleted in small transactions."""

from __future__ import annotations

import time
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import CASCADE

from accounts.models import Organization, User
from config.postgresql.deletion import delete_with_what_refers

# Longer than any request that began before; one that looks later finds no key and no membership.
GRACE = timedelta(minutes=2)


class OutOfTime(Exception):
    """The next run goes on."""


def delete_closed(now: datetime, time_limit_s: float) -> bool:
    """Delete what was closed `GRACE` before `now`; False when the time was not enough for all."""
    deadline = time.monotonic() + time_limit_s
    try:
        for organization in Organization.objects.filter(closed_at__lte=now - GRACE).order_by("closed_at"):
            _delete_organization(organization, deadline)
        for user in User.objects.filter(closed_at__lte=now - GRACE):
            _check(deadline)
            user.delete()
    except OutOfTime:
        return False
    return True


def _delete_organization(organization: Organization, deadline: float) -> None:
    # What was built on something goes before it: deleting a key first would visit all its scans.
    for relation in reversed(Organization._meta.related_objects):
        if relation.on_delete is not CASCADE:
            continue
        rows = relation.related_model._default_manager.filter(organization_id=organization.pk)
        delete_with_what_refers(rows, lambda: _check(deadline))
    with transaction.atomic():
        # Nobody can refer to it any more from here on; what came meanwhile goes with it.
        Organization.objects.select_for_update().get(pk=organization.pk).delete()


def _check(deadline: float) -> None:
    if time.monotonic() > deadline:
        raise OutOfTime
