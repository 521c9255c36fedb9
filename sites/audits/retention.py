"""Audits are deleted when the last report of their scans is."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from django.utils import timezone

from infrastructure.postgresql.deletion import delete_with_what_refers
from sites.models import Audit


def delete_expired(has_time: Callable[[], bool]) -> bool:
    """Delete the audits that have expired, with pages and findings; False when there was no time for all.

    The rows of their scans stay, as those of all scans do.
    """
    now = timezone.now()
    for days in Audit.objects.values_list("kept_days", flat=True).distinct():
        # As the index has them, so that those that are kept longer are not searched.
        old = Audit.objects.filter(kept_days=days, created_at__lte=now - timedelta(days=days))
        if not delete_with_what_refers(old.expired(), has_time):
            return False
    return True
