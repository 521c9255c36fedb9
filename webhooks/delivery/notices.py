"""E-mails to owners and admins about a disabled webhook."""

from __future__ import annotations

import logging

from django.conf import settings
from django.urls import reverse

from accounts.mailing import outbox
from accounts.models import Membership, User
from webhooks.delivery.schedule import MAX_FAILING_TIME
from webhooks.delivery.sending import AttemptResult
from webhooks.models import Webhook

logger = logging.getLogger(__name__)

NOTIFIED_ROLES = (Membership.Role.OWNER, Membership.Role.ADMIN)


def post_disabled_notice(webhook: Webhook, last: AttemptResult) -> None:
    """Write the e-mail about a disabled webhook to the outbox.

    `last` is the last attempt. The caller must disable the webhook in the same transaction.
    """
    organization = webhook.organization
    recipients = User.objects.filter(membership__organization=organization, membership__role__in=NOTIFIED_ROLES)
    is_notice_posted = outbox.post(
        to=recipients,
        template="webhook_disabled",
        subject=f"A webhook of {organization.name} was disabled",
        topic=f"webhooks:{organization.pk}",
        organization=organization,
        # A webhook that is disabled a second time needs another e-mail.
        key=f"{_outbox_key(webhook)}:{webhook.disabled_at:%Y%m%d%H%M%S%f}",
        context={
            "webhook": webhook,
            "is_gone": webhook.disabled_reason == Webhook.Reason.GONE,
            "days": MAX_FAILING_TIME.days,
            "attempt": last,
            "retention_days": organization.tier.deliveries_kept_days,
            "page_url": f"{settings.BASE_URL}{reverse('webhook', args=[organization.slug, webhook.id])}",
        },
    )
    if not is_notice_posted:
        logger.warning("nobody to notify that webhook %s was disabled: no owner or admin", webhook.id)


def withdraw(webhook: Webhook) -> None:
    """Delete unsent e-mails about a webhook that is enabled again."""
    outbox.withdraw(_outbox_key(webhook))


def _outbox_key(webhook: Webhook) -> str:
    return f"webhook-disabled:{webhook.id}"
