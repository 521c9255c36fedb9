"""Overload test: refuses new scans that would wait too long, measured by the organizations' wait for their turn.

The age of a scan says little: an organization that has queued two hundred scans waits for its own. Organizations take
turns, so the measure is the wait of an organization without a running scan: since its scan was created, its last turn,
or the last visit of that scan's domain, whichever was last. Scans held back by their domain's limits do not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.conf import settings
from django.db import connection

from infrastructure.api.errors import ServiceUnavailable
from infrastructure.cache import redis_answers
from scans.visits.fairness import DOMAINS, MAY_BEGIN, QUEUED, RUNNING, waiting_organizations, with_queries
from scans.visits.queue import MAX_ATTEMPTS, queue_of, types_of
from website_scan.findings import ScanType

# Audits and monitors are refused when the wait reaches this share of the limit.
SHARE_OF_AUDITS = 0.5
# Maximum Retry-After: a longer one would be a guess.
LONGEST_RETRY_S = 300

# Only what somebody waits for counts: organizations with a queued visit, and those with a running one.
QUERIES = {
    "waiting (organization_id)": waiting_organizations("NOT is_background"),
    "running": f"""
        SELECT organization_id FROM scans_scan WHERE {RUNNING} AND NOT is_background AND type = ANY(%(types)s)
    """,  # noqa: S608  # of constants
    **DOMAINS,
}
AGE = f"""
    {with_queries(QUERIES)}
    SELECT coalesce(max(extract(epoch FROM
        statement_timestamp() - greatest(scan.created_at, turn.taken_at, domain.taken_at)
    )), 0)::float
    FROM waiting
    CROSS JOIN LATERAL (
        SELECT created_at, domain FROM scans_scan
        WHERE organization_id = waiting.organization_id AND {QUEUED} AND NOT is_background AND {MAY_BEGIN}
        ORDER BY is_background, created_at, id LIMIT 1
    ) AS scan
    LEFT JOIN scans_turn AS turn ON turn.organization_id = waiting.organization_id AND turn.queue = %(queue)s
    LEFT JOIN scans_domainturn AS domain ON domain.domain = scan.domain
    WHERE waiting.organization_id NOT IN (SELECT organization_id FROM running)
"""  # noqa: S608  # of constants

WAITING = """
    SELECT type, count(*), extract(epoch FROM statement_timestamp() - min(created_at))::float FROM scans_scan
    WHERE status = 'queued' AND lead_id IS NULL AND NOT is_background
    GROUP BY type
"""


def queue_age_s(queue: str) -> float:
    """Return the longest wait in seconds of an organization without a running scan: an estimate for a new scan."""
    parameters: dict[str, Any] = {
        "queue": queue,
        "types": types_of(queue),
        "per_domain": settings.SCAN_VISITS_PER_DOMAIN,
        "max_attempts": MAX_ATTEMPTS,
    }
    with connection.cursor() as cursor:
        cursor.execute(AGE, parameters)
        (seconds,) = cursor.fetchone()
    return max(0.0, float(seconds))


def overload_s(types: Iterable[ScanType], share: float = 1) -> float:
    """Return the largest queue age for these types if it exceeds the limit times `share`; else 0."""
    return _overload_s(_waiting(), types, share)


def refuse_when_overloaded(types: Iterable[ScanType], share: float = 1) -> None:
    """Raise ServiceUnavailable if scans of these types would wait too long, or Redis does not answer.

    `retry_after_s` is the longest present wait: at that rate, the scans that wait now will have begun by then.
    """
    waiting = _waiting()
    if sum(count for count, _ in waiting.values()) > settings.SCAN_QUEUE_LIMIT:
        raise ServiceUnavailable("Too many scans are waiting. Try again later.")
    if age_s := _overload_s(waiting, types, share):
        seconds = min(round(age_s), LONGEST_RETRY_S)
        raise ServiceUnavailable(f"Scans wait too long at the moment. Try again in {seconds} seconds.", seconds)
    if not redis_answers():
        raise ServiceUnavailable("The queue does not respond. Try again in a few seconds.")


def _overload_s(waiting: Mapping[str, tuple[int, float]], types: Iterable[ScanType], share: float) -> float:
    """Return the largest age of a queue over the limit. It is computed only if a scan has waited that long."""
    limit_s = settings.SCAN_QUEUE_AGE_LIMIT_S * share
    late = {type_ for type_, (_, age_s) in waiting.items() if age_s > limit_s}
    queues = {queue_of(each) for each in types}
    longest_s = max((queue_age_s(queue) for queue in queues if late.intersection(types_of(queue))), default=0.0)
    return longest_s if longest_s > limit_s else 0.0


def _waiting() -> dict[str, tuple[int, float]]:
    """Return the number of waiting scans by type, and for how many seconds the first has waited; no pages of audits.

    It reads all of them, which are at most a few more than the queue's limit. To ask only whether there is one that has
    waited too long would seem to cost less, but PostgreSQL expects to find one soon, and reads all scans in vain.
    """
    with connection.cursor() as cursor:
        cursor.execute(WAITING)
        return {type_: (count, age_s) for type_, count, age_s in cursor.fetchall()}
