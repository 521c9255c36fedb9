"""Whether new scans would wait too long: measured by how long organizations wait for their turn.

How long a scan waits says little: who has queued two hundred waits for their own. A new scan's organization stands in
line with the others, so what counts is how long one for whom nothing runs has waited since its scan, its last turn
and the last visit of that scan's domain, whichever was last. What its domain keeps back does not count.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import connection
from django.utils import timezone

from infrastructure.api.errors import ServiceUnavailable
from infrastructure.health import redis_answers
from scanner.findings import ScanType
from scans.models import Scan
from scans.visits.queue import BUSY, HELD, MAX_ATTEMPTS, queue_of, types_of

# Audits and monitors give way when the wait is this part of what it may be.
SHARE_OF_AUDITS = 0.5
# Longer than that is a guess.
LONGEST_RETRY_S = 300

# As `scans.visits.queue.NEXT` jumps, but through what somebody waits for.
AGE = f"""
    WITH RECURSIVE waiting (organization_id) AS (
        (
            SELECT organization_id FROM scans_scan
            WHERE status = 'queued' AND lead_id IS NULL AND NOT is_background
            ORDER BY organization_id LIMIT 1
        )
        UNION ALL
        SELECT (
            SELECT other.organization_id FROM scans_scan AS other
            WHERE other.status = 'queued' AND other.lead_id IS NULL AND NOT is_background
                AND other.organization_id > waiting.organization_id
            ORDER BY other.organization_id LIMIT 1
        )
        FROM waiting WHERE waiting.organization_id IS NOT NULL
    ), running AS (
        SELECT organization_id FROM scans_scan
        WHERE status = 'scanning' AND lead_id IS NULL AND NOT is_background AND {HELD} AND type = ANY(%(types)s)
    ), {BUSY}
    SELECT coalesce(max(extract(epoch FROM
        statement_timestamp() - greatest(scan.created_at, turn.taken_at, domain.taken_at)
    )), 0)::float
    FROM waiting
    CROSS JOIN LATERAL (
        SELECT created_at, domain FROM scans_scan
        WHERE organization_id = waiting.organization_id AND status = 'queued' AND lead_id IS NULL
            AND NOT is_background AND type = ANY(%(types)s) AND attempts < %(max_attempts)s
            AND domain NOT IN (SELECT domain FROM busy)
        ORDER BY is_background, created_at, id LIMIT 1
    ) AS scan
    LEFT JOIN scans_turn AS turn ON turn.organization_id = waiting.organization_id AND turn.queue = %(queue)s
    LEFT JOIN scans_domainturn AS domain ON domain.domain = scan.domain
    WHERE waiting.organization_id NOT IN (SELECT organization_id FROM running)
"""  # noqa: S608  # of constants


def queue_age_s(queue: str) -> float:
    """Seconds for which an organization waits in this queue that has nothing running: how long a new scan would."""
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
    """The age of the oldest of these types' queues where it is above the limit, or that share of it; else 0.

    Where nothing at all has waited so long, which one look at an index says, no more is asked.
    """
    limit_s = settings.SCAN_QUEUE_AGE_LIMIT_S * share
    ages = [0.0]
    for queue in {queue_of(each) for each in types}:
        waiting = Scan.objects.visits().filter(status=Scan.Status.QUEUED, is_background=False)
        before = timezone.now() - timedelta(seconds=limit_s)
        if waiting.filter(type__in=types_of(queue), created_at__lt=before).exists():
            ages.append(queue_age_s(queue))
    return max(ages) if max(ages) > limit_s else 0.0


def refuse_when_overloaded(types: Iterable[ScanType], share: float = 1) -> None:
    """Raise ServiceUnavailable where scans of these types would wait too long, or nobody would hear of them.

    Its `retry_after_s` is the time for which the longest has waited: as things go, who waits now has begun by then.
    """
    limit = settings.SCAN_QUEUE_LIMIT
    # Asks for the row after the last that may wait, instead of counting all. Pages of audits delay nobody.
    if Scan.objects.visits().filter(status=Scan.Status.QUEUED, is_background=False)[limit : limit + 1].exists():
        raise ServiceUnavailable("Too many scans are waiting. Try again later.")
    if age_s := overload_s(types, share):
        seconds = min(round(age_s), LONGEST_RETRY_S)
        raise ServiceUnavailable(f"Scans wait too long at the moment. Try again in {seconds} seconds.", seconds)
    if not redis_answers():
        raise ServiceUnavailable("The queue does not respond. Try again in a few seconds.")
