"""Claim due deliveries in batches and send them from many threads.

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
from webhooks.delivery.claims import DeliveryClaim, claim, next_due_at
from webhooks.delivery.sending import AttemptResult, send
from website_scan.net.policy import Policy

logger = logging.getLogger(__name__)

# At most half of the threads serve failing webhooks, so that others always get threads.
THREADS = 128
MAX_FAILING_THREADS = THREADS // 2
# Results that arrive within this time are stored together.
COLLECT_RESULTS_S = 0.02
# Interval in seconds between claims while attempts are running.
CLAIM_INTERVAL_S = 1.0
# The dispatcher waits for deliveries that are due within this time.
LINGER = timedelta(seconds=15)
DATABASE_PAUSE_S = 1.0


class Dispatcher:
    """Dispatcher of deliveries in one process.

    Several processes may dispatch concurrently.
    """

    def __init__(self) -> None:
        # None in the queue is a wake-up message when deliveries are due.
        self._inbox: queue.SimpleQueue[AttemptResult | None] = queue.SimpleQueue()
        self._busy = threading.Lock()
        self._stopping = threading.Event()

    def deliver_due(self, *, time_limit_s: float = float("inf")) -> bool:
        """Deliver until no delivery is due.

        Returns False if the time limit was reached before. If another thread of this process is delivering, that thread
        is woken up, and True is returned at once. After the time limit no attempt begins. Running attempts take up to
        ten more seconds.
        """
        deadline_s = time.monotonic() + time_limit_s
        self._inbox.put(None)
        # The loop handles a wake-up after the other thread's last claim.
        while not self._inbox.empty() and self._busy.acquire(blocking=False):
            try:
                if not self._deliver_until_idle(deadline_s):
                    return False
            finally:
                self._busy.release()
        return True

    def stop(self) -> None:
        """Finish the running attempts and begin no more."""
        self._stopping.set()
        self._inbox.put(None)

    def _deliver_until_idle(self, deadline_s: float) -> bool:
        claims_in_flight: dict[str, DeliveryClaim] = {}
        # Results may be left from a run that ended with an exception.
        ended = self._collect_results(0.0)
        with ThreadPoolExecutor(THREADS, "delivery") as pool:
            while True:
                is_stopping = self._stopping.is_set() or time.monotonic() >= deadline_s
                try:
                    _store_results(ended)
                    ended = []
                    wait_s = CLAIM_INTERVAL_S
                    if not is_stopping:
                        now = statements.now()
                        self._begin_attempts(pool, claims_in_flight, now)
                        if not claims_in_flight:
                            moment = next_due_at(now=now, within=LINGER)
                            if moment is None:
                                return True
                            wait_s = (moment - now).total_seconds()
                    elif not claims_in_flight:
                        return self._stopping.is_set()
                except (OperationalError, InterfaceError) as error:
                    # Deliveries wait until the database is available again.
                    log_failure(error)
                    connection.close()
                    if self._stopping.wait(DATABASE_PAUSE_S):
                        # Attempts without a stored result are repeated after their leases expire.
                        return True
                    continue
                for result in self._collect_results(wait_s):
                    claims_in_flight.pop(result.claim.delivery_id, None)
                    ended.append(result)

    def _begin_attempts(
        self, pool: ThreadPoolExecutor, claims_in_flight: dict[str, DeliveryClaim], now: datetime
    ) -> None:
        """Claim as many deliveries as there are free threads.

        Starts an attempt for each delivery.
        """
        free_threads = THREADS - len(claims_in_flight)
        if not free_threads:
            return
        failing = sum(1 for in_flight_claim in claims_in_flight.values() if in_flight_claim.is_failing)
        policy = scan_policy()
        for new_claim in claim(limit=free_threads, failing_limit=max(0, MAX_FAILING_THREADS - failing), now=now):
            claims_in_flight[new_claim.delivery_id] = new_claim
            pool.submit(self._attempt, new_claim, policy)

    def _attempt(self, new_claim: DeliveryClaim, policy: Policy) -> None:
        delivery_id, request_id = new_claim.delivery_id, new_claim.request_id
        span = job_span("delivery", request_id, delivery=delivery_id, event=new_claim.kind, attempt=new_claim.attempt)
        with job_log_context(delivery_id, request_id), span:
            self._inbox.put(send(new_claim, policy))

    def _collect_results(self, timeout_s: float) -> list[AttemptResult]:
        """Return the results that arrive within `timeout_s`.

        After the first message, it waits at most COLLECT_RESULTS_S.
        """
        ended: list[AttemptResult] = []
        deadline = time.monotonic() + timeout_s
        while True:
            try:
                item = self._inbox.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                return ended
            deadline = min(deadline, time.monotonic() + COLLECT_RESULTS_S)
            if item is not None:
                ended.append(item)


def _store_results(results: list[AttemptResult]) -> None:
    """Store the results of attempts.

    If PostgreSQL refuses them, store each result alone, so that only invalid results are lost.
    """
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
            _store_results([result])
