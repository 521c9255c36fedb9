"""Services for webhooks, their secrets and their deliveries.

Each operation is recorded in the activity log in the same transaction.
"""

from __future__ import annotations

import time
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from accounts import access, activity, usage
from accounts.access import Lock, Resource
from accounts.authentication import Caller
from infrastructure import encryption
from infrastructure.api import throttling
from infrastructure.api.errors import RateLimited
from infrastructure.logging import request_id
from scans.policy import scan_policy
from scans.reachability import reserve_slot
from webhooks.delivery import notices
from webhooks.delivery.claims import unmark_held_deliveries
from webhooks.delivery.signing import new_secret
from webhooks.events import wake_dispatcher
from webhooks.examples import example
from webhooks.models import GROUPED_EVENTS, MAX_NAME_LENGTH, Delivery, Event, EventKind, FormerSecret, Webhook
from webhooks.requests import WebhookRequest
from website_scan.errors import Refusal
from website_scan.messages import counted
from website_scan.net.client import Network
from website_scan.net.errors import NotReachable, TimedOut
from website_scan.net.targets import Target, parse_target
from website_scan.page.registrable_domain import site_of

RESOLVE_TIMEOUT_S = 2
# Lifetime of former secrets, and their maximum number for a webhook.
SECRET_OVERLAP = timedelta(hours=24)
MAX_FORMER_SECRETS = 4
# Maximum requests to one receiver per minute, counted for all organizations.
MAX_SENT_PER_RECEIVER = 60
MAX_RECOVERED_PER_RECEIVER = 6

WEBHOOK = Resource(Webhook, "wh", "webhook")
DELIVERY = Resource(Delivery, "dlv", "delivery", related=("event",))


class WebhookLimit(Refusal):
    code = "WEBHOOK_LIMIT"
    status = 409


class WebhookDisabled(Refusal):
    code = "WEBHOOK_DISABLED"
    status = 409


class RotationLimit(Refusal):
    """Raised when a webhook has too many valid former secrets."""

    code = "ROTATION_LIMIT"
    status = 409


def register_webhook(*, caller: Caller, request: WebhookRequest) -> tuple[Webhook, str]:
    """Register a webhook.

    Return the webhook and its secret, which cannot be retrieved later. The receiver need not answer yet, but the
    addresses that its name resolves to now must be public. Raises Blocked or WebhookLimit.
    """
    target, events = request.target, request.events
    assert target is not None
    assert events is not None
    _resolve_public_addresses(target, caller.organization_id)
    secret = new_secret()
    with transaction.atomic():
        # The number of webhooks cannot exceed the limit, because registrations wait for each other.
        usage.lock(caller.organization_id)
        if access.rows(Webhook, caller.organization_id).count() >= caller.webhooks:
            webhooks = counted(caller.webhooks, "webhook")
            raise WebhookLimit(f"Your plan allows {webhooks}. Delete one, or ask the operator for a larger plan.")
        webhook = Webhook.objects.create(
            organization_id=caller.organization_id,
            name=request.name or _default_name(target, request.format),
            url=target.url,
            receiver=_receiver_key(target),
            events=list(events),
            format=request.format or Webhook.Format.STANDARD,
            encrypted_secret=encryption.encrypt(secret),
        )
        activity.record_by_caller(caller, "webhook.created", webhook.name, url=webhook.public_url)
    return webhook, secret


def update_webhook(*, caller: Caller, webhook: Webhook, request: WebhookRequest) -> Webhook:
    """Change a webhook and return it.

    Changes its name, URL, events, format or state as requested. Pending deliveries are sent to the new URL, in the new
    format. They wait while the webhook is disabled. When it is enabled again, they are sent, and the count of failures
    is reset. Raises NotFound or Blocked.
    """
    target, enabled = request.target, request.enabled
    if target is not None:
        _resolve_public_addresses(target, caller.organization_id)
    with transaction.atomic():
        webhook = WEBHOOK.find(caller.organization_id, webhook.id, lock=Lock.CHANGE)
        before, old_url = _logged_fields(webhook), webhook.url
        webhook.name = request.name or webhook.name
        if target is not None:
            webhook.url, webhook.receiver = target.url, _receiver_key(target)
        if request.events is not None:
            webhook.events = list(request.events)
        webhook.format = request.format or webhook.format
        if enabled is True:
            webhook.enabled, webhook.disabled_at, webhook.disabled_reason = True, None, ""
            webhook.failing_since, webhook.failures = None, 0
            unmark_held_deliveries(webhook)
            notices.withdraw(webhook)
            wake_dispatcher(webhook.id)
        elif enabled is False and webhook.enabled:
            webhook.enabled, webhook.disabled_at = False, timezone.now()
            webhook.disabled_reason = Webhook.Reason.REQUESTED
        webhook.save()
        after = _logged_fields(webhook)
        changed = {name: {"from": before[name], "to": after[name]} for name in after if before[name] != after[name]}
        # The activity log contains URLs without tokens, so the full URLs are compared.
        if webhook.url == old_url:
            changed.pop("url", None)
        else:
            changed["url"] = {"from": before["url"], "to": after["url"]}
        if changed:
            activity.record_by_caller(caller, "webhook.changed", webhook.name, **changed)
    return webhook


