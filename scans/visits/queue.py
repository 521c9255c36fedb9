"""Scheduling of queued visits.

Celery messages only say that scans wait. The database rows decide which visit is next.

Priority: interrupted visits, then interactive scans, then pages of audits (background). Among equals, the organization
with the fewest running visits is next, then the organization with the longest wait since its last turn, with its oldest
visit. So a single scan of one organization does not wait for the backlog of another.

If there are several organizations, the last third of a worker's slots is reserved for organizations without a running
interactive visit. The limits of each domain apply over all organizations (`politeness.py`). A visit of a list also
waits while any visit connects to one of its known addresses, because a list may have thousands of names on one host.
`fairness.py` has these rules in SQL.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db.models import Q
from msgspec import Struct

from accounts import access
from infrastructure import queue
from infrastructure.postgresql.statements import execute, fetch
from scans.visits.fairness import next_turn_sql
from website_scan.findings import ScanType

SCAN_QUEUE, BROWSER_QUEUE = QUEUES = ("scans", "browser")
# PostgreSQL's advisory lock of the queues. Workers claim visits one after the other, so that each worker sees all
# earlier claims.
TURN_LOCK = 0x7363616E5F747572
MAX_ATTEMPTS = 3
NO_SLOT_LIMIT = 2**31 - 1
# At least one slot, and this share of a worker's slots, is reserved for other organizations. With six slots, the scan
# of a third organization begins immediately even if two organizations have backlogs.
RESERVED_SHARE_OF_SLOTS = 1 / 3

RECORD_TURN = """
    INSERT INTO scans_turn (organization_id, queue, taken_at)
    VALUES (%(organization)s, %(queue)s, statement_timestamp())
    ON CONFLICT (organization_id, queue) DO UPDATE SET taken_at = excluded.taken_at
"""

RUNNING_VISITS = """
    SELECT count(*) FROM scans_scan
    WHERE organization_id = %(organization)s AND status IN ('queued', 'scanning') AND lead_id IS NULL
"""


class Worker(Struct, frozen=True):
    """Celery worker with its name and its number of slots (concurrency)."""

    name: str = ""
    places: int = 1


class NextVisit(Struct, frozen=True):
    """Next visit, identified by its lead scan.

    If `is_here` is False, only another worker may claim the visit.
    """

    scan_id: str
    organization_id: int
    is_here: bool


def queue_of(scan_type: ScanType, *, is_of_journey: bool = False) -> str:
    """Return the name of the queue for scans of this type, or for a run of a journey with `is_of_journey`."""
    uses_browser = is_of_journey or scan_type.uses_browser
    return BROWSER_QUEUE if settings.SCAN_BROWSER != "off" and uses_browser else SCAN_QUEUE


def types_of(queue: str) -> list[str]:
    """Return the scan types that use this queue."""
    return [str(scan_type) for scan_type in ScanType if queue_of(scan_type) == queue]


def has_journeys(queue: str) -> bool:
    """Return True if runs of journeys use this queue."""
    return queue == queue_of(ScanType.SECURITY, is_of_journey=True)


def queue_parameters(queue: str) -> dict[str, Any]:
    """Return the parameters of the SQL condition `IS_IN_QUEUE`, and the queue's name."""
    return {"queue": queue, "types": types_of(queue), "has_journeys": has_journeys(queue)}


def is_in_queue(queue: str) -> Q:
    """Return the query condition for scans that use this queue."""
    condition = Q(type__in=types_of(queue), is_of_journey=False)
    return condition | Q(is_of_journey=True) if has_journeys(queue) else condition


def running_visits(organization_id: int) -> int:
    """Return the number of the organization's queued and running visits, for its concurrency limit."""
    ((running,),) = access.fetch_rows(RUNNING_VISITS, organization_id)
    assert isinstance(running, int)
    return running


def enqueue(scan_id: str, queue_name: str) -> None:
    """Send a Celery message that a scan is queued.

    If Redis refuses the message, the sweeper sends it again.
    """
    queue.enqueue("scans.tasks.run_scan", scan_id, queue_name)


def acquire_turn_lock() -> None:
    """Acquire the queues' advisory lock until the end of the transaction, so that no other worker claims visits."""
    fetch("SELECT pg_advisory_xact_lock(%(lock)s)", {"lock": TURN_LOCK})


def find_next_visit(queue: str, worker: Worker) -> NextVisit | None:
    """Return the next visit in the queue, or None if no visit may begin in any worker."""
    parameters: dict[str, Any] = {
        **queue_parameters(queue),
        "worker": worker.name,
        # An organization may use half of a worker's browsers, because browsers are few and slow.
        "share": max(1, worker.places // 2) if queue == BROWSER_QUEUE else NO_SLOT_LIMIT,
        "common": max(1, worker.places - max(1, int(worker.places * RESERVED_SHARE_OF_SLOTS))),
        "background": worker.places - 1,
        "per_domain": settings.SCAN_VISITS_PER_DOMAIN,
        "max_attempts": MAX_ATTEMPTS,
    }
    for _, scan_id, organization_id, is_here in fetch(next_turn_sql(), parameters):
        return NextVisit(scan_id, organization_id, is_here)
    return None


def record_turn(organization_id: int, queue: str) -> None:
    """Record that the organization has had its turn in the queue."""
    execute(RECORD_TURN, {"organization": organization_id, "queue": queue})
