"""Registering and removing receivers."""

from __future__ import annotations

from django.db import transaction

from accounts import access
from accounts.authentication import Caller
from accounts.models import Organization
from config.api.errors import InvalidParams
from config.errors import Refusal
from config.ids import is_id
from scans.net.client import Network
from scans.net.errors import NotReachable, TimedOut
from scans.policy import scan_policy
from scans.targets import parse_target
from webhooks import secrets
from webhooks.models import EventKind, Webhook
from webhooks.signing import new_secret

RESOLVE_TIMEOUT_S = 3


class WebhookLimit(Refusal):
    code = "WEBHOOK_LIMIT"
    status = 409


class WebhookNotFound(Refusal):
    code = "WEBHOOK_NOT_FOUND"
    status = 404


def register_webhook(*, caller: Caller, url: object, events: object) -> tuple[Webhook, str]:
    """Register a receiver; returns it with its secret, which nobody can read again.

    Raises InvalidUrl, InvalidParams, Blocked or WebhookLimit. The receiver need not answer yet, but what
    its name resolves to now must be public.
    """
    policy = scan_policy()
    target = parse_target(url, policy)
    kinds = _event_kinds(events)
    with Network(policy, time_limit_s=RESOLVE_TIMEOUT_S) as network:
        try:
            network.addresses(target.host)
        except (NotReachable, TimedOut):
            pass  # it may come up later; each attempt judges its address again
    secret = new_secret()
    with transaction.atomic():
        # Registrations of one organization stand in line, so that the limit holds.
        Organization.objects.select_for_update(no_key=True).get(id=caller.organization_id)
        if access.rows(Webhook, caller.organization_id).count() >= caller.webhooks:
            raise WebhookLimit(f"Your plan allows {caller.webhooks} webhooks.")
        webhook = Webhook.objects.create(
            organization_id=caller.organization_id,
            url=target.url,
            events=kinds,
            encrypted_secret=secrets.encrypt(secret),
        )
    return webhook, secret


def delete_webhook(*, caller: Caller, webhook_id: str) -> None:
    """Remove a receiver with its pending deliveries; raises WebhookNotFound."""
    deleted = 0
    if is_id("wh", webhook_id):
        deleted, _ = access.rows(Webhook, caller.organization_id).filter(id=webhook_id).delete()
    if not deleted:
        raise WebhookNotFound("There is no webhook with this ID.")


def _event_kinds(events: object) -> list[str]:
    known = EventKind.values
    if not isinstance(events, list) or not events or any(event not in known for event in events):
        raise InvalidParams(f"events must be a non-empty list of {', '.join(known)}.")
    return list(dict.fromkeys(events))
