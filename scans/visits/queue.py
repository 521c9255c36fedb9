"""Scheduling of visits in the queues: messages only say that a scan waits; the rows decide which visit is next.

Priority: interrupted visits, then interactive scans, then pages of audits (background). Among equals, the organization
with the fewest running visits is next, then the one with the longest wait since its last turn; its oldest visit is
taken. So a single scan of one organization does not wait for the backlog of another. It also finds a slot: if there are
several organizations, the last third of a worker's slots is reserved for organizations without another interactive
visit running. The limits of each domain apply over all organizations (`politeness.py`). A visit of a list also waits
while any visit is at one of its addresses, if they are known, because a list may have thousands of names on one host.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.conf import settings

from accounts import access
from infrastructure import queue
from infrastructure.postgresql.statements import execute, fetch
from scans.models import SCAN_LEASE, Scan
from website_scan.findings import ScanType

SCAN_QUEUE, BROWSER_QUEUE = QUEUES = ("scans", "browser")
# Advisory lock: workers claim visits one after the other, so that each sees the claims before its own.
TURN_LOCK = 0x7363616E5F747572
MAX_ATTEMPTS = 3
NO_LIMIT = 2**31 - 1
# Share of a worker's slots, at least one slot: with six slots, a third organization's scan begins at once beside the
# backlogs of two others.
KEPT_FOR_OTHERS = 1 / 3

HELD = SCAN_LEASE.sql()

# Domains at their limit of visits: `busy` for all visits, `busy_for_pages` for pages of audits, because the last slot
# of a domain is reserved for interactive scans.
BUSY = f"""
    visited AS (
        SELECT domain, count(*) AS visits FROM scans_scan
        WHERE status = 'scanning' AND lead_id IS NULL AND {HELD} AND domain <> ''
        GROUP BY domain HAVING count(*) >= greatest(1, %(per_domain)s - 1)
    ), resting AS (
        SELECT domain FROM scans_domainturn
        WHERE free_at > statement_timestamp() AND taken_at <= statement_timestamp()
    ), busy_for_pages AS (
        SELECT domain FROM visited UNION ALL SELECT domain FROM resting
    ), busy AS (
        SELECT domain FROM visited WHERE visits >= %(per_domain)s UNION ALL SELECT domain FROM resting
    )
"""  # noqa: S608  # of constants

# Condition of a visit: it is none of a list, or no visit is at one of its addresses.
IS_ALONE = "NOT (is_of_list AND coalesce(addresses && (SELECT addresses FROM reached), FALSE))"

# The visit whose turn it is. Limits of the worker's slots only decide `is_here`: if no visit is for this worker, the
# first one for another is returned. `waiting` is a loose index scan from organization to organization: its cost does
# not depend on the number of scans.
NEXT = f"""
    WITH RECURSIVE several AS (
        -- Reserved slots would only slow a single organization down.
        SELECT count(*) > 1 AS is_true FROM (SELECT FROM accounts_organization LIMIT 2) AS organizations
    ), waiting (organization_id) AS (
        (
            SELECT organization_id FROM scans_scan WHERE status = 'queued' AND lead_id IS NULL
            ORDER BY organization_id LIMIT 1
        )
        UNION ALL
        SELECT (
            SELECT other.organization_id FROM scans_scan AS other
            WHERE other.status = 'queued' AND other.lead_id IS NULL
                AND other.organization_id > waiting.organization_id
            ORDER BY other.organization_id LIMIT 1
        )
        FROM waiting WHERE waiting.organization_id IS NOT NULL
    ), running AS (
        SELECT organization_id, count(*) AS visits, count(*) FILTER (WHERE NOT is_background) AS waited_for,
            count(*) FILTER (WHERE worker = %(worker)s AND NOT is_background) AS here,
            count(*) FILTER (WHERE worker = %(worker)s AND is_background) AS background_here
        FROM scans_scan
        WHERE status = 'scanning' AND lead_id IS NULL AND {HELD} AND type = ANY(%(types)s)
        GROUP BY organization_id
    ), discovering AS (
        SELECT count(*) AS places FROM sites_audit  -- who looks for pages has a place, too
        WHERE status = 'discovering' AND worker = %(worker)s AND lease_expires_at > statement_timestamp()
    ), taken AS (
        SELECT count(*) + (SELECT places FROM discovering) AS places FROM scans_scan
        WHERE status = 'scanning' AND lead_id IS NULL AND {HELD} AND worker = %(worker)s
    ), reached AS (
        SELECT coalesce(array_agg(address), '{{}}') AS addresses FROM scans_scan, unnest(addresses) AS address
        WHERE status = 'scanning' AND lead_id IS NULL AND {HELD}
    ), {BUSY}
    (
        SELECT 1 AS rank, id, organization_id, type, TRUE AS is_here FROM scans_scan
        WHERE status = 'scanning' AND lead_id IS NULL AND NOT {HELD} AND type = ANY(%(types)s)
            AND attempts < %(max_attempts)s AND domain NOT IN (SELECT domain FROM busy) AND {IS_ALONE}
        ORDER BY created_at, id LIMIT 1
    ) UNION ALL (
        SELECT 2 AS rank, scan.id, waiting.organization_id, scan.type, place.is_here FROM waiting
        LEFT JOIN running ON running.organization_id = waiting.organization_id
        LEFT JOIN scans_turn AS turn ON turn.organization_id = waiting.organization_id AND turn.queue = %(queue)s
        CROSS JOIN LATERAL (
            SELECT id, type, created_at, is_background FROM scans_scan
            WHERE organization_id = waiting.organization_id AND status = 'queued' AND lead_id IS NULL
                AND type = ANY(%(types)s) AND attempts < %(max_attempts)s
                AND domain NOT IN (SELECT domain FROM busy)
                AND (NOT is_background OR domain NOT IN (SELECT domain FROM busy_for_pages))
                AND {IS_ALONE}
            ORDER BY is_background, created_at, id LIMIT 1
        ) AS scan
        CROSS JOIN LATERAL (
            SELECT CASE WHEN scan.is_background
                THEN (coalesce(running.background_here, 0) < %(share)s OR NOT (SELECT is_true FROM several))
                    AND (SELECT coalesce(sum(background_here), 0) FROM running)
                        < greatest(1, %(background)s - (SELECT places FROM discovering))
                ELSE coalesce(running.here, 0) < %(share)s OR NOT (SELECT is_true FROM several)
            END AND (
                coalesce(running.waited_for, 0) = 0 AND NOT scan.is_background
                OR (SELECT places FROM taken) < %(common)s OR NOT (SELECT is_true FROM several)
            ) AS is_here
        ) AS place
        ORDER BY place.is_here DESC, scan.is_background, coalesce(running.visits, 0), turn.taken_at NULLS FIRST,
            scan.created_at, scan.id
        LIMIT 1
    )
    ORDER BY rank LIMIT 1
