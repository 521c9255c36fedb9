"""Politeness limits for scanned domains, shared by all organizations.

A domain gets only few visits at once, and a pause between two visits. `queue.py` skips domains in their pause. This
module records the pauses and wakes up the scans that wait for their ends.
"""

from __future__ import annotations

import threading
from datetime import timedelta

from django.conf import settings
from django.db import connection, transaction

from infrastructure.postgresql.statements import execute, fetch
from scans.models.domain import domain_of, is_public
from scans.visits.fairness import IS_IN_QUEUE, IS_LEASED
from scans.visits.queue import enqueue, queue_parameters

# Rows are kept longer than any pause, and longer than the wait at which new scans are refused (`overload.py`).
ROW_LIFETIME_S = 3600

RECORD_VISIT = """
    INSERT INTO scans_domainturn (domain, taken_at, free_at, told)
    VALUES (%(domain)s, statement_timestamp(), statement_timestamp() + %(gap)s, '{}')
    ON CONFLICT (domain) DO UPDATE
    SET taken_at = excluded.taken_at, free_at = excluded.free_at, told = excluded.told
"""

# Each pause wakes up each queue only once, for any number of waiting scans, because the next visit starts the next
# pause.
SCHEDULE_WAKE_UPS = f"""
    WITH waiting AS (
        SELECT turn.domain, turn.free_at, scan.id FROM scans_domainturn AS turn
        CROSS JOIN LATERAL (
            (
                SELECT id FROM scans_scan
                WHERE domain = turn.domain AND status = 'queued' AND lead_id IS NULL AND {IS_IN_QUEUE}
                LIMIT 1
            ) UNION ALL (
                SELECT id FROM scans_scan
                WHERE status = 'scanning' AND lead_id IS NULL AND domain = turn.domain AND NOT {IS_LEASED}
                    AND {IS_IN_QUEUE}
                LIMIT 1
            ) LIMIT 1
        ) AS scan
        WHERE turn.free_at > statement_timestamp() AND NOT turn.told @> ARRAY[%(queue)s]::varchar[]
    )
    UPDATE scans_domainturn AS turn SET told = array_append(turn.told, %(queue)s::varchar)
    FROM waiting WHERE waiting.domain = turn.domain
    RETURNING waiting.id, extract(epoch FROM waiting.free_at - statement_timestamp())::float
"""  # noqa: S608  # of constants

DELETE_OLD_TURNS = "DELETE FROM scans_domainturn WHERE free_at < statement_timestamp() - %s * interval '1 second'"


def min_gap_s(host: str) -> float:
    """Return the minimum time between the starts of two visits to the host's domain, in seconds.

    Returns 0 for private hosts.
    """
    return settings.SCAN_GAP_PER_DOMAIN_S if is_public(host) else 0.0


def record_domain_visit(host: str) -> None:
    """Record that a visit of the host's domain begins now, which starts the domain's pause."""
    execute(RECORD_VISIT, {"domain": domain_of(host), "gap": timedelta(seconds=min_gap_s(host))})


def schedule_wake_ups(queue: str) -> None:
    """Schedule a message for the end of every pause that the queue's scans wait for.

    This process, which has just read the queue, sends the message at that time, and any free worker may read it. If the
    process dies first, the sweeper sends a message.
    """
    if not settings.SCAN_GAP_PER_DOMAIN_S:
        return
    wake_ups = fetch(SCHEDULE_WAKE_UPS, queue_parameters(queue))

    def start_timers() -> None:
        for scan_id, seconds in wake_ups:
            enqueue_later(seconds, scan_id, queue)

    transaction.on_commit(start_timers)


def enqueue_later(seconds: float, scan_id: str, queue: str) -> None:
    """Call `enqueue` after `seconds`, if this process is still running at that time."""
    timer = threading.Timer(seconds, enqueue, (scan_id, queue))
    timer.daemon = True
    timer.start()


def delete_old_domain_turns() -> None:
    """Delete the rows of domains whose pause ended more than ROW_LIFETIME_S ago."""
    with connection.cursor() as cursor:
        cursor.execute(DELETE_OLD_TURNS, [ROW_LIFETIME_S])