def delete_webhook(*, caller: Caller, webhook_id: str) -> None:
    """Delete a webhook with its pending deliveries and its log.

    Raises NotFound.
    """
    with transaction.atomic():
        webhook = WEBHOOK.find(caller.organization_id, webhook_id, lock=Lock.DELETION)
        webhook.delete()
        activity.record_by_caller(caller, "webhook.deleted", webhook.name, url=webhook.public_url)


def rotate_secret(*, caller: Caller, webhook_id: str, at_once: bool = False) -> tuple[str, datetime]:
    """Replace a webhook's secret.

    Return the new secret, and the time until which the former secret remains valid. With `at_once`, for a leaked
    secret, all former secrets become invalid. Raises NotFound or RotationLimit.
    """
    secret = new_secret()
    with transaction.atomic():
        webhook = WEBHOOK.find(caller.organization_id, webhook_id, lock=Lock.CHANGE)
        now = timezone.now()
        webhook.former_secrets.filter(expires_at__lte=now).delete()
        if at_once:
            webhook.former_secrets.all().delete()
        if webhook.former_secrets.count() >= MAX_FORMER_SECRETS:
            raise RotationLimit(f"{MAX_FORMER_SECRETS} former secrets are still valid. Wait until one has expired.")
        expires_at = now if at_once else now + SECRET_OVERLAP
        if not at_once:
            FormerSecret.objects.create(
                webhook=webhook, encrypted_secret=webhook.encrypted_secret, expires_at=expires_at
            )
        webhook.encrypted_secret = encryption.encrypt(secret)
        webhook.save(update_fields=["encrypted_secret"])
        activity.record_by_caller(caller, "webhook.secret_rotated", webhook.name)
    return secret, expires_at


def send_test(*, caller: Caller, webhook_id: str, kind: str | None = None) -> Delivery:
    """Send a test event without retries.

    By default it is the first kind that the webhook is subscribed to. A chat receives grouped alerts instead of a
    monitor's events. Raises NotFound, WebhookDisabled or RateLimited.
    """
    _limit_sending(WEBHOOK.find(caller.organization_id, webhook_id), MAX_SENT_PER_RECEIVER)
    with transaction.atomic():
        webhook = WEBHOOK.find(caller.organization_id, webhook_id, lock=Lock.CHANGE)
        kind = kind or webhook.events[0]
        if webhook.is_chat and kind in GROUPED_EVENTS:
            kind = EventKind.MONITOR_ALERT
        _require_enabled(webhook)
        event = Event.objects.create(
            organization_id=caller.organization_id,
            kind=kind,
            body=example(EventKind(kind), timezone.now()),
            request_id=request_id(),
        )
        delivery = Delivery.objects.create(webhook=webhook, event=event)
        activity.record_by_caller(caller, "webhook.tested", webhook.name, event=kind)
        wake_dispatcher(event.id)
    return delivery


def replay_delivery(*, caller: Caller, webhook_id: str, delivery_id: str) -> Delivery:
    """Send a delivery again, whatever its status.

    The body and the `webhook-id` stay the same. A finished delivery restarts its retry schedule, and a pending delivery
    is attempted now. A delivery that is being sent does not change. Raises NotFound, WebhookDisabled or RateLimited.
    """
    webhook = WEBHOOK.find(caller.organization_id, webhook_id)
    _limit_sending(webhook, MAX_SENT_PER_RECEIVER)
    with transaction.atomic():
        delivery = DELIVERY.find_in_rows(webhook.deliveries.all(), delivery_id, lock=Lock.CHANGE)
        _require_enabled(webhook)
        now = timezone.now()
        if delivery.lease_expires_at is None or delivery.lease_expires_at <= now:
            if delivery.status != Delivery.Status.PENDING:
                delivery.status, delivery.attempts_made = Delivery.Status.PENDING, 0
            delivery.next_attempt_at, delivery.finished_at, delivery.is_held = now, None, False
            delivery.save(update_fields=["status", "attempts_made", "next_attempt_at", "finished_at", "is_held"])
        activity.record_by_caller(caller, "delivery.replayed", delivery.id, webhook=webhook.id)
        wake_dispatcher(delivery.id)
    return delivery


