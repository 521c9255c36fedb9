"""E-mail to an organization's owners and admins after one of its webhooks was disabled."""

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

NOTIFIED_ROLES = (Membership.Role.OWNER, Membership.Role.ADMIN)


def post_disabled(webhook: Webhook, last: AttemptResult) -> None:
    """Write the e-mail to the outbox, in the transaction that disables the webhook after its `last` attempt."""
    organization = webhook.organization
    recipients = User.objects.filter(membership__organization=organization, membership__role__in=NOTIFIED_ROLES)
    is_posted = outbox.post(
        to=recipients,
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
    if not is_posted:
        logger.warning("nobody to tell that webhook %s was disabled: no owner or admin", webhook.id)


def withdraw(webhook: Webhook) -> None:
    """Delete e-mails about a webhook that are not sent yet, because the webhook has been enabled again."""
    outbox.withdraw(_key(webhook))


def _key(webhook: Webhook) -> str:
    return f"webhook-disabled:{webhook.id}"
