"""Leases on rows.

A worker's claim to a row ends when the worker frees the row or the lease expires.

A lease expires when the worker has died and renews it no longer. All hosts use PostgreSQL's clock. A lease that ends
later than now plus its duration (and SLACK) was written before that clock was set back, and counts as expired.
"""

from __future__ import annotations

import os
import threading
import time
import uuid
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta
from typing import Any, TypeVar

from celery.exceptions import SoftTimeLimitExceeded
from django.db import InterfaceError, OperationalError, close_old_connections, connection, models
from django.db.models import Q
from django.db.models.functions import Now
from msgspec import Struct

from infrastructure.postgresql.hang_detection import log_failure

T = TypeVar("T")

# A statement that waited for a row lock compares leases with the time when the statement began. In the meantime, other
# workers may have written later leases.
SLACK = timedelta(minutes=5)
# Maximum number of leases that one process renews at the same time.
MAX_PARALLEL_RENEWALS = 64
# Seconds between two attempts to write a result while the database does not answer.
PAUSE_S = 1.0


class Leased(models.Model):
    """Abstract model for rows that only one worker at a time may claim."""

    claim_token = models.UUIDField(null=True, blank=True)
    lease_expires_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True

    def release(self) -> None:
        """Clear claim and lease. The caller saves the row."""
        self.claim_token = self.lease_expires_at = None


# Values of the lease columns for an unclaimed row.
RELEASED: dict[str, None] = {"claim_token": None, "lease_expires_at": None}


class Lease(Struct, frozen=True):
    """A lease duration, and the query conditions that depend on it.

    A worker that does not renew its lease within `duration` counts as dead.
    """

    duration: timedelta

    @property
    def run_out(self) -> Q:
        """Query condition: the lease has expired, so the worker has died."""
        return Q(lease_expires_at__lte=Now()) | Q(lease_expires_at__gt=Now() + self.duration + SLACK)

    @property
    def free(self) -> Q:
        """Query condition: a worker may claim the row, because it has no lease or an expired one."""
        return Q(lease_expires_at=None) | self.run_out

    @property
    def held(self) -> Q:
        """Query condition: a worker has a claim to the row, and the lease has not expired."""
        return Q(lease_expires_at__gt=Now(), lease_expires_at__lte=Now() + self.duration + SLACK)

    def taken(self, token: uuid.UUID) -> dict[str, Any]:
        """Return the column values for claiming a row now, including the claim's token."""
        return {"claim_token": token, **self.renewed()}

    def renewed(self) -> dict[str, Any]:
        """Return the column value that renews a lease for `duration` from now."""
        return {"lease_expires_at": Now() + self.duration}

    def sql(self, column: str = "lease_expires_at") -> str:
        """Return the condition `held` as SQL. For rows without a lease it is NULL, which counts as false."""
        longest_s = (self.duration + SLACK).total_seconds()
        return (
            f"({column} > statement_timestamp() AND {column} <= statement_timestamp() + interval '{longest_s} seconds')"
        )

    @property
    def end_sql(self) -> str:
        """SQL expression for when a lease that begins now will end."""
        return f"statement_timestamp() + interval '{self.duration.total_seconds()} seconds'"


def _reset_threads() -> None:
    """Replace the thread pool by an empty one.

    A forked child needs this, because it does not inherit threads.

    Idle threads stay in the pool, with their database connections.
    """
    global _threads
    _threads = ThreadPoolExecutor(MAX_PARALLEL_RENEWALS, "renewal")


_threads: ThreadPoolExecutor
_reset_threads()
os.register_at_fork(after_in_child=_reset_threads)


class Renewal:
    """Context manager that renews a lease in a thread, four times per lease duration and after each `hasten()`.

    `renew` updates the row, and returns False if another worker has claimed it. Then the thread calls `lost` and ends.
    While the database does not answer, the thread retries, although the lease may expire meanwhile.
    """

    def __init__(self, lease: Lease, renew: Callable[[], bool], lost: Callable[[], None], pause_s: float = 0.0) -> None:
        self._every_s = lease.duration.total_seconds() / 4
        self._renew = renew
        self._lost = lost
        self._pause_s = pause_s
        self._hastened = threading.Event()
        self._stopped = threading.Event()
        self._ended: Future[None]

    def hasten(self) -> None:
        """Renew the lease immediately, or once `pause_s` seconds have passed since the last renewal."""
        self._hastened.set()

    def __enter__(self) -> Renewal:
        self._ended = _threads.submit(self._run)
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._hastened.set()
        self._ended.result()

    def _run(self) -> None:
        close_old_connections()
        while True:
            self._hastened.wait(self._every_s)
            self._hastened.clear()
            if self._stopped.is_set():
                return
            if not self._renew_or_retry():
                self._lost()
                return
            self._stopped.wait(self._pause_s)

    def _renew_or_retry(self) -> bool:
        """Return False if another worker has claimed the row, and True even if the database does not answer."""
        try:
            return self._renew()
        except (OperationalError, InterfaceError) as error:
            log_failure(error)
            connection.close()
            return True


def written(write: Callable[[], T]) -> T:
    """Call `write` until it succeeds and return its value.

    Retries while the database does not answer.

    Raises the last OperationalError or InterfaceError if the Celery task reaches its soft time limit first.
    """
    failure: Exception | None = None
    try:
        while True:
            try:
                return write()
            except (OperationalError, InterfaceError) as error:
                failure = error
                log_failure(error)
                connection.close()
                time.sleep(PAUSE_S)
    except SoftTimeLimitExceeded:
        if failure is None:
            raise
        raise failure from None
