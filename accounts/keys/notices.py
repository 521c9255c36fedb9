"""E-mail notices about API keys that expire soon, so that an expiry does not break builds unexpectedly."""

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

# Notices are due this many days before a key expires.
NOTICE_DAYS = (14, 3)
MANAGER_ROLES = (Membership.Role.OWNER, Membership.Role.ADMIN)


def initial_notice_days(now: datetime, expires_at: datetime | None) -> int | None:
    """Return the initial `ApiKey.notice_days`, which skips notices that the chosen expiry would make due at once."""
    if expires_at is None:
        return None
    return min((days for days in NOTICE_DAYS if expires_at - now <= timedelta(days=days)), default=None)


def post_due_notices(time_limit_s: float) -> bool:
    """Write the due notices to the outbox, once each even if tasks overlap.

    Returns False if time ran out.
    """
    deadline = time.monotonic() + time_limit_s
    for key_id in list(_keys_with_due_notice(timezone.now()).order_by("expires_at").values_list("id", flat=True)):
        if time.monotonic() > deadline:
            return False
        with transaction.atomic():
            # The transaction writes both the e-mails and `notice_days`, so that no notice is lost or repeated after a
            # crash.
            now = timezone.now()
            locked = _keys_with_due_notice(now).select_for_update(no_key=True, skip_locked=True, of=("self",))
            key = locked.select_related("organization").filter(id=key_id).first()
            if key is not None:
                _post_notice(key, now)
    return True


def delete_unsent_notices(key: ApiKey) -> None:
    """Delete a key's unsent notices after the key was revoked or its expiry has changed."""
    outbox.withdraw(_outbox_key(key))


def _keys_with_due_notice(now: datetime) -> QuerySet[ApiKey]:
    """Return the API keys with a due notice that has not been written to the outbox yet."""
    due = Q()
    for days in NOTICE_DAYS:
        is_notice_written = Q(notice_days__isnull=False, notice_days__lte=days)
        due |= Q(expires_at__lte=now + timedelta(days=days)) & ~is_notice_written
    return ApiKey.objects.filter(due, expires_at__gt=now, revoked_at=None, organization__closed_at=None)


def _post_notice(key: ApiKey, now: datetime) -> None:
    assert key.expires_at is not None
    organization, remaining = key.organization, key.expires_at - now
    days = math.ceil(remaining / timedelta(days=1))
    key.notice_days = min(notice for notice in NOTICE_DAYS if remaining <= timedelta(days=notice))
    key.save(update_fields=["notice_days"])
    written = outbox.post(
        to=_recipients(key),
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
        logger.warning("nobody to notify that the API key %s ends: nobody manages keys or is subscribed", key.id)


def _recipients(key: ApiKey) -> QuerySet[User]:
    """Return the key's creator if they may still manage keys, otherwise all owners and admins."""
    managers = User.objects.filter(
        is_active=True,
        membership__organization=key.organization_id,
        membership__role__in=MANAGER_ROLES,
    )
    creator = managers.filter(apikey=key)
    return creator if creator.exists() else managers


def _outbox_key(key: ApiKey) -> str:
    return f"key-ends:{key.id}"
