"""Tests for the scheduler of periodic tasks."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import redis
from django.conf import settings
from kombu.exceptions import OperationalError
from pytest_django import Settings

from config.celery import app
from infrastructure.logging import Outage
from operations import scheduler
from operations.scheduler import LEASE_KEY, LEASE_S, SendingLease, SteadyScheduler


@pytest.fixture
def sent_tasks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record the names of schedule entries whose tasks are sent."""
    names: list[str] = []
    monkeypatch.setattr(SteadyScheduler, "apply_async", lambda self, entry, **_: names.append(entry.name))
    monkeypatch.setattr(SteadyScheduler, "_has_work", lambda self, entry: True)
    monkeypatch.setattr(SteadyScheduler, "producer", None)
    monkeypatch.setattr(scheduler, "outage", Outage("Redis"))
    return names


@pytest.fixture
def steady_clock(tmp_path: Path, sent_tasks: list[str]) -> Iterator[SteadyScheduler]:
    app.loader.import_default_modules()
    scheduler = SteadyScheduler(app, schedule_filename=str(tmp_path / "schedule"))
    yield scheduler
    scheduler.close()


def ticks(steady_clock: SteadyScheduler, count: int = 12) -> float:
    return min(steady_clock.tick() for _ in range(count))


def test_scheduler_survives_a_clock_set_back(
    steady_clock: SteadyScheduler, sent_tasks: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = app.now()
    clock = [now]
    monkeypatch.setattr(type(app), "now", lambda self: clock[0])
    for entry in steady_clock.schedule.values():
        entry.last_run_at = now
    assert ticks(steady_clock) <= 15
    clock[0] = now - timedelta(hours=1)
    assert ticks(steady_clock) <= 15, "the next tick is not an hour away"
    clock[0] += timedelta(seconds=61)
    sent_tasks.clear()
    ticks(steady_clock)
    assert {"sweep-scans", "sweep-deliveries", "send-mails"} <= set(sent_tasks)


def test_scheduler_logs_redis_outage_once(
    steady_clock: SteadyScheduler, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(scheduler, "outage", Outage("Redis"))
    monkeypatch.setattr(SteadyScheduler, "producer", None)
    monkeypatch.setattr(SteadyScheduler, "_has_work", lambda self, entry: True)

    def refuse(*_: object, **__: object) -> None:
        raise OperationalError("nobody there")

    monkeypatch.setattr(app, "send_task", refuse)
    monkeypatch.setattr("celery.app.task.Task.apply_async", refuse)
    entry = steady_clock.schedule["sweep-scans"]
    for _ in range(3):
        steady_clock.apply_entry(entry)
    assert caplog.text.count("Redis does not answer") == 1
    assert "Traceback" not in caplog.text
    monkeypatch.setattr("celery.app.task.Task.apply_async", lambda *_, **__: None)
    steady_clock.apply_entry(entry)
    assert caplog.text.count("Redis answers again") == 1


@pytest.fixture
def free_lease() -> Iterator[redis.Redis]:
    """Redis client.

    No scheduler holds the lease.
    """
    with redis.Redis.from_url(settings.REDIS_URL, decode_responses=True) as client:
        client.delete(LEASE_KEY)
        yield client
        client.delete(LEASE_KEY)


def test_second_scheduler_logs_standby(
    steady_clock: SteadyScheduler,
    tmp_path: Path,
    sent_tasks: list[str],
    free_lease: redis.Redis,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def tick_all_tasks(scheduler: SteadyScheduler) -> list[str]:
        for entry in scheduler.schedule.values():
            entry.last_run_at = app.now() - timedelta(days=2)
        scheduler._heap = None
        sent_tasks.clear()
        scheduler._lease._checked_at = float("-inf")
        ticks(scheduler)
        return list(sent_tasks)

    assert tick_all_tasks(steady_clock)
    monkeypatch.setattr(platform, "node", lambda: "another-host")
    second = SteadyScheduler(app, schedule_filename=str(tmp_path / "second"))
    assert not tick_all_tasks(second)
    assert not tick_all_tasks(second)
    assert caplog.text.count("stands by: only one is needed") == 1
    assert tick_all_tasks(steady_clock), "the first still sends"
    steady_clock._lease.release()
    assert tick_all_tasks(second), "the lease of a scheduler that ends is free at once"
    assert caplog.text.count("the other one has ended") == 1
    assert not tick_all_tasks(steady_clock), "the first does not acquire the lease again"
    second.close()


def test_standby_scheduler_acquires_expired_lease(free_lease: redis.Redis) -> None:
    free_lease.set(LEASE_KEY, "another-host:1", ex=LEASE_S)
    lease = SendingLease()
    assert not lease.is_held()
    assert 0 < free_lease.ttl(LEASE_KEY) <= LEASE_S
    free_lease.delete(LEASE_KEY)
    lease._checked_at = float("-inf")
    assert lease.is_held()
    assert 0 < free_lease.ttl(LEASE_KEY) <= LEASE_S


def test_lease_of_ended_process_is_replaced(free_lease: redis.Redis) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    free_lease.set(LEASE_KEY, f"{platform.node()}:{ended.pid}", ex=LEASE_S)
    assert SendingLease().is_held()
    free_lease.set(LEASE_KEY, f"{platform.node()}:1", ex=LEASE_S)
    assert not SendingLease().is_held(), "process 1 runs"


def test_release_deletes_only_own_lease(free_lease: redis.Redis) -> None:
    free_lease.set(LEASE_KEY, "another-host:1", ex=LEASE_S)
    SendingLease().release()
    assert free_lease.get(LEASE_KEY) == "another-host:1"


def test_scheduler_keeps_lease_during_redis_outage(settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    lease = SendingLease()
    assert lease.is_held()
    lease.release()


def test_scheduler_works_without_schedule_file(
    tmp_path: Path, sent_tasks: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    scheduler = SteadyScheduler(app, schedule_filename=str(tmp_path / "missing folder" / "schedule"))
    for entry in scheduler.schedule.values():
        entry.last_run_at = app.now() - timedelta(days=2)
    ticks(scheduler)
    assert sent_tasks
    scheduler.sync()
    scheduler.close()
    assert caplog.text.count("the schedule can't be written") == 1
    assert "Free space there" in caplog.text


def test_damaged_schedule_file_is_replaced(tmp_path: Path, sent_tasks: list[str]) -> None:
    path = tmp_path / "schedule"
    first = SteadyScheduler(app, schedule_filename=str(path))
    last_run_at = app.now() - timedelta(days=2)
    first.schedule["sweep-scans"].last_run_at = last_run_at
    first.close()
    second = SteadyScheduler(app, schedule_filename=str(path))
    assert second.schedule["sweep-scans"].last_run_at == last_run_at
    second.close()
    path.write_bytes(b"damaged")
    third = SteadyScheduler(app, schedule_filename=str(path))
    assert "sweep-scans" in third.schedule
    third.close()
