"""Dispatcher of due deliveries: claims deliveries in batches, sends them from many threads, and writes their results.

One thread claims deliveries and writes results, on one database connection. The other threads only use the network, so
a hanging receiver occupies only one of many threads.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

from django.db import DatabaseError, InterfaceError, OperationalError, connection

from infrastructure.logging import job_log_context
from infrastructure.postgresql import statements
from infrastructure.postgresql.hang_detection import log_failure
from infrastructure.telemetry.tracing import job_span
from scans.policy import scan_policy
from webhooks.delivery.attempts import record
from webhooks.delivery.claims import DeliveryClaim, claim, next_due
from webhooks.delivery.sending import AttemptResult, send
from website_scan.net.policy import Policy

logger = logging.getLogger(__name__)

# Concurrent attempts of one process. At most half of them are for failing webhooks, so that threads are free for other
# webhooks, however many fail.
THREADS = 128
FAILING_THREADS = THREADS // 2
# Results that arrive within this time are written together, before the next deliveries are claimed.
COLLECT_S = 0.02
# Seconds between two claims while attempts are running.
CLAIM_EVERY_S = 1.0
# The dispatcher waits for deliveries that are due within this time. The sweeper, every 15 s, starts it for later ones.
LINGER = timedelta(seconds=15)
DATABASE_PAUSE_S = 1.0


class Dispatcher:
    """Dispatcher of deliveries in one process. Several processes may dispatch the same rows at the same time."""

    def __init__(self) -> None:
        # Queue of results of attempts, and of None as a wake-up message, because deliveries are due.
        self._inbox: queue.SimpleQueue[AttemptResult | None] = queue.SimpleQueue()
        self._busy = threading.Lock()
        self._stopping = threading.Event()

    def deliver_due(self, *, time_limit_s: float = float("inf")) -> bool:
        """Deliver until no delivery is due. Returns False if the time limit was reached first.

        If another thread of this process is delivering, that thread is woken up, and True is returned at once. After
        the time limit no attempt begins. Running attempts take up to ten more seconds.
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
        """Begin no more attempts. Running attempts are finished."""
        self._stopping.set()
        self._inbox.put(None)

    def _drain(self, ends_at: float) -> bool:
        in_flight: dict[str, DeliveryClaim] = {}
        ended = self._collect(0.0)  # Results may remain from a run that ended with an exception.
        with ThreadPoolExecutor(THREADS, "delivery") as pool:
            while True:
                is_stopping = self._stopping.is_set() or time.monotonic() >= ends_at
                try:
                    _write(ended)
                    ended = []
                    wait_s = CLAIM_EVERY_S
                    if not is_stopping:
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
                    log_failure(error)  # Deliveries wait until the database answers.
                    connection.close()
                    if self._stopping.wait(DATABASE_PAUSE_S):
                        return True  # Attempts without a written result are repeated after their leases expire.
                    continue
                for result in self._collect(wait_s):
                    in_flight.pop(result.claim.delivery_id, None)
                    ended.append(result)

    def _begin(self, pool: ThreadPoolExecutor, in_flight: dict[str, DeliveryClaim], now: datetime) -> None:
        """Claim as many deliveries as there are free threads, and start an attempt for each."""
        free_threads = THREADS - len(in_flight)
        if not free_threads:
            return
        failing = sum(1 for in_flight_claim in in_flight.values() if in_flight_claim.is_failing)
        policy = scan_policy()
        for new_claim in claim(limit=free_threads, failing_limit=max(0, FAILING_THREADS - failing), now=now):
            in_flight[new_claim.delivery_id] = new_claim
            pool.submit(self._attempt, new_claim, policy)

    def _attempt(self, new_claim: DeliveryClaim, policy: Policy) -> None:
        delivery_id, request_id = new_claim.delivery_id, new_claim.request_id
        span = job_span("delivery", request_id, delivery=delivery_id, event=new_claim.kind, attempt=new_claim.attempt)
        with job_log_context(delivery_id, request_id), span:
            self._inbox.put(send(new_claim, policy))

    def _collect(self, timeout_s: float) -> list[AttemptResult]:
        """Return the results that arrive within `timeout_s`, or within COLLECT_S after the first result or wake-up."""
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
    """Record the results. If the database refuses them, record each result alone, so that the valid ones are stored."""
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
        for result in results:
            _write([result])