"""  # noqa: S608  # of constants

TAKE_TURN = """
    INSERT INTO scans_turn (organization_id, queue, taken_at)
    VALUES (%(organization)s, %(queue)s, statement_timestamp())
    ON CONFLICT (organization_id, queue) DO UPDATE SET taken_at = excluded.taken_at
"""


@dataclass(frozen=True, slots=True)
class Worker:
    """Celery worker: its name and its number of slots (concurrency)."""

    name: str = ""
    places: int = 1


@dataclass(frozen=True, slots=True)
class Turn:
    """Visit that may begin: its leading scan. Unless `is_here`, only a worker with other free slots may claim it."""

    scan_id: str
    organization_id: int
    type: ScanType
    is_here: bool


def queue_of(scan_type: ScanType) -> str:
    """Return the queue for scans of this type."""
    return BROWSER_QUEUE if settings.SCAN_BROWSER != "off" and scan_type.uses_browser else SCAN_QUEUE


def types_of(queue: str) -> list[str]:
    """Return the types whose scans use this queue."""
    return [str(each) for each in ScanType if queue_of(each) == queue]


def running_visits(organization_id: int) -> int:
    """Count the organization's queued and running visits, for its concurrency limit."""
    return access.rows(Scan, organization_id).unfinished().visits().count()  # type: ignore[attr-defined]  # ScanQuerySet


def enqueue(scan_id: str, scan_type: ScanType) -> None:
    """Send the workers a message that a scan waits. If the queue refuses it, the sweeper sends it again."""
    queue.enqueue("scans.tasks.run_scan", scan_id, queue_of(scan_type))


def wait_in_line() -> None:
    """Take the advisory lock until the end of the transaction: no other worker claims a visit meanwhile."""
    fetch("SELECT pg_advisory_xact_lock(%(lock)s)", {"lock": TURN_LOCK})


def next_in_turn(queue: str, worker: Worker) -> Turn | None:
    """Return the visit whose turn it is; None if none may begin anywhere."""
    parameters: dict[str, Any] = {
        "queue": queue,
        "types": types_of(queue),
        "worker": worker.name,
        # One organization may use half of the browsers, which are few and slow.
        "share": max(1, worker.places // 2) if queue == BROWSER_QUEUE else NO_LIMIT,
        "common": max(1, worker.places - max(1, int(worker.places * KEPT_FOR_OTHERS))),
        "background": worker.places - 1,
        "per_domain": settings.SCAN_VISITS_PER_DOMAIN,
        "max_attempts": MAX_ATTEMPTS,
    }
    for _, scan_id, organization_id, scan_type, is_here in fetch(NEXT, parameters):
        return Turn(scan_id, organization_id, ScanType(scan_type), is_here)
    return None


def take_turn(organization_id: int, queue: str) -> None:
    """Record the organization's turn: one of its scans was taken from the queue."""
    execute(TAKE_TURN, {"organization": organization_id, "queue": queue})
