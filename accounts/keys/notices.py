"""Notices that an API key is about to expire. Without them, people would learn it from a failing build."""

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
from website_scan.messages import counted

logger = logging.getLogger(__name__)

# Days before the key's end on which a notice is due.
NOTICE_DAYS = (14, 3)
MANAGERS = (Membership.Role.OWNER, Membership.Role.ADMIN)


def notice_days_from(now: datetime, expires_at: datetime | None) -> int | None:
    """Return the first value of `ApiKey.notice_days`: somebody who has just chosen a near end needs no notice of it."""
    if expires_at is None:
        return None
    return min((days for days in NOTICE_DAYS if expires_at - now <= timedelta(days=days)), default=None)


def post_due(time_limit_s: float) -> bool:
    """Write the due notices, each once even with concurrent tasks. Returns False if the time was not enough."""
    deadline = time.monotonic() + time_limit_s
    for key_id in list(_due(timezone.now()).order_by("expires_at").values_list("id", flat=True)):
        if time.monotonic() > deadline:
            return False
        with transaction.atomic():
            # One transaction for the mails and for `notice_days`: if the process dies, neither is written.
            now = timezone.now()
            locked = _due(now).select_for_update(no_key=True, skip_locked=True, of=("self",))
            key = locked.select_related("organization").filter(id=key_id).first()
            if key is not None:
                _post(key, now)
    return True


def withdraw(key: ApiKey) -> None:
    """Delete notices of the key that are not sent yet, because its end has changed or it was revoked."""
    outbox.withdraw(_outbox_key(key))


def _due(now: datetime) -> QuerySet[ApiKey]:
    """Return the keys for which a notice is due and not written."""
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
        subject=f"The API key {key.name} of {organization.name} expires in {counted(days, 'day')}",
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
    """Return the recipients: the key's creator, if they may still manage keys, otherwise all owners and admins."""
    managers = User.objects.filter(
        is_active=True,
        membership__organization=key.organization_id,
        membership__role__in=MANAGERS,
    )
    maker = managers.filter(apikey=key)
    return maker if maker.exists() else managers


def _outbox_key(key: ApiKey) -> str:
    return f"key-ends:{key.id}"
