"""E-mail notices of mutes that end soon, because their findings will show again."""

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
from reports.mutes.services import rule_of
from scans.check_catalogue import check_name
from website_scan.messages import agreeing

logger = logging.getLogger(__name__)

MANAGERS = (Membership.Role.OWNER, Membership.Role.ADMIN)
LISTED = 20


def post_due(has_time: Callable[[], bool]) -> bool:
    """Post the due notices, one e-mail for each person and organization. Returns False if time ran out."""
    now = timezone.now()
    for organization_id in list(_due(now).order_by().values_list("organization_id", flat=True).distinct()):
        if not has_time():
            return False
        with transaction.atomic():
            # One transaction for the e-mails and for `notice_at`, in case the process dies.
            locked = _due(now).select_for_update(no_key=True, skip_locked=True, of=("self",))
            mutes = locked.filter(organization_id=organization_id).select_related("created_by", "api_key")
            found = list(mutes.order_by("expires_at", "id"))
            Mute.objects.filter(id__in=[mute.id for mute in found]).update(notice_at=None)
            _post(Organization.objects.get(id=organization_id), found)
    return True


def _due(now: datetime) -> QuerySet[Mute]:
    """Return the mutes that end soon and have not been announced."""
    return Mute.objects.filter(notice_at__lte=now, expires_at__gt=now, ended_at=None, organization__closed_at=None)


def _post(organization: Organization, mutes: list[Mute]) -> None:
    """Post to the creators of the mutes if they may still mute, otherwise to the organization's owners and admins."""
    members = Membership.objects.filter(organization=organization, user__is_active=True).select_related("user")
    makers = {each.user_id: each.user for each in members if each.is_member}
    managers = {each.user_id: each.user for each in members if each.role in MANAGERS}
    people = makers | managers
    told: dict[int, list[Mute]] = {}
    for mute in mutes:
        for user_id in (mute.created_by_id,) if mute.created_by_id in makers else managers:
            assert user_id is not None
            told.setdefault(user_id, []).append(mute)
    for user_id, ending in told.items():
        _post_to(people[user_id], organization, ending)
    if mutes and not told:
        logger.warning("nobody to tell that mutes of organization %s end: no owner or admin", organization.pk)


def _post_to(person: User, organization: Organization, mutes: list[Mute]) -> None:
    count, first = len(mutes), mutes[0]
    what = (
        f"The mute of “{check_name(first.check_id)}” on {first.host}"
        if count == 1
        else f"{count} mutes of {organization.name}"
    )
    ends = hashlib.sha256(" ".join(f"{mute.id} {mute.expires_at}" for mute in mutes).encode()).hexdigest()
    outbox.post(
        to=person,
        template="mutes_end",
        subject=f"{what} {agreeing(count, 'ends', 'end')} soon",
        topic=f"mutes:{organization.pk}",
        organization=organization,
        key=f"mutes-end:{organization.pk}:{ends[:32]}",
        context={
            "base_url": settings.BASE_URL,
            "rules": [rule_of(mute) for mute in mutes[:LISTED]],
            "count": count,
            "more": max(0, count - LISTED),
            "page_url": f"{settings.BASE_URL}{reverse('mutes', args=[organization.slug])}",
        },
    )
