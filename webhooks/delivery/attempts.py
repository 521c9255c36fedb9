"""Store the results of delivery attempts.

Disables webhooks that fail too often.
"""

from __future__ import annotations

import logging
import random
from collections import defaultdict
from collections.abc import Iterable, Sequence

from django.db import connection, transaction
from django.db.models import Q
from msgspec import Struct

from infrastructure.logging import job_log_context
from infrastructure.telemetry.access_log import log_delivery
from infrastructure.telemetry.counters import count, observe
from infrastructure.telemetry.process_metrics import DELIVERY_ATTEMPTS, DELIVERY_DURATION, EGRESS_REFUSED
from webhooks.delivery import notices, schedule
from webhooks.delivery.schedule import NextStep, Outcome
from webhooks.delivery.sending import AttemptResult
from webhooks.models import Attempt, Delivery, Webhook

logger = logging.getLogger(__name__)

# An attempt whose lease has expired changes nothing.
UPDATE_DELIVERIES = """
    UPDATE webhooks_delivery AS delivery SET status = settled.status, next_attempt_at = settled.next_attempt_at,
        finished_at = settled.finished_at, attempts_made = attempts_made + 1,
        claim_token = NULL, lease_expires_at = NULL
    FROM unnest(%(ids)s::text[], %(tokens)s::uuid[], %(statuses)s::text[], %(next)s::timestamptz[],
        %(finished)s::timestamptz[]) AS settled (id, token, status, next_attempt_at, finished_at)
    WHERE delivery.id = settled.id AND delivery.claim_token = settled.token AND delivery.status = 'pending'
    RETURNING delivery.id
"""
STATUSES = {
    Outcome.DELIVERED: Delivery.Status.DELIVERED,
    Outcome.RETRY: Delivery.Status.PENDING,
    Outcome.FAILED: Delivery.Status.FAILED,
    Outcome.GONE: Delivery.Status.FAILED,
}


class _EndedAttempt(Struct, frozen=True):
    result: AttemptResult
    next_step: NextStep


def record(results: Sequence[AttemptResult]) -> None:
    """Store the results of attempts in one transaction.

    A database error is raised, and nothing is stored. Results of deliveries that were deleted, or that another worker
    has claimed or finished meanwhile, are ignored.
    """
    ended = [_EndedAttempt(result, _next_step(result)) for result in results]
    with transaction.atomic():
        # Webhooks are locked before deliveries everywhere, to avoid deadlocks.
        webhooks = _lock_affected_webhooks(results)
        updated_ids = _update_deliveries(ended)
        settled = [attempt for attempt in ended if attempt.result.claim.delivery_id in updated_ids]
        Attempt.objects.bulk_create(_attempt_row(attempt.result) for attempt in settled)
        attempts_by_webhook: dict[str, list[_EndedAttempt]] = defaultdict(list)
        for attempt in sorted(settled, key=lambda attempt: attempt.result.ended_at):
            attempts_by_webhook[attempt.result.claim.webhook_id].append(attempt)
        for webhook in webhooks:
            if webhook.id in attempts_by_webhook:
                _update_health(webhook, attempts_by_webhook[webhook.id])
    for attempt in settled:
        _report_attempt(attempt)


def _report_attempt(ended: _EndedAttempt) -> None:
    """Report a recorded attempt in the metrics and the access log."""
    result, claim, outcome = ended.result, ended.result.claim, ended.next_step.outcome.name.lower()
    count(DELIVERY_ATTEMPTS, outcome)
    observe(DELIVERY_DURATION, result.latency_ms / 1000)
    if result.blocked:
        count(EGRESS_REFUSED, "delivery")
    with job_log_context(claim.delivery_id, claim.request_id):
        log_delivery(
            delivery=claim.delivery_id,
            webhook=claim.webhook_id,
            event=claim.kind,
            outcome=outcome,
            status=result.status,
            error=result.error_code,
            wall_ms=result.latency_ms,
            attempt=claim.attempt,
        )


def _next_step(result: AttemptResult) -> NextStep:
    return schedule.next_step(
        attempt=result.claim.attempt,
        status=result.status,
        retry_after=result.retry_after,
        now=result.ended_at,
        uniform=random.uniform,
        pauses=schedule.ONCE if result.claim.is_test else schedule.PAUSES,
    )


def _lock_affected_webhooks(results: Iterable[AttemptResult]) -> list[Webhook]:
    """Lock the webhooks whose failure count these attempts change.

    Returns the locked webhooks.
    """
    failed = {result.claim.webhook_id for result in results if not result.is_success}
    succeeded = {result.claim.webhook_id for result in results if result.is_success}
    affected = Q(id__in=failed) | Q(id__in=succeeded, failing_since__isnull=False)
    return list(Webhook.objects.select_for_update(no_key=True).filter(affected).order_by("id"))


def _update_deliveries(ended: Sequence[_EndedAttempt]) -> set[str]:
    """Update the deliveries of the attempts.

    Returns the IDs of deliveries whose claim was still valid.
    """
    columns: dict[str, list[object]] = defaultdict(list)
    for attempt in ended:
        result, next_step = attempt.result, attempt.next_step
        columns["ids"].append(result.claim.delivery_id)
        columns["tokens"].append(result.claim.token)
        columns["statuses"].append(str(STATUSES[next_step.outcome]))
        columns["next"].append(next_step.retry_at or result.ended_at)
        columns["finished"].append(None if next_step.outcome is Outcome.RETRY else result.ended_at)
    with connection.cursor() as cursor:
        cursor.execute(UPDATE_DELIVERIES, columns)
        return {id for (id,) in cursor.fetchall()}


def _attempt_row(result: AttemptResult) -> Attempt:
    return Attempt(
        delivery_id=result.claim.delivery_id,
        at=result.at,
        latency_ms=result.latency_ms,
        response_status=result.status,
        response_body=result.body,
        error_code=result.error_code,
        error_message=result.error_message[:300],
        blocked=result.blocked,
    )


def _update_health(webhook: Webhook, ended: Sequence[_EndedAttempt]) -> None:
    """Update a webhook's count of consecutive failures.

    The attempts are sorted by end time. The webhook is disabled if there are too many failures, or if its receiver has
    answered 410 Gone.
    """
    for result in (attempt.result for attempt in ended):
        if result.is_success:
            webhook.failing_since, webhook.failures = None, 0
        elif not result.is_internal_error:
            webhook.failing_since = webhook.failing_since or result.at
            webhook.failures += 1
    last = ended[-1].result
    now = last.ended_at
    if webhook.enabled:
        if any(attempt.next_step.outcome is Outcome.GONE for attempt in ended):
            _disable_webhook(webhook, Webhook.Reason.GONE, last)
        elif webhook.failing_since is not None and schedule.exceeds_failure_limits(
            failing_since=webhook.failing_since, failures=webhook.failures, now=now
        ):
            _disable_webhook(webhook, Webhook.Reason.FAILING, last)
    webhook.save()


def _disable_webhook(webhook: Webhook, reason: Webhook.Reason, last: AttemptResult) -> None:
    logger.warning("webhook %s was disabled: %s", webhook.id, reason.label)
    webhook.enabled = False
    webhook.disabled_at = last.ended_at
    webhook.disabled_reason = reason
    notices.post_disabled_notice(webhook, last)
