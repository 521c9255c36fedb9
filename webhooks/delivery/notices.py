"""The e-mail that tells an organization that a webhook of theirs was disabled."""

from __future__ import annotations

import logging

from django.conf import settings
from django.urls import reverse

from accounts.mailing import outbox
from accounts.models import Membership, User
from webhooks.delivery.schedule import FAILING_TOLERATED
from webhooks.delivery.sending import AttemptResult
from webhooks.models import Webhook

logger = logging.getLogger(__name__)

TOLD = (Membership.Role.OWNER, Membership.Role.ADMIN)


def post_disabled(webhook: Webhook, last: AttemptResult) -> None:
    """Tell owners and admins, in the transaction that disables it after its `last` attempt."""
    organization = webhook.organization
    people = User.objects.filter(membership__organization=organization, membership__role__in=TOLD)
    written = outbox.post(
        to=people,
        template="webhook_disabled",
        subject=f"A webhook of {organization.name} was disabled",
        topic=f"webhooks:{organization.pk}",
        organization=organization,
        # A dead webhook may be enabled and disabled again: that is another piece of news.
        key=f"{_key(webhook)}:{webhook.disabled_at:%Y%m%d%H%M%S%f}",
        context={
            "webhook": webhook,
            "is_gone": webhook.disabled_reason == Webhook.Reason.GONE,
            "days": FAILING_TOLERATED.days,
            "attempt": last,
            "retention_days": organization.tier.deliveries_kept_days,
            "page_url": f"{settings.BASE_URL}{reverse('webhook', args=[organization.slug, webhook.id])}",
        },
    )
    if not written:
        logger.warning("nobody to tell that webhook %s was disabled: no owner or admin", webhook.id)


def withdraw(webhook: Webhook) -> None:
    """It has been enabled again: who has not been told yet need not be."""
    outbox.withdraw(_key(webhook))


def _key(webhook: Webhook) -> str:
    return f"webhook-disabled:{webhook.id}"
