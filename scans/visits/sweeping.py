"""Sweeper that requeues lost visits and ends visits that cannot run."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from django.core.cache import cache
from django.db.models import F, Max, Q
from django.utils import timezone
from redis import RedisError

from scans.models import Scan, Turn
from scans.visits import queue
from scans.visits.claims import fail_visits
from scans.visits.politeness import delete_old_domain_turns
from scans.visits.queue import MAX_ATTEMPTS, QUEUES
from website_scan.findings import ScanType
from website_scan.result import ScanError

logger = logging.getLogger(__name__)

# If a scan is queued for longer, its message was lost or the queue is long. A duplicate message is harmless.
REQUEUE_AFTER = timedelta(seconds=30)
# If the queue has this many messages, the message of a waiting scan was most likely not lost.
BUSY_QUEUE_MESSAGES = 100
# The number of messages per sweep is limited, because any message starts the next visit, and the end of a visit sends
# another message. Slots that are reserved for other organizations would only discard additional messages.
MAX_REQUEUED_SCANS = 100
# A visit waits at most this long in an unserved queue. A queue is unserved if no worker has claimed a visit for
# UNSERVED_AFTER.
MAX_UNSERVED_WAIT = timedelta(minutes=15)
UNSERVED_AFTER = timedelta(minutes=2)
# A longer pause of the sweeper, which runs every 15 seconds, means that the service was down, so the wait starts again.
UNSERVED_MARK_LIFETIME_S = 60

INTERRUPTED = ScanError(
    "SCAN_INTERRUPTED", "The scan was interrupted several times on our side. It does not count against your quota."
)
NOT_STARTED_ERROR = ScanError(
    "SCAN_NOT_STARTED", "The scan could not be started on our side. It does not count against your quota."
)


def sweep_scans(queue_depth: Callable[[], int], enqueue: Callable[[str, str], None] = queue.enqueue) -> int:
    """Requeue lost and interrupted visits and return their number.

    Visits with too many interruptions are ended. `queue_depth` returns the number of messages in the queues. While the
    queues are long, waiting scans are not requeued, because each sweep would only add duplicates. An interrupted visit
    is requeued once after each interruption: the next message of any scan starts it.
    """
    now = timezone.now()
    scans = Scan.objects.visits()
    interrupted = scans.without_lease().filter(attempts__lt=MAX_ATTEMPTS)
    has_waited_long = Q(enqueued_at__lt=now - REQUEUE_AFTER)
    queued = scans.filter(status=Scan.Status.QUEUED)
    lost = interrupted.filter(enqueued_at__lt=F("lease_expires_at"))
    if queue_depth() < max(BUSY_QUEUE_MESSAGES, queued.count() // 2):
        lost = lost | interrupted.filter(has_waited_long) | queued.filter(has_waited_long)
    requeued = 0
    oldest = lost.order_by("enqueued_at").values_list("id", "type", "is_of_journey", "enqueued_at")
    for scan_id, scan_type, is_of_journey, enqueued_at in oldest[:MAX_REQUEUED_SCANS]:
        # The compare-and-set requeues a scan only once, even if two sweepers run concurrently.
        if Scan.objects.filter(id=scan_id, enqueued_at=enqueued_at).update(enqueued_at=now):
            enqueue(scan_id, queue.queue_of(ScanType(scan_type), is_of_journey=is_of_journey))
            requeued += 1
    exhausted = scans.without_lease().filter(attempts__gte=MAX_ATTEMPTS)
    if number := fail_visits(exhausted, INTERRUPTED):
        logger.error("%d scans were interrupted %d times, giving up", number, MAX_ATTEMPTS)
    for name in QUEUES:
        _end_unserved(name, now)
    delete_old_domain_turns()
    return requeued


def _end_unserved(name: str, now: datetime) -> None:
    """End visits in a queue that no worker has served for MAX_UNSERVED_WAIT.

    A long queue counts as served while its visits are claimed. Time in which the service was down does not count.
    """
    waiting = Scan.objects.unfinished().visits().filter(created_at__lt=now - UNSERVED_AFTER)
    stuck = waiting.filter(queue.is_in_queue(name))
    stuck = stuck.filter(Q(status=Scan.Status.QUEUED) | Q(id__in=stuck.without_lease().values("id")))
    last_turn_at = Turn.objects.filter(queue=name).aggregate(at=Max("taken_at"))["at"]
    is_queue_served = last_turn_at is not None and now - last_turn_at < UNSERVED_AFTER
    key = f"queue:unserved:{name}"
    try:
        if is_queue_served or not stuck.exists():
            cache.delete(key)
            return
        if cache.add(key, now.isoformat(), UNSERVED_MARK_LIFETIME_S):
            logger.error("queue %s has %d scans, but no worker serves it", name, stuck.count())
        since = datetime.fromisoformat(cache.get(key, now.isoformat()))
        cache.touch(key, UNSERVED_MARK_LIFETIME_S)
    except RedisError:
        return  # Without Redis, workers receive no messages, so no visit is ended here.
    if now - since >= MAX_UNSERVED_WAIT - UNSERVED_AFTER:
        ended = fail_visits(stuck.filter(created_at__lt=now - MAX_UNSERVED_WAIT), NOT_STARTED_ERROR)
        logger.error("%d scans of queue %s were ended, because no worker serves it", ended, name)
