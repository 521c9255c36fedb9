"""Claim due deliveries.

A PostgreSQL query chooses them, so that limits span all workers.
"""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta

from django.db import connection, transaction
from msgspec import Struct

from webhooks.models import DELIVERY_LEASE, Delivery, Webhook

# Maximum concurrent attempts to one receiver, for all organizations.
MAX_ATTEMPTS_PER_RECEIVER = 8
# Maximum concurrent attempts to a webhook whose last attempt failed.
MAX_ATTEMPTS_PER_FAILING_WEBHOOK = 1
# PostgreSQL's advisory lock lets only one worker claim at a time.
CLAIM_LOCK = 0x77655F636C61696D

# `waiting` steps through the index from webhook to webhook (a loose index scan), so the cost of a claim does not depend
# on the number of waiting deliveries or disabled webhooks. `turn` numbers the deliveries of a webhook. `place` numbers
# the deliveries to a receiver and alternates between its webhooks, so that a long backlog delays only its own webhook.
SELECT_DUE_DELIVERIES = f"""
    WITH RECURSIVE waiting (webhook_id) AS (
        (
            SELECT webhook_id FROM webhooks_delivery WHERE status = 'pending' AND NOT is_held
            ORDER BY webhook_id LIMIT 1
        )
        UNION ALL
        SELECT (
            SELECT other.webhook_id FROM webhooks_delivery AS other
            WHERE other.status = 'pending' AND NOT other.is_held AND other.webhook_id > waiting.webhook_id
            ORDER BY other.webhook_id LIMIT 1
        )
        FROM waiting WHERE waiting.webhook_id IS NOT NULL
    ), in_flight AS (
        SELECT delivery.webhook_id, webhook.receiver
        FROM webhooks_delivery AS delivery JOIN webhooks_webhook AS webhook ON webhook.id = delivery.webhook_id
        WHERE delivery.status = 'pending' AND {DELIVERY_LEASE.sql("delivery.lease_expires_at")}
    ), of_webhook AS (
        SELECT webhook_id, count(*) AS busy FROM in_flight GROUP BY webhook_id
    ), of_receiver AS (
        SELECT receiver, count(*) AS busy FROM in_flight GROUP BY receiver
    ), due AS (
        SELECT delivery.id, delivery.next_attempt_at, delivery.turn, webhook.receiver,
            webhook.failing_since IS NOT NULL AS is_failing
        FROM waiting
        JOIN webhooks_webhook AS webhook ON webhook.id = waiting.webhook_id AND webhook.enabled
        LEFT JOIN of_webhook ON of_webhook.webhook_id = webhook.id
        CROSS JOIN LATERAL (
            SELECT id, next_attempt_at, row_number() OVER (ORDER BY next_attempt_at, id) AS turn
            FROM webhooks_delivery
            WHERE webhook_id = webhook.id AND status = 'pending' AND NOT is_held AND next_attempt_at <= %(now)s
                AND (lease_expires_at IS NULL OR NOT {DELIVERY_LEASE.sql()})
            ORDER BY next_attempt_at, id
            LIMIT greatest(0, CASE WHEN webhook.failing_since IS NULL THEN %(per_receiver)s ELSE %(per_failing)s END
                - coalesce(of_webhook.busy, 0))
        ) AS delivery
    ), placed AS (
        SELECT due.*, coalesce(of_receiver.busy, 0)
            + row_number() OVER (PARTITION BY due.receiver ORDER BY turn, next_attempt_at, id) AS place
        FROM due LEFT JOIN of_receiver ON of_receiver.receiver = due.receiver
    ), ranked AS (
        SELECT placed.*, row_number() OVER (PARTITION BY is_failing ORDER BY place, next_attempt_at, id) AS rank
        FROM placed WHERE place <= %(per_receiver)s
    )
    SELECT id FROM ranked WHERE rank <= CASE WHEN is_failing THEN %(failing_limit)s ELSE %(limit)s END
    ORDER BY is_failing, rank LIMIT %(limit)s
"""  # noqa: S608  # The query is composed of constants.

CLAIM = f"""
    UPDATE webhooks_delivery AS delivery SET claim_token = %(token)s, lease_expires_at = {DELIVERY_LEASE.end_sql}
    FROM webhooks_webhook AS webhook, webhooks_event AS event
    WHERE webhook.id = delivery.webhook_id AND event.id = delivery.event_id AND delivery.id IN (
        SELECT id FROM webhooks_delivery WHERE id = ANY(%(ids)s) AND status = 'pending'
        FOR NO KEY UPDATE SKIP LOCKED
    )
    RETURNING delivery.id, delivery.webhook_id, delivery.attempts_made + 1, webhook.url,
        webhook.failing_since IS NOT NULL, webhook.format, event.id, event.kind, event.body,
        event.scan_id IS NULL AND event.audit_id IS NULL AND event.monitor_id IS NULL AND event.site_list_id IS NULL,
        event.request_id,
        webhook.encrypted_secret, ARRAY(
            SELECT former.encrypted_secret FROM webhooks_formersecret AS former
            WHERE former.webhook_id = webhook.id AND former.expires_at > %(now)s ORDER BY former.expires_at, former.id
        )
"""  # noqa: S608  # The query is composed of constants.

