"""Leases on rows: a worker holds a row until it releases it, or until the lease expires because the worker has died.

All hosts use PostgreSQL's clock. A lease that ends later than now plus its duration (and SLACK) was written before that
clock was set back, and counts as expired.
"""

from __future__ import annotations

import os
import threading
import time
import uuid
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from celery.exceptions import SoftTimeLimitExceeded
from django.db import InterfaceError, OperationalError, close_old_connections, connection, models
from django.db.models import Q
from django.db.models.functions import Now

from infrastructure.postgresql.silence import log_failure

T = TypeVar("T")

# A statement that waited for a row lock writes a lease computed from a later moment than the one at which it began.
SLACK = timedelta(minutes=5)
# Most leases that one process renews at the same time.
MOST_RENEWALS = 64
# Seconds between two attempts to write a result while the database does not answer.
PAUSE_S = 1.0


class Leased(models.Model):
    """Abstract model: a row that one worker at a time holds."""

    claim_token = models.UUIDField(null=True, blank=True)
    lease_expires_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True

    def release(self) -> None:
        """End the lease; the caller saves the row."""
        self.claim_token = self.lease_expires_at = None


# Column values that end a lease.
RELEASED: dict[str, None] = {"claim_token": None, "lease_expires_at": None}


@dataclass(frozen=True, slots=True)
class Lease:
    """The duration of a lease, and the conditions on rows that follow from it.

    A worker that does not renew its lease within `duration` counts as dead.
    """

    duration: timedelta

    @property
    def run_out(self) -> Q:
        """Condition: the lease has expired, so the worker has died."""
        return Q(lease_expires_at__lte=Now()) | Q(lease_expires_at__gt=Now() + self.duration + SLACK)

    @property
    def free(self) -> Q:
        """Condition: a worker may take the row, because nobody holds it or its lease has expired."""
        return Q(lease_expires_at=None) | self.run_out

    @property
    def held(self) -> Q:
        """Condition: a worker holds the row."""
        return Q(lease_expires_at__gt=Now(), lease_expires_at__lte=Now() + self.duration + SLACK)

    def taken(self, token: uuid.UUID) -> dict[str, Any]:
        """Return the column values with which the worker with this token takes a row now."""
        return {"claim_token": token, **self.renewed()}

    def renewed(self) -> dict[str, Any]:
        """Return the column value that renews a lease."""
        return {"lease_expires_at": Now() + self.duration}

    def sql(self, column: str = "lease_expires_at") -> str:
        """Return `held` as an SQL condition. It is NULL, and so not true, where the column is NULL."""
        longest_s = (self.duration + SLACK).total_seconds()
        return (
            f"({column} > statement_timestamp() AND {column} <= statement_timestamp() + interval '{longest_s} seconds')"
        )

    @property
    def end_sql(self) -> str:
        """SQL expression for the end of a lease that is taken now."""
        return f"statement_timestamp() + interval '{self.duration.total_seconds()} seconds'"


def _begin_anew() -> None:
    """Start without threads, also in a forked child. A thread without work waits for more and stays connected."""
    global _threads
    _threads = ThreadPoolExecutor(MOST_RENEWALS, "renewal")


_threads: ThreadPoolExecutor
_begin_anew()
os.register_at_fork(after_in_child=_begin_anew)


class Renewal:
    """Context manager that renews a lease from a thread: four times per lease duration, or sooner through `hasten()`.

    `renew` writes to the database and returns False when another attempt has taken the row; the thread then calls
    `lost` and stops. While the database does not answer, the thread goes on trying, although the lease may expire.
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
        """Start the next renewal at once, but not within `pause_s` seconds after the last one."""
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
            if not self._is_ours():
                self._lost()
                return
            self._stopped.wait(self._pause_s)

    def _is_ours(self) -> bool:
        try:
            return self._renew()
        except (OperationalError, InterfaceError) as error:
            log_failure(error)
            connection.close()
            return True


def written(write: Callable[[], T]) -> T:
    """Call `write` again and again until the database answers, and return its value.

    Raises the last OperationalError or InterfaceError when the task's time limit ends first.
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
