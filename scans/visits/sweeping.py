"""Sweeper: requeues visits whose message was lost or whose worker died, and ends those that cannot go on."""

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
from scans.visits.claims import fail_scans
from scans.visits.politeness import forget_domains
from scans.visits.queue import MAX_ATTEMPTS, QUEUES
from website_scan.findings import ScanType
from website_scan.result import ScanError

logger = logging.getLogger(__name__)

# After this wait the message of a queued scan was lost, or the queue is long: a duplicate is harmless.
REQUEUE_AFTER = timedelta(seconds=30)
# With this many messages in the queue, a waiting scan's message has most likely not been lost.
BUSY_QUEUE = 100
# Maximum number of messages per sweep. Messages are interchangeable, and the end of a visit sends another one: more
# would only be read in vain by slots that are reserved for other organizations.
PUT_BACK = 100
# Maximum wait in a queue that no worker serves, and time without a claim after which a queue counts as unserved.
GIVEN_UP_AFTER = timedelta(minutes=15)
UNSERVED_AFTER = timedelta(minutes=2)
# The sweeper runs every 15 seconds. If it did not run for this long, the service was down: the count begins anew.
SEEN_FOR_S = 60

INTERRUPTED = ScanError(
    "SCAN_INTERRUPTED", "The scan was interrupted several times on our side. It does not count against your quota."
)
NOT_STARTED = ScanError(
    "SCAN_NOT_STARTED", "The scan could not be started on our side. It does not count against your quota."
)


def sweep_scans(queue_depth: Callable[[], int], enqueue: Callable[[str, ScanType], None] = queue.enqueue) -> int:
    """Requeue lost and interrupted visits, and end those interrupted too often. Returns the number of requeued ones.

    `queue_depth` returns the number of messages in the queues. While it is large, waiting scans are not requeued:
    each sweep would only add another duplicate. An interrupted visit is requeued once after each interruption: any
    next message starts it first.
    """
    now = timezone.now()
    scans = Scan.objects.visits()
    interrupted = scans.without_lease().filter(attempts__lt=MAX_ATTEMPTS)
    waited = Q(enqueued_at__lt=now - REQUEUE_AFTER)
    queued = scans.filter(status=Scan.Status.QUEUED)
    lost = interrupted.filter(enqueued_at__lt=F("lease_expires_at"))
    if queue_depth() < max(BUSY_QUEUE, queued.count() // 2):
        lost = lost | interrupted.filter(waited) | queued.filter(waited)
    put_back = 0
    oldest = lost.order_by("enqueued_at").values_list("id", "type", "enqueued_at")
    for scan_id, scan_type, enqueued_at in oldest[:PUT_BACK]:
        # Compare-and-set, so that two concurrent sweepers requeue a scan only once.
        if Scan.objects.filter(id=scan_id, enqueued_at=enqueued_at).update(enqueued_at=now):
            enqueue(scan_id, ScanType(scan_type))
            put_back += 1
    dead = scans.without_lease().filter(attempts__gte=MAX_ATTEMPTS)
    if ended := fail_scans(dead, INTERRUPTED):
        logger.error("%d scans were interrupted %d times, giving up", ended, MAX_ATTEMPTS)
    for name in QUEUES:
        _end_unserved(name, now)
    forget_domains()
    return put_back


def _end_unserved(name: str, now: datetime) -> None:
    """End visits in a queue that no worker has served for GIVEN_UP_AFTER.

    A long queue counts as served if visits are taken from it. Time in which the service was down does not count.
    """
    waiting = Scan.objects.unfinished().visits().filter(created_at__lt=now - UNSERVED_AFTER)
    stuck = waiting.filter(type__in=queue.types_of(name))
    stuck = stuck.filter(Q(status=Scan.Status.QUEUED) | Q(id__in=stuck.without_lease().values("id")))
    last_turn = Turn.objects.filter(queue=name).aggregate(at=Max("taken_at"))["at"]
    is_served = last_turn is not None and now - last_turn < UNSERVED_AFTER
    key = f"queue:unserved:{name}"
    try:
        if is_served or not stuck.exists():
            cache.delete(key)
            return
        if cache.add(key, now.isoformat(), SEEN_FOR_S):
            logger.error("queue %s has %d scans, and nobody takes them: does a worker serve it?", name, stuck.count())
        since = datetime.fromisoformat(cache.get(key, now.isoformat()))
        cache.touch(key, SEEN_FOR_S)
    except RedisError:
        return  # without Redis its workers get no messages either
    if now - since >= GIVEN_UP_AFTER - UNSERVED_AFTER:
        ended = fail_scans(stuck.filter(created_at__lt=now - GIVEN_UP_AFTER), NOT_STARTED)
        logger.error("%d scans of queue %s were ended, as nobody takes them", ended, name)
