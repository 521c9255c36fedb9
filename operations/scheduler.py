"""Celery beat scheduler that asks whether a task has work, copes with a clock set back, and logs an outage in one line.

It sends an `infrastructure.periodic.PeriodicTask` only if rows wait for it, so an idle service leaves queue and workers
alone. Of several schedulers one sends, and the others stand by.
"""

from __future__ import annotations

import contextlib
import logging
import os
import pickle
import platform
import time
from collections import UserDict
from pathlib import Path
from typing import Any

import psutil
import redis
from celery.beat import PersistentScheduler, SchedulingError
from django.conf import settings
from django.db import Error as DatabaseFailure
from django.db import connection
from kombu.exceptions import OperationalError

from infrastructure.cache import outage
from infrastructure.periodic import PeriodicTask
from infrastructure.postgresql.silence import log_failure

logger = logging.getLogger(__name__)

# A task without work is sent this often nevertheless, for what its function may overlook.
LONGEST_PAUSE_S = 600.0
LEASE_KEY = "operations:scheduler"
LEASE_S = 45
RENEW_S = 15.0
STANDBY_S = 5.0  # most seconds between two looks of a scheduler that stands by
# Take a free lease or renew one's own; return the holder. `instead_of` is a holder known to have ended.
HOLD = """
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] and holder ~= ARGV[3] then return holder end
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
return ARGV[1]
"""
LEAVE = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end"


class SendingLease:
    """Lease in Redis of the scheduler that sends the tasks.

    It is there for convenience, not for safety: tasks that are sent twice do no harm. So without Redis, where nothing
    can be sent, each scheduler counts as the holder.
    """

    def __init__(self) -> None:
        self._name = f"{platform.node()}:{os.getpid()}"
        self._client = redis.Redis.from_url(settings.REDIS_URL, decode_responses=True, **settings.REDIS_TIMEOUTS)
        self._asked_at = float("-inf")
        self._is_held = True

    def is_held(self) -> bool:
        """Return True if this scheduler sends the tasks; take or renew the lease when it is time."""
        if time.monotonic() - self._asked_at < (RENEW_S if self._is_held else STANDBY_S):
            return self._is_held
        self._asked_at = time.monotonic()
        was_held = self._is_held
        try:
            holder = self._hold()
            if holder != self._name and _has_ended(holder):
                holder = self._hold(instead_of=holder)
        except redis.RedisError as error:
            outage.begin(error)
            self._is_held = True
            return True
        self._is_held = holder == self._name
        if was_held and not self._is_held:
            logger.warning("another scheduler, %s, sends the tasks; this one stands by: one is enough", holder)
        elif self._is_held and not was_held:
            logger.warning("this scheduler sends the tasks now: the other one has ended")
        return self._is_held

    def _hold(self, instead_of: str = "") -> str:
        return str(self._client.eval(HOLD, 1, LEASE_KEY, self._name, str(LEASE_S), instead_of))

    def leave(self) -> None:
        """End the lease, if it is ours, so that another scheduler takes over at once."""
        try:
            self._client.eval(LEAVE, 1, LEASE_KEY, self._name)
        except redis.RedisError as error:
            outage.begin(error)
        finally:
            self._client.close()


def scheduler_in_charge() -> str | None:
    """Return the host and process of the scheduler that sends the tasks, None if none runs. Raises RedisError."""
    with redis.Redis.from_url(settings.REDIS_URL, decode_responses=True, **settings.REDIS_TIMEOUTS) as client:
        holder: str | None = client.get(LEASE_KEY)
        return holder


def _has_ended(holder: str) -> bool:
    """Return True if the holder was a process of this host and is no more. Of other hosts, the lease's end tells."""
    host, _, pid = holder.rpartition(":")
    return host == platform.node() and not psutil.pid_exists(int(pid))


class ScheduleFile(UserDict[str, Any]):
    """Times of the last runs, in memory and in a file for the next start. A full disk stops no task.

    Celery's own store is a database that raises an error when its disk is full, and is damaged by a killed process.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._is_writable = True
        with contextlib.suppress(FileNotFoundError):
            self.data = pickle.loads(path.read_bytes())  # noqa: S301 -- DATA_DIR is ours, as are its keys

    @classmethod
    def open(cls, filename: str, writeback: bool) -> ScheduleFile:  # noqa: ARG003 -- Celery passes it by name
        """Open the file, as Celery does with `shelve`. If it is damaged, Celery removes it."""
        return cls(Path(filename))

    def sync(self) -> None:
        """Write the file whole, or leave the last one."""
        draft = self._path.with_name(f"{self._path.name}.part")
        try:
            draft.write_bytes(pickle.dumps(self.data))
            draft.replace(self._path)
        except OSError as error:
            if self._is_writable:
                logger.error(
                    "the schedule can't be written to %s: %s. Until it can, a restart forgets which nightly tasks have "
                    "run. Free space there.", self._path, error.strerror,
                )  # fmt: skip
            self._is_writable = False
        else:
            self._is_writable = True

    def close(self) -> None:
        self.sync()


class SteadyScheduler(PersistentScheduler):
    """Scheduler for the schedule of `config.celery`."""

    persistence = ScheduleFile  # type: ignore[assignment]  # Celery's types know only shelve

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._began_at = time.monotonic()
        self._sent_at: dict[str, float] = {}  # by name of the entry
        self._lease = SendingLease()
        super().__init__(*args, **kwargs)

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """Send due tasks; return the seconds until the next tick.

        A last run in the future is set to now, because the clock was set back since.
        """
        if not self._lease.is_held():
            return STANDBY_S
        now = self.app.now()
        ahead = [entry for entry in self.schedule.values() if entry.last_run_at and entry.last_run_at > now]
        if ahead:
            logger.warning("the clock was put back; the schedule begins anew")
            for entry in ahead:
                entry.last_run_at = now
            self._heap = None  # its order follows the old clock
        seconds: float = super().tick(*args, **kwargs)
        return min(seconds, RENEW_S)

    def apply_entry(self, entry: Any, producer: Any = None) -> None:
        """Send a due task that has work. If Redis does not accept it, it is sent at its next time."""
        if not self._has_work(entry):
            return
        self._sent_at[entry.name] = time.monotonic()
        try:
            self.apply_async(entry, producer=producer, advance=False)
        except SchedulingError as error:
            if isinstance(error.__context__, OperationalError | redis.RedisError | OSError):
                outage.begin(error)
            else:
                logger.exception("task %s could not be sent", entry.name)
        else:
            outage.end()

    def _has_work(self, entry: Any) -> bool:
        """Return False if the task would find nothing to do. While PostgreSQL does not answer, nobody knows."""
        task = self.app.tasks.get(entry.task)
        silent_s = time.monotonic() - self._sent_at.get(entry.name, self._began_at)
        if not isinstance(task, PeriodicTask) or silent_s >= LONGEST_PAUSE_S:
            return True
        try:
            return task.has_work()
        except DatabaseFailure as error:
            log_failure(error)
            connection.close()
            return True

    def close(self) -> None:
        self._lease.leave()
        super().close()
