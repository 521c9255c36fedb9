"""What attempts led to, written down: the log, the deliveries, and how their webhooks fare."""

from __future__ import annotations

import logging
import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import connection, transaction
from django.db.models import Q

from webhooks.delivery import schedule
from webhooks.delivery.schedule import Outcome, Verdict
from webhooks.delivery.sending import Report
from webhooks.models import Attempt, Delivery, Webhook

logger = logging.getLogger(__name__)

# Bound to the claim, so that an attempt that outlived its lease changes nothing.
SETTLE = """
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


@dataclass(frozen=True, slots=True)
class _Judged:
    report: Report
    verdict: Verdict


def record(reports: Sequence[Report]) -> None:
    """Write the ends of these attempts, in one transaction; raises Django's database errors, having written nothing.

    What was delivered or tried by somebody else meanwhile, or deleted, is left out.
    """
    judged = [_Judged(report, _verdict(report)) for report in reports]
    with transaction.atomic():
        # Webhooks before deliveries, in one order: nobody waits for each other.
        webhooks = _lock_affected(reports)
        settled = _settle(judged)
        ours = [each for each in judged if each.report.claim.delivery_id in settled]
        Attempt.objects.bulk_create(_attempt(each.report) for each in ours)
        by_webhook: dict[str, list[_Judged]] = defaultdict(list)
        for each in sorted(ours, key=lambda each: each.report.ended_at):
            by_webhook[each.report.claim.webhook_id].append(each)
        for webhook in webhooks:
            if webhook.id in by_webhook:
                _note_health(webhook, by_webhook[webhook.id])


def _verdict(report: Report) -> Verdict:
    return schedule.verdict(
        attempt=report.claim.attempt,
        status=report.status,
        retry_after=report.retry_after,
        now=report.ended_at,
        uniform=random.uniform,
        pauses=schedule.ONCE if report.claim.is_test else schedule.PAUSES,
    )


def _lock_affected(reports: Iterable[Report]) -> list[Webhook]:
    """The webhooks whose health these reports change. Success changes nothing where all was well."""
    failed = {report.claim.webhook_id for report in reports if not report.is_success}
    succeeded = {report.claim.webhook_id for report in reports if report.is_success}
    affected = Q(id__in=failed) | Q(id__in=succeeded, failing_since__isnull=False)
    return list(Webhook.objects.select_for_update(no_key=True).filter(affected).order_by("id"))


def _settle(judged: Sequence[_Judged]) -> set[str]:
    """Write where the attempts leave their deliveries; returns the IDs of those that were still ours."""
    columns: dict[str, list[object]] = defaultdict(list)
    for each in judged:
        report, verdict = each.report, each.verdict
        columns["ids"].append(report.claim.delivery_id)
        columns["tokens"].append(report.claim.token)
        columns["statuses"].append(str(STATUSES[verdict.outcome]))
        columns["next"].append(verdict.retry_at or report.ended_at)
        columns["finished"].append(None if verdict.outcome is Outcome.RETRY else report.ended_at)
    with connection.cursor() as cursor:
        cursor.execute(SETTLE, columns)
        return {id for (id,) in cursor.fetchall()}


def _attempt(report: Report) -> Attempt:
    return Attempt(
        delivery_id=report.claim.delivery_id,
        at=report.at,
        latency_ms=report.latency_ms,
        response_status=report.status,
        response_body=report.body,
        error_code=report.error_code,
        error_message=report.error_message[:300],
        blocked=report.blocked,
    )


def _note_health(webhook: Webhook, judged: Sequence[_Judged]) -> None:
    """Count failures in a row, in the order of their ends, and disable the webhook when it is time to."""
    for report in (each.report for each in judged):
        if report.is_success:
            webhook.failing_since, webhook.failures = None, 0
        elif not report.is_our_fault:
            webhook.failing_since = webhook.failing_since or report.at
            webhook.failures += 1
    now = judged[-1].report.ended_at
    if webhook.enabled:
        if any(each.verdict.outcome is Outcome.GONE for each in judged):
            _disable(webhook, Webhook.Reason.GONE, now)
        elif webhook.failing_since is not None and schedule.is_to_be_disabled(
            failing_since=webhook.failing_since, failures=webhook.failures, now=now
        ):
            _disable(webhook, Webhook.Reason.FAILING, now)
    webhook.save()


def _disable(webhook: Webhook, reason: Webhook.Reason, now: datetime) -> None:
    logger.warning("webhook %s was disabled: %s", webhook.id, reason.label)
    webhook.enabled = False
    webhook.disabled_at = webhook.notice_due_at = now
    webhook.disabled_reason = reason