def recover_failed(*, caller: Caller, webhook_id: str, since: datetime) -> int:
    """Send all failed deliveries since `since` again.

    Counts by creation time. Returns the number of deliveries. Raises NotFound, WebhookDisabled or RateLimited.
    """
    webhook = WEBHOOK.find(caller.organization_id, webhook_id)
    _limit_sending(webhook, MAX_RECOVERED_PER_RECEIVER)
    with transaction.atomic():
        _require_enabled(webhook)
        failed = webhook.deliveries.filter(status=Delivery.Status.FAILED, created_at__gte=since)
        recovered = failed.exclude(event__scan=None, event__audit=None).update(
            status=Delivery.Status.PENDING,
            attempts_made=0,
            next_attempt_at=timezone.now(),
            finished_at=None,
            is_held=False,
        )
        since_text = f"{since:%Y-%m-%d %H:%M}"
        activity.record_by_caller(caller, "webhook.recovered", webhook.name, deliveries=recovered, since=since_text)
        wake_dispatcher(webhook.id)
    return recovered


def deliveries_of_webhook(
    webhook: Webhook, *, status: str | None = None, kind: str | None = None, since: datetime | None = None
) -> QuerySet[Delivery]:
    """Return the webhook's deliveries, newest first.

    The filters are optional.
    """
    conditions = {"status": status, "event__kind": kind, "created_at__gte": since}
    filters = {name: value for name, value in conditions.items() if value is not None}
    return webhook.deliveries.filter(**filters).order_by("-created_at", "-id")


def _logged_fields(webhook: Webhook) -> dict[str, object]:
    """Return the editable fields of a webhook for the activity log."""
    return {
        "name": webhook.name,
        "url": webhook.public_url,
        "events": ", ".join(webhook.events),
        "format": webhook.format,
        "enabled": webhook.enabled,
    }


def _default_name(target: Target, format: str | None) -> str:
    """Return the name of a new webhook: the product that displays its messages, otherwise the host."""
    body_format = Webhook.Format(format or Webhook.Format.STANDARD)
    return target.host[:MAX_NAME_LENGTH] if body_format == Webhook.Format.STANDARD else str(body_format.label)


def _require_enabled(webhook: Webhook) -> None:
    if not webhook.enabled:
        raise WebhookDisabled("The webhook is disabled. Enable it first.")


def _resolve_public_addresses(target: Target, organization_id: int) -> tuple[str, ...]:
    """Resolve a receiver's host, and return its addresses.

    Raises Blocked if an address or the port is forbidden. Returns no addresses if the name cannot be resolved now, or
    if the organization has no free slot for a look-up.
    """
    policy = target.policy
    with reserve_slot(organization_id) as has_slot, Network(policy, time_limit_s=RESOLVE_TIMEOUT_S) as network:
        if not has_slot:
            return ()
        try:
            return network.addresses(target.host, target.port)
        except (NotReachable, TimedOut):
            return ()  # The host may be available later, and each attempt checks the addresses again.


def _limit_sending(webhook: Webhook, limit: int) -> None:
    """Count a request to send to a webhook's receiver.

    Raises RateLimited if there are too many. Requests are counted by registrable domain and by IP address, because many
    names may lead to one host.
    """
    try:
        target = parse_target(webhook.url, scan_policy())
        addresses = _resolve_public_addresses(target, webhook.organization_id)
    except Refusal:
        # The delivery log displays the same refusal after the attempt.
        return
    for subject in {site_of(target.host), *addresses}:
        rate = throttling.count(f"sent-{limit}:{subject}", limit)
        if rate.used > limit:
            raise RateLimited("Too many events are sent to this receiver on request.", rate.reset - int(time.time()))


def _receiver_key(target: Target) -> str:
    return f"{target.host}:{target.port}"
