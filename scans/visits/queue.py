"""Scheduling of visits in the queues. Messages only announce that some scan waits; the rows decide which visit is next.

Priority: interrupted visits, then interactive scans, then pages of audits (background). Among equals, the organization
with the fewest running visits is next, then the organization with the longest wait since its last turn, with its oldest
visit. So a single scan of one organization does not wait for the backlog of another.

If there are several organizations, the last third of a worker's slots is reserved for organizations without a running
interactive visit. The limits of each domain apply over all organizations (`politeness.py`). A visit of a list also
waits while any visit connects to one of its known addresses, because a list may have thousands of names on one host.
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
# Advisory lock under which workers claim visits one after the other, so that each worker sees all earlier claims.
TURN_LOCK = 0x7363616E5F747572
MAX_ATTEMPTS = 3
NO_LIMIT = 2**31 - 1
# Share of a worker's slots that is reserved for other organizations, at least one slot. With six slots, the scan of a
# third organization begins at once although two others have backlogs.
RESERVED_SHARE = 1 / 3

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
class NextVisit:
    """Visit that may begin, by its lead scan. If `is_here` is False, only another worker may claim the visit."""

    scan_id: str
    organization_id: int
    type: ScanType
    is_here: bool


def queue_of(scan_type: ScanType) -> str:
    """Return the queue for scans of this type."""
    return BROWSER_QUEUE if settings.SCAN_BROWSER != "off" and scan_type.uses_browser else SCAN_QUEUE


def types_of(queue: str) -> list[str]:
    """Return the types whose scans use this queue."""
    return [str(scan_type) for scan_type in ScanType if queue_of(scan_type) == queue]


def running_visits(organization_id: int) -> int:
    """Return the number of the organization's queued and running visits, for its concurrency limit."""
    scans = access.rows(Scan, organization_id)
    running: int = scans.unfinished().visits().count()  # type: ignore[attr-defined]  # ScanQuerySet
    return running


def enqueue(scan_id: str, scan_type: ScanType) -> None:
    """Send the workers a message that a scan waits. If the queue refuses the message, the sweeper sends it again."""
    queue.enqueue("scans.tasks.run_scan", scan_id, queue_of(scan_type))


def acquire_turn_lock() -> None:
    """Acquire the advisory lock until the end of the transaction, so that no other worker claims a visit meanwhile."""
    fetch("SELECT pg_advisory_xact_lock(%(lock)s)", {"lock": TURN_LOCK})


def next_in_turn(queue: str, worker: Worker) -> NextVisit | None:
    """Return the visit that is next in the queue, or None if no visit may begin in any worker."""
    parameters: dict[str, Any] = {
        "queue": queue,
        "types": types_of(queue),
        "worker": worker.name,
        # An organization may use half of a worker's browsers, because browsers are few and slow.
        "share": max(1, worker.places // 2) if queue == BROWSER_QUEUE else NO_LIMIT,
        "common": max(1, worker.places - max(1, int(worker.places * RESERVED_SHARE))),
        "background": worker.places - 1,
        "per_domain": settings.SCAN_VISITS_PER_DOMAIN,
        "max_attempts": MAX_ATTEMPTS,
    }
    for _, scan_id, organization_id, scan_type, is_here in fetch(next_turn_sql(), parameters):
        return NextVisit(scan_id, organization_id, ScanType(scan_type), is_here)
    return None


def record_turn(organization_id: int, queue: str) -> None:
    """Record that the organization has had its turn in the queue."""
    execute(TAKE_TURN, {"organization": organization_id, "queue": queue})
