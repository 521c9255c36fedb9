"""Overload protection for the queues.

New scans are refused if they would wait too long. The age of a scan is no measure: an organization that has queued two
hundred scans waits for its own. Organizations take turns, so the measure is the wait of an organization without a
running scan: since its scan was created, since its last turn, or since the last visit of that scan's domain, whichever
was last. Scans that wait for their domain's limits or for their address do not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.conf import settings
from django.db import connection

from infrastructure.api.errors import ServiceUnavailable
from infrastructure.cache import redis_answers
from scans.visits.fairness import (
    ADDRESS_IS_FREE,
    ADDRESSES,
    DOMAINS,
    IS_IN_QUEUE,
    QUEUED,
    RUNNING,
    VISIT_MAY_BEGIN,
    waiting_organizations,
    with_clause,
)
from scans.visits.queue import MAX_ATTEMPTS, queue_of, queue_parameters, types_of
from website_scan.findings import ScanType

# Audits and monitors are refused earlier than scans, when the wait reaches this share of the limit.
AUDIT_SHARE_OF_WAIT_LIMIT = 0.5
# Maximum value of Retry-After, because longer waits cannot be predicted.
MAX_RETRY_AFTER_S = 300

# These queries select organizations with a queued visit and organizations with a running visit. Only interactive scans
# count.
QUERIES = {
    "waiting (organization_id)": waiting_organizations("NOT is_background"),
    "running": f"""
        SELECT organization_id FROM scans_scan WHERE {RUNNING} AND NOT is_background AND {IS_IN_QUEUE}
    """,  # noqa: S608  # of constants
    **ADDRESSES,
    **DOMAINS,
}
QUEUE_AGE_QUERY = f"""
    {with_clause(QUERIES)}
    SELECT coalesce(max(extract(epoch FROM
        statement_timestamp() - greatest(scan.created_at, turn.taken_at, domain.taken_at)
    )), 0)::float
    FROM waiting
    CROSS JOIN LATERAL (
        SELECT created_at, domain FROM scans_scan
        WHERE organization_id = waiting.organization_id AND {QUEUED} AND NOT is_background AND {VISIT_MAY_BEGIN}
            AND {ADDRESS_IS_FREE}
        ORDER BY is_background, created_at, id LIMIT 1
    ) AS scan
    LEFT JOIN scans_turn AS turn ON turn.organization_id = waiting.organization_id AND turn.queue = %(queue)s
    LEFT JOIN scans_domainturn AS domain ON domain.domain = scan.domain
    WHERE waiting.organization_id NOT IN (SELECT organization_id FROM running)
"""  # noqa: S608  # of constants

WAITING_SCANS_QUERY = """
    SELECT type, count(*), extract(epoch FROM statement_timestamp() - min(created_at))::float FROM scans_scan
    WHERE status = 'queued' AND lead_id IS NULL AND NOT is_background
    GROUP BY type
"""


def queue_age_s(queue: str) -> float:
    """Return the longest wait in seconds among organizations without a running scan.

    It predicts the wait of a new scan.
    """
    parameters: dict[str, Any] = {
        **queue_parameters(queue),
        "per_domain": settings.SCAN_VISITS_PER_DOMAIN,
        "max_attempts": MAX_ATTEMPTS,
    }
    with connection.cursor() as cursor:
        cursor.execute(QUEUE_AGE_QUERY, parameters)
        (seconds,) = cursor.fetchone()
    return max(0.0, float(seconds))


def overload_s(types: Iterable[ScanType], share: float = 1) -> float:
    """Return the longest queue wait for these types in seconds if it exceeds `share` of the limit, else 0."""
    return _overload_s(_waiting_scans(), types, share)


def refuse_when_overloaded(types: Iterable[ScanType], share: float = 1) -> None:
    """Raise ServiceUnavailable if scans of these types would wait too long, or if Redis does not respond.

    `retry_after_s` is the longest present wait: at the present rate, all scans that wait now will have begun by then.
    """
    waiting = _waiting_scans()
    if sum(count for count, _ in waiting.values()) > settings.SCAN_QUEUE_LIMIT:
        raise ServiceUnavailable("Too many scans are waiting. Try again later.")
    if age_s := _overload_s(waiting, types, share):
        seconds = min(round(age_s), MAX_RETRY_AFTER_S)
        raise ServiceUnavailable(f"Scans wait too long at the moment. Try again in {seconds} seconds.", seconds)
    if not redis_answers():
        raise ServiceUnavailable("The queue does not respond. Try again in a few seconds.")


def _overload_s(waiting: Mapping[str, tuple[int, float]], types: Iterable[ScanType], share: float) -> float:
    """Return the longest queue wait in seconds if it exceeds the limit, else 0."""
    limit_s = settings.SCAN_QUEUE_AGE_LIMIT_S * share
    overdue_types = {type_ for type_, (_, age_s) in waiting.items() if age_s > limit_s}
    queues = {queue_of(scan_type) for scan_type in types}
    longest_wait_s = max(
        (queue_age_s(queue) for queue in queues if overdue_types.intersection(types_of(queue))), default=0.0
    )
    return longest_wait_s if longest_wait_s > limit_s else 0.0


def _waiting_scans() -> dict[str, tuple[int, float]]:
    """Return the number of queued interactive scans and their longest wait in seconds, by scan type.

    The query reads all of these scans, at most a few more than SCAN_QUEUE_LIMIT. A query with LIMIT 1 for a scan that
    has waited too long looks cheaper, but PostgreSQL expects to find a row early, and reads all rows if there is none.
    """
    with connection.cursor() as cursor:
        cursor.execute(WAITING_SCANS_QUERY)
        return {type_: (count, age_s) for type_, count, age_s in cursor.fetchall()}
