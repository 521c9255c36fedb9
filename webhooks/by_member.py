"""What members do with webhooks on the pages: the services, each noted in the audit log in the same transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from django.db import transaction

from accounts import audit
from accounts.models import Membership
from webhooks import services
from webhooks.models import Delivery, Webhook


@transaction.atomic
def register(member: Membership, *, url: str, events: Sequence[str]) -> tuple[Webhook, str]:
    """The new webhook and its secret, which nobody can read again; raises what `register_webhook` raises."""
    limit = member.organization.tier.webhooks
    webhook, secret = services.register_webhook(
        organization_id=member.organization_id, limit=limit, url=url, events=list(events)
    )
    _note(member, "webhook.created", webhook)
    return webhook, secret


@transaction.atomic
def change(member: Membership, webhook_id: str, changes: Mapping[str, object]) -> Webhook:
    """The webhook with other `url`, `events` or `enabled`; raises what `update_webhook` raises."""
    before = services.access_webhook(member.organization_id, webhook_id)
    webhook = services.update_webhook(organization_id=member.organization_id, webhook_id=webhook_id, changes=changes)
    changed = {
        name: {"from": _shown(getattr(before, name)), "to": _shown(getattr(webhook, name))}
        for name in services.CHANGEABLE
        if getattr(before, name) != getattr(webhook, name)
    }
    if changed:
        _note(member, "webhook.changed", webhook, **changed)
    return webhook


@transaction.atomic
def delete(member: Membership, webhook_id: str) -> None:
    """The webhook goes, with its log; raises WebhookNotFound."""
    webhook = services.access_webhook(member.organization_id, webhook_id)
    services.delete_webhook(organization_id=member.organization_id, webhook_id=webhook_id)
    _note(member, "webhook.deleted", webhook)


@transaction.atomic
def rotate(member: Membership, webhook_id: str) -> tuple[str, datetime]:
    """A new secret, and until when the one before stays valid; raises what `rotate_secret` raises."""
    rotated = services.rotate_secret(organization_id=member.organization_id, webhook_id=webhook_id)
    _note(member, "webhook.secret_rotated", services.access_webhook(member.organization_id, webhook_id))
    return rotated


@transaction.atomic
def test(member: Membership, webhook_id: str, kind: str) -> Delivery:
    """An example of an event on its way; raises what `send_test` raises."""
    delivery = services.send_test(organization_id=member.organization_id, webhook_id=webhook_id, kind=kind)
    _note(member, "webhook.tested", delivery.webhook, event=kind)
    return delivery


@transaction.atomic
def replay(member: Membership, webhook_id: str, delivery_id: str) -> Delivery:
    """A delivery on its way once more; raises what `replay_delivery` raises."""
    delivery = services.replay_delivery(
        organization_id=member.organization_id, webhook_id=webhook_id, delivery_id=delivery_id
    )
    audit.record(member.organization, member.user, "delivery.replayed", delivery.id, webhook=webhook_id)
    return delivery


@transaction.atomic
def recover(member: Membership, webhook_id: str, since: datetime) -> int:
    """How many failed deliveries are on their way once more; raises what `recover_failed` raises."""
    recovered = services.recover_failed(organization_id=member.organization_id, webhook_id=webhook_id, since=since)
    webhook = services.access_webhook(member.organization_id, webhook_id)
    _note(member, "webhook.recovered", webhook, deliveries=recovered, since=f"{since:%Y-%m-%d %H:%M}")
    return recovered


def _note(member: Membership, action: str, webhook: Webhook, **details: object) -> None:
    audit.record(member.organization, member.user, action, webhook.url, **details)


def _shown(value: object) -> object:
    return ", ".join(value) if isinstance(value, list) else value