NEXT_DUE_TIME = """
    SELECT min(delivery.next_attempt_at)
    FROM webhooks_delivery AS delivery JOIN webhooks_webhook AS webhook ON webhook.id = delivery.webhook_id
    WHERE delivery.status = 'pending' AND NOT delivery.is_held AND webhook.enabled
        AND delivery.next_attempt_at > %(now)s AND delivery.next_attempt_at <= %(until)s
"""

# This statement marks waiting deliveries of disabled webhooks as held. Webhooks are locked before deliveries, as in all
# transactions. Locked webhooks, which may be about to be enabled, and deliveries that are being sent are skipped until
# a later run.
MARK_HELD_DELIVERIES = f"""
    WITH disabled AS (
        SELECT id FROM webhooks_webhook AS webhook
        WHERE NOT enabled AND EXISTS (
            SELECT FROM webhooks_delivery WHERE webhook_id = webhook.id AND status = 'pending' AND NOT is_held
        )
        ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE webhooks_delivery AS delivery SET is_held = true FROM disabled
    WHERE delivery.webhook_id = disabled.id AND delivery.status = 'pending' AND NOT delivery.is_held
        AND (delivery.lease_expires_at IS NULL OR NOT {DELIVERY_LEASE.sql("delivery.lease_expires_at")})
"""  # noqa: S608  # The query is composed of constants.


class DeliveryClaim(Struct, frozen=True):
    """Claim of a worker on one attempt of a delivery.

    It is valid until the lease expires, and has all data for the attempt. `attempt` counts from 1. `body` is the
    event's stored body, which is sent in the webhook's `format`. `encrypted_secrets` are the webhook's valid secrets,
    oldest first. `request_id` is the ID of the request that led to the event, or empty.
    """

    token: uuid.UUID
    delivery_id: str
    webhook_id: str
    attempt: int
    url: str
    is_failing: bool
    format: str
    event_id: str
    kind: str
    body: bytes
    is_test: bool
    request_id: str
    encrypted_secrets: tuple[bytes, ...]


def claim(*, limit: int, failing_limit: int, now: datetime) -> list[DeliveryClaim]:
    """Claim up to `limit` due deliveries.

    At most `failing_limit` of them are for failing webhooks. Deliveries of different receivers and webhooks alternate.
    A receiver gets at most MAX_ATTEMPTS_PER_RECEIVER attempts at a time.
    """
    token = uuid.uuid4()
    limits = {"limit": limit, "failing_limit": failing_limit}
    limits |= {"per_receiver": MAX_ATTEMPTS_PER_RECEIVER, "per_failing": MAX_ATTEMPTS_PER_FAILING_WEBHOOK}
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [CLAIM_LOCK])
        cursor.execute(SELECT_DUE_DELIVERIES, {"now": now, **limits})
        ids = [id for (id,) in cursor.fetchall()]
        if not ids:
            return []
        cursor.execute(CLAIM, {"ids": ids, "token": token, "now": now})
        rows = cursor.fetchall()
    return [
        DeliveryClaim(
            token=token,
            delivery_id=id,
            webhook_id=hook,
            attempt=attempt,
            url=url,
            is_failing=is_failing,
            format=form,
            event_id=event_id,
            kind=kind,
            body=bytes(body),
            is_test=is_test,
            request_id=request_id,
            encrypted_secrets=(*map(bytes, former), bytes(secret)),
        )
        for id, hook, attempt, url, is_failing, form, event_id, kind, body, is_test, request_id, secret, former in rows
    ]


def next_due_at(*, now: datetime, within: timedelta) -> datetime | None:
    """Return the time when the next delivery is due.

    None if none is due within the timedelta `within`.
    """
    with connection.cursor() as cursor:
        cursor.execute(NEXT_DUE_TIME, {"now": now, "until": now + within})
        moment: datetime | None
        (moment,) = cursor.fetchone()
    return moment


def mark_held_deliveries() -> int:
    """Mark waiting deliveries of disabled webhooks as held.

    Claims skip deliveries with `is_held`. Returns the number of marked deliveries.
    """
    with connection.cursor() as cursor:
        cursor.execute(MARK_HELD_DELIVERIES)
        count: int = cursor.rowcount
    return count


def unmark_held_deliveries(webhook: Webhook) -> None:
    """Free the deliveries of a webhook that is being enabled.

    Unsets `is_held`. The caller has locked the webhook.
    """
    webhook.deliveries.filter(status=Delivery.Status.PENDING, is_held=True).update(is_held=False)
