"""Leases on rows: a worker holds a row until it releases it, or until the lease runs out because the worker has died.

PostgreSQL's clock tells the time, for all hosts. A lease that ends much later than leases last was written before that
clock was put back, and counts as run out.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from celery.exceptions import SoftTimeLimitExceeded
from django.db import InterfaceError, OperationalError, connection, models
from django.db.models import Q
from django.db.models.functions import Now

from infrastructure.postgresql.silence import log_failure

T = TypeVar("T")

# A statement that waited for a row writes its lease later than the moment at which it began.
SLACK = timedelta(minutes=5)
# Seconds between two attempts to write an end that the database has not taken.
PAUSE_S = 1.0


class Leased(models.Model):
    """A row that one worker at a time holds."""

    claim_token = models.UUIDField(null=True, blank=True)
    lease_expires_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True

    def release(self) -> None:
        """End the lease; the caller saves the row."""
        self.claim_token = self.lease_expires_at = None


# The columns of a row that nobody holds.
RELEASED: dict[str, None] = {"claim_token": None, "lease_expires_at": None}


@dataclass(frozen=True, slots=True)
class Lease:
    """The time that a worker holds a row without renewing it before it is given up for dead."""

    duration: timedelta

    @property
    def run_out(self) -> Q:
        """Rows whose worker has died."""
        return Q(lease_expires_at__lte=Now()) | Q(lease_expires_at__gt=Now() + self.duration + SLACK)

    @property
    def free(self) -> Q:
        """Rows that may be taken: nobody holds them, or their worker has died."""
        return Q(lease_expires_at=None) | self.run_out

    @property
    def held(self) -> Q:
        """Rows that a worker holds."""
        return Q(lease_expires_at__gt=Now(), lease_expires_at__lte=Now() + self.duration + SLACK)

    def taken(self, token: uuid.UUID) -> dict[str, Any]:
        """Return the columns of a row that the worker with this token takes now."""
        return {"claim_token": token, **self.renewed()}

    def renewed(self) -> dict[str, Any]:
        """Return the column of a row whose lease begins anew."""
        return {"lease_expires_at": Now() + self.duration}

    def sql(self, column: str = "lease_expires_at") -> str:
        """Return `held` as a condition in SQL; null, which is not true, where the column is null."""
        longest_s = (self.duration + SLACK).total_seconds()
        return (
            f"({column} > statement_timestamp() AND {column} <= statement_timestamp() + interval '{longest_s} seconds')"
        )

    @property
    def end_sql(self) -> str:
        """The end of a lease that is taken now, in SQL."""
        return f"statement_timestamp() + interval '{self.duration.total_seconds()} seconds'"


class Renewal:
    """Renews a lease from a thread of its own while a block runs: four times in the lease, or sooner when hastened.

    `renew` writes to the database and returns False when the claim was lost to another attempt; then `lost` is called,
    and nothing is renewed any more. A database that does not answer may cost the lease, but does not end the renewals.
    """

    def __init__(self, lease: Lease, renew: Callable[[], bool], lost: Callable[[], None], pause_s: float = 0.0) -> None:
        self._every_s = lease.duration.total_seconds() / 4
        self._renew = renew
        self._lost = lost
        self._pause_s = pause_s
        self._hastened = threading.Event()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="renewal", daemon=True)

    def hasten(self) -> None:
        """Have the next renewal begin at once, but `pause_s` seconds after the last one."""
        self._hastened.set()

    def __enter__(self) -> Renewal:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._hastened.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            while True:
                self._hastened.wait(self._every_s)
                self._hastened.clear()
                if self._stopped.is_set():
                    return
                if not self._is_ours():
                    self._lost()
                    return
                self._stopped.wait(self._pause_s)
        finally:
            connection.close()

    def _is_ours(self) -> bool:
        try:
            return self._renew()
        except (OperationalError, InterfaceError) as error:
            log_failure(error)
            connection.close()
            return True


def written(write: Callable[[], T]) -> T:
    """Call `write` until the database takes the end of what was claimed, and return its value.

    Raises OperationalError or InterfaceError when the task's time is over before.
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
