"""Celery beat scheduler that sends only tasks with work, survives clock changes, and logs an outage in one line.

An `infrastructure.periodic.PeriodicTask` is sent only if there are rows for the task, so an idle service causes no load
on queue and workers. Of several schedulers, one sends tasks, and the others are on standby.
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
from infrastructure.postgresql.hang_detection import log_failure

logger = logging.getLogger(__name__)

# A task is sent at this interval even if `has_work` returns False, because the function's condition is coarse.
LONGEST_PAUSE_S = 600.0
LEASE_KEY = "operations:scheduler"
LEASE_S = 45
RENEW_S = 15.0
STANDBY_S = 5.0  # Interval at which a scheduler on standby tries to acquire the lease.
# Lua script that acquires a free lease, renews its own lease, or replaces the lease of an ended holder (ARGV[3]).
# Returns the holder.
ACQUIRE = """
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] and holder ~= ARGV[3] then return holder end
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
return ARGV[1]
"""
RELEASE = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end"


class SendingLease:
    """Redis lease for the scheduler that sends the tasks.

    The lease saves work but is not needed for correctness: tasks that are sent twice do no harm. So while Redis does
    not answer, when nothing can be sent anyway, every scheduler counts as the holder.
    """

    def __init__(self) -> None:
        self._name = f"{platform.node()}:{os.getpid()}"
        self._client = redis.Redis.from_url(settings.REDIS_URL, decode_responses=True, **settings.REDIS_TIMEOUTS)
        self._checked_at = float("-inf")
        self._is_held = True

    def is_held(self) -> bool:
        """Return True if this scheduler sends the tasks.

        Acquires or renews the lease when due.
        """
        if time.monotonic() - self._checked_at < (RENEW_S if self._is_held else STANDBY_S):
            return self._is_held
        self._checked_at = time.monotonic()
        was_held = self._is_held
        try:
            holder = self._acquire()
            if holder != self._name and _has_ended(holder):
                holder = self._acquire(instead_of=holder)
        except redis.RedisError as error:
            outage.begin(error)
            self._is_held = True
            return True
        self._is_held = holder == self._name
        if was_held and not self._is_held:
            logger.warning("another scheduler, %s, sends the tasks; this one stands by: only one is needed", holder)
        elif self._is_held and not was_held:
            logger.warning("this scheduler sends the tasks now: the other one has ended")
        return self._is_held

    def _acquire(self, instead_of: str = "") -> str:
        return str(self._client.eval(ACQUIRE, 1, LEASE_KEY, self._name, str(LEASE_S), instead_of))

    def release(self) -> None:
        """Delete this scheduler's lease, so that another scheduler can acquire it immediately."""
        try:
            self._client.eval(RELEASE, 1, LEASE_KEY, self._name)
        except redis.RedisError as error:
            outage.begin(error)
        finally:
            self._client.close()


def scheduler_in_charge() -> str | None:
    """Return `HOST:PID` of the scheduler that sends the tasks, or None if no scheduler runs.

    Raises RedisError.
    """
    with redis.Redis.from_url(settings.REDIS_URL, decode_responses=True, **settings.REDIS_TIMEOUTS) as client:
        holder: str | None = client.get(LEASE_KEY)
        return holder


def _has_ended(holder: str) -> bool:
    """Return True if the holder was a process on this host that has ended.

    False for processes on other hosts.
    """
    host, _, pid = holder.rpartition(":")
    return host == platform.node() and not psutil.pid_exists(int(pid))


class ScheduleFile(UserDict[str, Any]):
    """When tasks last ran, kept in memory and in a file.

    A full disk does not stop any task.

    Celery's own store, a `shelve` database, raises an error when the disk is full, and is damaged by a killed process.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._is_writable = True
        with contextlib.suppress(FileNotFoundError):
            self.data = pickle.loads(path.read_bytes())  # noqa: S301 -- Only this service writes to DATA_DIR.

    @classmethod
    def open(cls, filename: str, writeback: bool) -> ScheduleFile:  # noqa: ARG003 -- Celery passes it by name
        """Open the file, with the arguments of `shelve.open`.

        Celery deletes a damaged file.
        """
        return cls(Path(filename))

    def sync(self) -> None:
        """Replace the file atomically.

        If the write fails, the old file remains, and the first failure is logged.
        """
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
    """Celery beat scheduler for the schedule in `config.celery`.

    The module's docstring describes its properties.
    """

    persistence = ScheduleFile  # type: ignore[assignment]  # Celery's type stubs accept only the module shelve.

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._began_at = time.monotonic()
        self._sent_at: dict[str, float] = {}  # Monotonic time of the last message, by name of the schedule entry.
        self._lease = SendingLease()
        super().__init__(*args, **kwargs)

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """Send due tasks, and return the seconds until the next tick.

        If the time of a last run is in the future, the clock was set back since, and the time is set to now.
        """
        if not self._lease.is_held():
            return STANDBY_S
        now = self.app.now()
        future_entries = [entry for entry in self.schedule.values() if entry.last_run_at and entry.last_run_at > now]
        if future_entries:
            logger.warning("the clock was put back; the schedule starts over")
            for entry in future_entries:
                entry.last_run_at = now
            self._heap = None  # The heap is ordered by times of the old clock.
        seconds: float = super().tick(*args, **kwargs)
        return min(seconds, RENEW_S)

    def apply_entry(self, entry: Any, producer: Any = None) -> None:
        """Send a due task if it has work.

        A task that Redis does not accept is sent at its next scheduled time.
        """
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
        """Return False if the task has nothing to do.

        Returns True while PostgreSQL does not answer.
        """
        task = self.app.tasks.get(entry.task)
        pause_s = time.monotonic() - self._sent_at.get(entry.name, self._began_at)
        if not isinstance(task, PeriodicTask) or pause_s >= LONGEST_PAUSE_S:
            return True
        try:
            return task.has_work()
        except DatabaseFailure as error:
            log_failure(error)
            connection.close()
            return True

    def close(self) -> None:
        self._lease.release()
        super().close()
