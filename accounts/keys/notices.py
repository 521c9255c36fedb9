"""Notices that an API key is about to end, which would otherwise show as a build that fails."""

from __future__ import annotations

import logging
import math
import time
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils import timezone

from accounts.mailing import outbox
from accounts.models import ApiKey, Membership, User

logger = logging.getLogger(__name__)

# How many days before the end.
NOTICE_DAYS = (14, 3)
MANAGERS = (Membership.Role.OWNER, Membership.Role.ADMIN)


def notice_days_from(now: datetime, expires_at: datetime | None) -> int | None:
    """What `ApiKey.notice_days` begins with: who has just chosen so near an end needs no notice of it."""
    if expires_at is None:
        return None
    return min((days for days in NOTICE_DAYS if expires_at - now <= timedelta(days=days)), default=None)


def post_due(time_limit_s: float) -> bool:
    """Write the notices that are due, each once, whoever else is at it; False when the time was not enough for all."""
    deadline = time.monotonic() + time_limit_s
    for key_id in list(_due(timezone.now()).order_by("expires_at").values_list("id", flat=True)):
        if time.monotonic() > deadline:
            return False
        with transaction.atomic():
            # The mails and the note that they were written: both, or neither where this process dies.
            now = timezone.now()
            locked = _due(now).select_for_update(no_key=True, skip_locked=True, of=("self",))
            key = locked.select_related("organization").filter(id=key_id).first()
            if key is not None:
                _post(key, now)
    return True


def withdraw(key: ApiKey) -> None:
    """It does not end then, or has ended before: who has not been told yet need not be."""
    outbox.withdraw(_outbox_key(key))


def _due(now: datetime) -> QuerySet[ApiKey]:
    """Keys of which a notice is due and not written."""
    due = Q()
    for days in NOTICE_DAYS:
        is_written = Q(notice_days__isnull=False, notice_days__lte=days)
        due |= Q(expires_at__lte=now + timedelta(days=days)) & ~is_written
    return ApiKey.objects.filter(due, expires_at__gt=now, revoked_at=None, organization__closed_at=None)


def _post(key: ApiKey, now: datetime) -> None:
    assert key.expires_at is not None
    organization, left = key.organization, key.expires_at - now
    days = math.ceil(left / timedelta(days=1))
    key.notice_days = min(each for each in NOTICE_DAYS if left <= timedelta(days=each))
    key.save(update_fields=["notice_days"])
    written = outbox.post(
        to=_people(key),
        template="key_ends",
        subject=f"The API key {key.name} of {organization.name} expires in {days} day{'' if days == 1 else 's'}",
        topic=f"keys:{organization.pk}",
        organization=organization,
        key=f"{_outbox_key(key)}:{key.expires_at:%Y%m%d%H%M}:{key.notice_days}",
        context={
            "key": key,
            "days": days,
            "former": key.former.filter(expires_at__gt=now),
            "page_url": f"{settings.BASE_URL}{reverse('key-regenerate', args=[organization.slug, key.id])}",
        },
    )
    if not written:
        logger.warning("nobody to tell that the API key %s ends: nobody manages keys, or wants to know", key.id)


def _people(key: ApiKey) -> QuerySet[User]:
    """Who made the key, while they may give it a new secret; otherwise everybody who may."""
    managers = User.objects.filter(
        is_active=True,
        membership__organization=key.organization_id,
        membership__role__in=MANAGERS,
    )
    maker = managers.filter(apikey=key)
    return maker if maker.exists() else managers


def _outbox_key(key: ApiKey) -> str:
    return f"key-ends:{key.id}"
