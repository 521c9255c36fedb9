"""E-mail to an organization's owners and admins when one of its webhooks was disabled."""

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
    """Post the e-mail, in the transaction that disables the webhook after its `last` attempt."""
    organization = webhook.organization
    people = User.objects.filter(membership__organization=organization, membership__role__in=TOLD)
    written = outbox.post(
        to=people,
        template="webhook_disabled",
        subject=f"A webhook of {organization.name} was disabled",
        topic=f"webhooks:{organization.pk}",
        organization=organization,
        # The key contains the time, because a webhook that is enabled and disabled again needs another e-mail.
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
    """Withdraw e-mails not sent yet, because the webhook has been enabled again."""
    outbox.withdraw(_key(webhook))


def _key(webhook: Webhook) -> str:
    return f"webhook-disabled:{webhook.id}"
