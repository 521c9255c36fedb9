"""Mails are kept for 30 days after they were sent or given up: so long a key writes nothing twice."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from accounts.models import Mail

BATCH = 1000


def delete_old(has_time: Callable[[], bool]) -> bool:
    """Delete them in small transactions; False when there was no time for all."""
    before = timezone.now() - timedelta(days=settings.MAIL_RETENTION_DAYS)
    ended = Mail.objects.filter(Q(sent_at__lt=before) | Q(given_up_at__lt=before), created_at__lt=before)
    while has_time() and (ids := list(ended.values_list("id", flat=True)[:BATCH])):
        Mail.objects.filter(id__in=ids).delete()
        if len(ids) < BATCH:
            break
    return has_time()
