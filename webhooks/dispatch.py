"""One attempt to deliver: claim the row, send the stored bytes, write what came of it."""

from __future__ import annotations

import random
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from scans.net.client import Network
from scans.net.errors import NetError
from scans.net.policy import Policy
from scans.targets import InvalidUrl
from webhooks import schedule, secrets
from webhooks.models import Delivery
from webhooks.signing import signature_headers

TIMEOUT_S = 10
# The receiver's answer is not used; enough to keep the connection in order.
MAX_RESPONSE_BYTES = 2048
LEASE = timedelta(seconds=30)


def attempt(delivery_id: str, policy: Policy) -> None:
    """Try to deliver once. Does nothing when the delivery is done, not due, or being tried elsewhere."""
    delivery = _claim(delivery_id)
    if delivery is None:
        return
    status, error = _post(delivery, policy)
    _record(delivery, status, error)


def due(limit: int) -> list[str]:
    """Deliveries whose time has come, oldest first."""
    return list(
        Delivery.objects.filter(status=Delivery.Status.PENDING, next_attempt_at__lte=timezone.now())
        .order_by("next_attempt_at")
        .values_list("id", flat=True)[:limit]
    )


def _claim(delivery_id: str) -> Delivery | None:
    with transaction.atomic():
        delivery = (
            Delivery.objects.select_for_update(no_key=True, skip_locked=True, of=("self",))
            .select_related("webhook", "event")
            .filter(id=delivery_id, status=Delivery.Status.PENDING, next_attempt_at__lte=timezone.now())
            .first()
        )
        if delivery is not None:
            delivery.attempts += 1
            delivery.next_attempt_at = timezone.now() + LEASE
            delivery.save(update_fields=["attempts", "next_attempt_at"])
        return delivery


def _post(delivery: Delivery, policy: Policy) -> tuple[int | None, str]:
    event = delivery.event
    body = bytes(event.body)
    headers = signature_headers(
        secret=secrets.decrypt(bytes(delivery.webhook.encrypted_secret)),
        event_id=event.id,
        timestamp_s=int(timezone.now().timestamp()),
        body=body,
    )
    headers |= {"Content-Type": "application/json", "X-Service-Event": event.kind}
    try:
        with Network(policy, time_limit_s=TIMEOUT_S) as network:
            response = network.fetch(
                delivery.webhook.url,
                method="POST",
                headers=headers,
                data=body,
                max_bytes=MAX_RESPONSE_BYTES,
                timeout_s=TIMEOUT_S,
            )
    except (NetError, InvalidUrl) as error:  # the latter for a port that is, or became, forbidden
        return None, f"{error.code}: {error}"
    return response.status, ""


def _record(delivery: Delivery, status: int | None, error: str) -> None:
    now = timezone.now()
    delivered = status is not None and 200 <= status < 300
    next_attempt_at = schedule.next_attempt(delivery.attempts, now, random.uniform)
    # Conditional on the attempt, so that one that outlived its lease changes nothing.
    Delivery.objects.filter(id=delivery.id, status=Delivery.Status.PENDING, attempts=delivery.attempts).update(
        status=Delivery.Status.DELIVERED
        if delivered
        else Delivery.Status.FAILED
        if next_attempt_at is None
        else Delivery.Status.PENDING,
        next_attempt_at=next_attempt_at or now,
        response_status=status,
        error=error[:300],
        delivered_at=now if delivered else None,
    )
