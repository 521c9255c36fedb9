"""Dispatcher of due deliveries: claims in batches, sends from many threads, and writes the results in batches.

The threads use the network only; one thread claims and writes, on one database connection. A hanging receiver costs
only a waiting thread, of which there are many.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

from django.db import DatabaseError, InterfaceError, OperationalError, connection

from infrastructure.logging import working_on
from infrastructure.postgresql import statements
from infrastructure.postgresql.silence import log_failure
from infrastructure.telemetry.tracing import job_span
from scans.policy import scan_policy
from webhooks.delivery.attempts import record
from webhooks.delivery.claims import DeliveryClaim, claim, next_due
from webhooks.delivery.sending import AttemptResult, send
from website_scan.net.policy import Policy

logger = logging.getLogger(__name__)

# Concurrent attempts of one process. At most half of them are for failing webhooks, so that the others always find a
# thread, however many webhooks fail.
THREADS = 128
FAILING_THREADS = THREADS // 2
# Attempts that end within this time are written together, and the next deliveries are claimed together.
COLLECT_S = 0.02
# Seconds between two claims while attempts are running.
LOOK_EVERY_S = 1.0
# The dispatcher waits for deliveries that are due within this time; the sweeper, every 15 s, finds the others.
LINGER = timedelta(seconds=15)
DATABASE_PAUSE_S = 1.0


class Dispatcher:
    """Dispatcher of a process. Any number of dispatchers may work on the same rows."""

    def __init__(self) -> None:
        # Results of attempts; None is a wake-up, because something is due.
        self._inbox: queue.SimpleQueue[AttemptResult | None] = queue.SimpleQueue()
        self._busy = threading.Lock()
        self._stopping = threading.Event()

    def deliver_due(self, *, time_limit_s: float = float("inf")) -> bool:
        """Deliver until nothing is due. Returns False if the time ran out first.

        If another thread of this process is delivering, wakes that one up and returns True at once. After the time
        limit no attempt begins; running ones need up to ten more seconds.
        """
        ends_at = time.monotonic() + time_limit_s
        self._inbox.put(None)
        # A wake-up may have arrived after the other thread's last claim and before its end.
        while not self._inbox.empty() and self._busy.acquire(blocking=False):
            try:
                if not self._drain(ends_at):
                    return False
            finally:
                self._busy.release()
        return True

    def stop(self) -> None:
        """Begin no more attempts; running ones are finished."""
        self._stopping.set()
        self._inbox.put(None)

    def _drain(self, ends_at: float) -> bool:
        in_flight: dict[str, DeliveryClaim] = {}
        ended = self._collect(0.0)  # results left by a drain that raised
        with ThreadPoolExecutor(THREADS, "delivery") as pool:
            while True:
                is_over = self._stopping.is_set() or time.monotonic() >= ends_at
                try:
                    _write(ended)
                    ended = []
                    wait_s = LOOK_EVERY_S
                    if not is_over:
                        now = statements.now()
                        self._begin(pool, in_flight, now)
                        if not in_flight:
                            moment = next_due(now=now, within=LINGER)
                            if moment is None:
                                return True
                            wait_s = (moment - now).total_seconds()
                    elif not in_flight:
                        return self._stopping.is_set()
                except (OperationalError, InterfaceError) as error:
                    log_failure(error)  # deliveries wait until the database answers
                    connection.close()
                    if self._stopping.wait(DATABASE_PAUSE_S):
                        return True  # unwritten attempts are sent again after their leases
                    continue
                for result in self._collect(wait_s):
                    in_flight.pop(result.claim.delivery_id, None)
                    ended.append(result)

    def _begin(self, pool: ThreadPoolExecutor, in_flight: dict[str, DeliveryClaim], now: datetime) -> None:
        """Claim as many deliveries as there are free threads, and start their attempts."""
        free = THREADS - len(in_flight)
        if not free:
            return
        failing = sum(1 for each in in_flight.values() if each.is_failing)
        policy = scan_policy()
        for each in claim(limit=free, failing_limit=max(0, FAILING_THREADS - failing), now=now):
            in_flight[each.delivery_id] = each
            pool.submit(self._try, each, policy)

    def _try(self, each: DeliveryClaim, policy: Policy) -> None:
        with (
            working_on(each.delivery_id, each.request_id),
            job_span("delivery", each.request_id, delivery=each.delivery_id, event=each.kind, attempt=each.attempt),
        ):
            self._inbox.put(send(each, policy))

    def _collect(self, timeout_s: float) -> list[AttemptResult]:
        """Return the results that arrive within `timeout_s`; after the first one or a wake-up, within COLLECT_S."""
        ended: list[AttemptResult] = []
        deadline = time.monotonic() + timeout_s
        while True:
            try:
                item = self._inbox.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                return ended
            deadline = min(deadline, time.monotonic() + COLLECT_S)
            if item is not None:
                ended.append(item)


def _write(results: list[AttemptResult]) -> None:
    """Record the results. If the database refuses them, record each alone, so that one bad result blocks no other."""
    if not results:
        return
    try:
        record(results)
    except (OperationalError, InterfaceError):
        raise
    except DatabaseError:
        if len(results) == 1:
            logger.exception("the end of delivery %s could not be written", results[0].claim.delivery_id)
            return
        for each in results:
            _write([each])
