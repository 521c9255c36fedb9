"""Scheduling of visits in the queues: messages only say that a scan waits; the rows decide which visit is next.

Priority: interrupted visits, then interactive scans, then pages of audits (background). Among equals, the organization
with the fewest running visits is next, then the one with the longest wait since its last turn; its oldest visit is
taken. So a single scan of one organization does not wait for the backlog of another. It also finds a slot: if there are
several organizations, the last third of a worker's slots is reserved for organizations without another interactive
visit running. The limits of each domain apply over all organizations (`politeness.py`). A visit of a list also waits
while any visit is at one of its addresses, if they are known, because a list may have thousands of names on one host.
`fairness.py` has these rules in SQL.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.conf import settings

from accounts import access
from infrastructure import queue
from infrastructure.postgresql.statements import execute, fetch
from scans.models import Scan
from scans.visits.fairness import next_turn_sql
from website_scan.findings import ScanType

SCAN_QUEUE, BROWSER_QUEUE = QUEUES = ("scans", "browser")
# Advisory lock: workers claim visits one after the other, so that each sees the claims before its own.
TURN_LOCK = 0x7363616E5F747572
MAX_ATTEMPTS = 3
NO_LIMIT = 2**31 - 1
# Share of a worker's slots, at least one slot: with six slots, a third organization's scan begins at once beside the
# backlogs of two others.
KEPT_FOR_OTHERS = 1 / 3

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
    scans = access.rows(Scan, organization_id)
    running: int = scans.unfinished().visits().count()  # type: ignore[attr-defined]  # ScanQuerySet
    return running


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
    for _, scan_id, organization_id, scan_type, is_here in fetch(next_turn_sql(), parameters):
        return Turn(scan_id, organization_id, ScanType(scan_type), is_here)
    return None


def take_turn(organization_id: int, queue: str) -> None:
    """Record the organization's turn: one of its scans was taken from the queue."""
    execute(TAKE_TURN, {"organization": organization_id, "queue": queue})
