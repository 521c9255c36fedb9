"""Delivers what is due: claims in batches, sends from many threads, writes the ends in batches.

The threads do nothing but network; claiming and writing is one thread's work, on one database connection. Who hangs
costs a thread that waits, and there are many of those.
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
from scanner.net.policy import Policy
from scans.policy import scan_policy
from webhooks.delivery.attempts import record
from webhooks.delivery.claims import DeliveryClaim, claim, next_due
from webhooks.delivery.sending import AttemptResult, send

logger = logging.getLogger(__name__)

# Attempts at once of one process. At most half of them are for webhooks that fail: however many those are, the others
# find a thread.
THREADS = 128
FAILING_THREADS = THREADS // 2
# What ends within so short a time is written together, and what is claimed then as well.
COLLECT_S = 0.02
# How often is looked for what has become due while others are still on their way.
LOOK_EVERY_S = 1.0
# What comes due so soon is waited for; the sweeper, every 15 s, finds the rest.
LINGER = timedelta(seconds=15)
DATABASE_PAUSE_S = 1.0


class Dispatcher:
    """One for each process. Any number of dispatchers may work on the same rows."""

    def __init__(self) -> None:
        # Attempts that ended; None is a wake-up: something is due.
        self._inbox: queue.SimpleQueue[AttemptResult | None] = queue.SimpleQueue()
        self._busy = threading.Lock()
        self._stopping = threading.Event()

    def deliver_due(self, *, time_limit_s: float = float("inf")) -> bool:
        """Deliver until nothing is due any more; False when the time was up before.

        At once, when another thread of this process is at it: that one is told to look again. After the time limit
        nothing is begun; what was begun needs ten more seconds.
        """
        ends_at = time.monotonic() + time_limit_s
        self._inbox.put(None)
        # A wake-up may have come between another's last look and its end.
        while not self._inbox.empty() and self._busy.acquire(blocking=False):
            try:
                if not self._drain(ends_at):
                    return False
            finally:
                self._busy.release()
        return True

    def stop(self) -> None:
        """Begin nothing any more; what was begun comes to its end."""
        self._stopping.set()
        self._inbox.put(None)

    def _drain(self, ends_at: float) -> bool:
        in_flight: dict[str, DeliveryClaim] = {}
        ended = self._collect(0.0)  # of a drain that broke off
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
                    log_failure(error)  # deliveries wait for the database
                    connection.close()
                    if self._stopping.wait(DATABASE_PAUSE_S):
                        return True  # what has ended but is not written is sent again when its lease runs out
                    continue
                for result in self._collect(wait_s):
                    in_flight.pop(result.claim.delivery_id, None)
                    ended.append(result)

    def _begin(self, pool: ThreadPoolExecutor, in_flight: dict[str, DeliveryClaim], now: datetime) -> None:
        """Claim as much as there are threads for."""
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
        """What ends within the time; soon after the first one, or a wake-up, it is enough."""
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
    """Record, and let no result that the database does not take stand in the way of the others."""
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
