"""E-mail notices about mutes that end soon, because their findings then count again."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone

from accounts.mailing import outbox
from accounts.models import Membership, Organization, User
from reports.models import Mute
from reports.mutes.services import mute_rule
from scans.check_catalogue import check_name
from website_scan.messages import agreeing

logger = logging.getLogger(__name__)

MANAGERS = (Membership.Role.OWNER, Membership.Role.ADMIN)
MAX_LISTED = 20


def post_due_notices(has_time: Callable[[], bool]) -> bool:
    """Write the due notices to the outbox, one per person and organization.

    Returns False if time ran out.
    """
    now = timezone.now()
    for organization_id in list(
        _mutes_with_due_notice(now).order_by().values_list("organization_id", flat=True).distinct()
    ):
        if not has_time():
            return False
        with transaction.atomic():
            # The transaction includes the e-mails and `notice_at`, so that a crash neither loses nor repeats a notice.
            locked = _mutes_with_due_notice(now).select_for_update(no_key=True, skip_locked=True, of=("self",))
            due_mutes = locked.filter(organization_id=organization_id).select_related("created_by", "api_key")
            mutes = list(due_mutes.order_by("expires_at", "id"))
            Mute.objects.filter(id__in=[mute.id for mute in mutes]).update(notice_at=None)
            _post_notices(Organization.objects.get(id=organization_id), mutes)
    return True


def _mutes_with_due_notice(now: datetime) -> QuerySet[Mute]:
    """Return the mutes that end soon and whose notice has not been sent."""
    return Mute.objects.filter(notice_at__lte=now, expires_at__gt=now, ended_at=None, organization__closed_at=None)


def _post_notices(organization: Organization, mutes: list[Mute]) -> None:
    """Notify each mute's creator.

    If they may no longer mute, notify the organization's owners and admins.
    """
    members = Membership.objects.filter(organization=organization, user__is_active=True).select_related("user")
    creators = {member.user_id: member.user for member in members if member.is_member}
    managers = {member.user_id: member.user for member in members if member.role in MANAGERS}
    people = creators | managers
    mutes_by_user: dict[int, list[Mute]] = {}
    for mute in mutes:
        for user_id in (mute.created_by_id,) if mute.created_by_id in creators else managers:
            assert user_id is not None
            mutes_by_user.setdefault(user_id, []).append(mute)
    for user_id, user_mutes in mutes_by_user.items():
        _post_notice(people[user_id], organization, user_mutes)
    if mutes and not mutes_by_user:
        logger.warning("nobody to notify that mutes of organization %s end: no owner or admin", organization.pk)


def _post_notice(user: User, organization: Organization, mutes: list[Mute]) -> None:
    count, first = len(mutes), mutes[0]
    mutes_phrase = (
        f"The mute of “{check_name(first.check_id)}” on {first.host}"
        if count == 1
        else f"{count} mutes of {organization.name}"
    )
    digest = hashlib.sha256(" ".join(f"{mute.id} {mute.expires_at}" for mute in mutes).encode()).hexdigest()
    outbox.post(
        to=user,
        template="mutes_end",
        subject=f"{mutes_phrase} {agreeing(count, 'ends', 'end')} soon",
        topic=f"mutes:{organization.pk}",
        organization=organization,
        key=f"mutes-end:{organization.pk}:{digest[:32]}",
        context={
            "base_url": settings.BASE_URL,
            "rules": [mute_rule(mute) for mute in mutes[:MAX_LISTED]],
            "count": count,
            "more": max(0, count - MAX_LISTED),
            "page_url": f"{settings.BASE_URL}{reverse('mutes', args=[organization.slug])}",
        },
    )
