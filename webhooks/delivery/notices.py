"""The e-mail that tells an organization that a webhook of theirs was disabled."""

from __future__ import annotations

import logging
from datetime import timedelta
from smtplib import SMTPException

from django.conf import settings
from django.core.mail import EmailMessage
from django.template.loader import render_to_string
from django.utils import timezone

from accounts.models import Membership, User
from webhooks.delivery.schedule import FAILING_TOLERATED
from webhooks.models import Webhook

logger = logging.getLogger(__name__)

BATCH = 100
RETRY_AFTER = timedelta(minutes=15)
GIVEN_UP_AFTER = timedelta(days=2)
TOLD = (Membership.Role.OWNER, Membership.Role.ADMIN)


def send_due() -> None:
    """Send what has to be told. The row remembers it until a mail server has taken it."""
    for webhook_id in Webhook.objects.filter(notice_due_at__lte=timezone.now()).values_list("id", flat=True)[:BATCH]:
        _send(webhook_id)


def _send(webhook_id: str) -> None:
    now = timezone.now()
    later = now + RETRY_AFTER
    # Nobody else sends it meanwhile; no lock is held while the mail server thinks.
    if not Webhook.objects.filter(id=webhook_id, notice_due_at__lte=now).update(notice_due_at=later):
        return
    ours = Webhook.objects.filter(id=webhook_id, notice_due_at=later)
    webhook = ours.select_related("organization").first()
    if webhook is None:
        return
    recipients = _recipients(webhook.organization_id)
    if not recipients:
        logger.warning("nobody to tell that webhook %s was disabled: no owner or admin", webhook.id)
    elif not webhook.enabled:
        try:
            _message(webhook, recipients).send()
        except (OSError, SMTPException) as error:
            logger.error("the notice of webhook %s could not be sent: %s", webhook.id, error)
            if webhook.disabled_at and now - webhook.disabled_at < GIVEN_UP_AFTER:
                return
    ours.update(notice_due_at=None)


def _recipients(organization_id: int) -> list[str]:
    people = User.objects.filter(membership__organization_id=organization_id, membership__role__in=TOLD, is_active=True)
    return list(people.order_by("email").values_list("email", flat=True))


def _message(webhook: Webhook, recipients: list[str]) -> EmailMessage:
    last = webhook.deliveries.order_by("-next_attempt_at").first()
    context = {
        "webhook": webhook,
        "is_gone": webhook.disabled_reason == Webhook.Reason.GONE,
        "days": FAILING_TOLERATED.days,
        "last_attempt": last.attempts.last() if last else None,
        "base_url": settings.BASE_URL,
        "retention_days": settings.DELIVERY_RETENTION_DAYS,
    }
    subject = f"A webhook of {' '.join(webhook.organization.name.split())} was disabled"
    return EmailMessage(subject, render_to_string("emails/webhook_disabled.txt", context), to=recipients)
