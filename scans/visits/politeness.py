"""Rate limit of visits to a domain over all organizations: few at once, and with a gap between two.

`queue.py` skips domains that are resting; this module records the gaps and wakes the scans that wait for their ends.
"""

from __future__ import annotations

import threading
from datetime import timedelta

from django.conf import settings
from django.db import connection, transaction

from infrastructure.postgresql.statements import execute, fetch
from scans.models.domain import domain_of, is_public
from scans.visits.fairness import HELD
from scans.visits.queue import enqueue, types_of
from website_scan.findings import ScanType

# Longer than any gap, and longer than scans may wait before new ones are refused (`overload.py`).
KEPT_S = 3600

TAKE = """
    INSERT INTO scans_domainturn (domain, taken_at, free_at, told)
    VALUES (%(domain)s, statement_timestamp(), statement_timestamp() + %(gap)s, '{}')
    ON CONFLICT (domain) DO UPDATE
    SET taken_at = excluded.taken_at, free_at = excluded.free_at, told = excluded.told
"""

# Each gap wakes each queue once, for any number of waiting scans: one begins then and starts the next gap.
TELL = f"""
    WITH waiting AS (
        SELECT turn.domain, turn.free_at, scan.id, scan.type FROM scans_domainturn AS turn
        CROSS JOIN LATERAL (
            (
                SELECT id, type FROM scans_scan
                WHERE domain = turn.domain AND status = 'queued' AND lead_id IS NULL AND type = ANY(%(types)s)
                LIMIT 1
            ) UNION ALL (
                SELECT id, type FROM scans_scan
                WHERE status = 'scanning' AND lead_id IS NULL AND domain = turn.domain AND NOT {HELD}
                    AND type = ANY(%(types)s)
                LIMIT 1
            ) LIMIT 1
        ) AS scan
        WHERE turn.free_at > statement_timestamp() AND NOT turn.told @> ARRAY[%(queue)s]::varchar[]
    )
    UPDATE scans_domainturn AS turn SET told = array_append(turn.told, %(queue)s::varchar)
    FROM waiting WHERE waiting.domain = turn.domain
    RETURNING waiting.id, waiting.type, extract(epoch FROM waiting.free_at - statement_timestamp())::float
"""  # noqa: S608  # of constants

FORGET = "DELETE FROM scans_domainturn WHERE free_at < statement_timestamp() - %s * interval '1 second'"


def gap_s(host: str) -> float:
    """Return the minimum seconds between the starts of two visits of the host's domain; 0 for non-public hosts."""
    return settings.SCAN_GAP_PER_DOMAIN_S if is_public(host) else 0.0


def take_domain(host: str) -> None:
    """Record that a visit of the host's domain begins."""
    execute(TAKE, {"domain": domain_of(host), "gap": timedelta(seconds=gap_s(host))})


def wake_after_gaps(queue: str) -> None:
    """Arrange a message for the end of each gap that scans of the queue wait for.

    This process, which has just read the queue, sends an ordinary message at that time, which any free worker takes. If
    the process dies first, the sweeper sends one.
    """
    if not settings.SCAN_GAP_PER_DOMAIN_S:
        return
    told = fetch(TELL, {"queue": queue, "types": types_of(queue)})

    def wait() -> None:
        for scan_id, scan_type, seconds in told:
            enqueue_later(seconds, scan_id, ScanType(scan_type))

    transaction.on_commit(wait)


def enqueue_later(seconds: float, scan_id: str, scan_type: ScanType) -> None:
    """Call `enqueue` after `seconds`, if this process still lives then."""
    timer = threading.Timer(seconds, enqueue, (scan_id, scan_type))
    timer.daemon = True
    timer.start()


def forget_domains() -> None:
    """Delete rows of domains whose gap ended more than KEPT_S ago."""
    with connection.cursor() as cursor:
        cursor.execute(FORGET, [KEPT_S])
