"""The scheduler continues when the clock is set back, logs an outage of Redis in one line, and sends alone."""

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
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the entries that were sent."""
    names: list[str] = []
    monkeypatch.setattr(SteadyScheduler, "apply_async", lambda self, entry, **_: names.append(entry.name))
    monkeypatch.setattr(SteadyScheduler, "_has_work", lambda self, entry: True)
    monkeypatch.setattr(SteadyScheduler, "producer", None)
    monkeypatch.setattr(scheduler, "outage", Outage("Redis"))
    return names


@pytest.fixture
def steady(tmp_path: Path, sent: list[str]) -> Iterator[SteadyScheduler]:
    app.loader.import_default_modules()
    made = SteadyScheduler(app, schedule_filename=str(tmp_path / "schedule"))
    yield made
    made.close()


def ticks(steady: SteadyScheduler, count: int = 12) -> float:
    return min(steady.tick() for _ in range(count))


def test_a_clock_that_is_put_back_stops_no_task(
    steady: SteadyScheduler, sent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = app.now()
    clock = [now]
    monkeypatch.setattr(type(app), "now", lambda self: clock[0])
    for entry in steady.schedule.values():
        entry.last_run_at = now
    assert ticks(steady) <= 15
    clock[0] = now - timedelta(hours=1)
    assert ticks(steady) <= 15, "not in an hour"
    clock[0] += timedelta(seconds=61)
    sent.clear()
    ticks(steady)
    assert {"sweep-scans", "sweep-deliveries", "send-mails"} <= set(sent)


def test_a_queue_that_takes_nothing_is_one_line(
    steady: SteadyScheduler, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(scheduler, "outage", Outage("Redis"))
    monkeypatch.setattr(SteadyScheduler, "producer", None)
    monkeypatch.setattr(SteadyScheduler, "_has_work", lambda self, entry: True)

    def refuse(*_: object, **__: object) -> None:
        raise OperationalError("nobody there")

    monkeypatch.setattr(app, "send_task", refuse)
    monkeypatch.setattr("celery.app.task.Task.apply_async", refuse)
    entry = steady.schedule["sweep-scans"]
    for _ in range(3):
        steady.apply_entry(entry)
    assert caplog.text.count("Redis does not answer") == 1
    assert "Traceback" not in caplog.text
    monkeypatch.setattr("celery.app.task.Task.apply_async", lambda *_, **__: None)
    steady.apply_entry(entry)
    assert caplog.text.count("Redis answers again") == 1


@pytest.fixture
def free_lease() -> Iterator[redis.Redis]:
    """Client of the Redis in which no scheduler holds the lease."""
    with redis.Redis.from_url(settings.REDIS_URL, decode_responses=True) as client:
        client.delete(LEASE_KEY)
        yield client
        client.delete(LEASE_KEY)


def test_of_two_schedulers_one_sends_and_the_other_says_that_it_stands_by(
    steady: SteadyScheduler,
    tmp_path: Path,
    sent: list[str],
    free_lease: redis.Redis,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def tick_all_tasks(each: SteadyScheduler) -> list[str]:
        for entry in each.schedule.values():
            entry.last_run_at = app.now() - timedelta(days=2)
        each._heap = None
        sent.clear()
        each._lease._checked_at = float("-inf")
        ticks(each)
        return list(sent)

    assert tick_all_tasks(steady)
    monkeypatch.setattr(platform, "node", lambda: "another-host")
    second = SteadyScheduler(app, schedule_filename=str(tmp_path / "second"))
    assert not tick_all_tasks(second)
    assert not tick_all_tasks(second)
    assert caplog.text.count("stands by: one is enough") == 1
    assert tick_all_tasks(steady), "the first still sends"
    steady._lease.release()
    assert tick_all_tasks(second), "a scheduler that ends hands over at once"
    assert caplog.text.count("the other one has ended") == 1
    assert not tick_all_tasks(steady), "and does not take the lease back"
    second.close()


def test_the_lease_of_a_killed_scheduler_ends(free_lease: redis.Redis) -> None:
    free_lease.set(LEASE_KEY, "another-host:1", ex=LEASE_S)
    lease = SendingLease()
    assert not lease.is_held()
    assert 0 < free_lease.ttl(LEASE_KEY) <= LEASE_S
    free_lease.delete(LEASE_KEY)
    lease._checked_at = float("-inf")
    assert lease.is_held()
    assert 0 < free_lease.ttl(LEASE_KEY) <= LEASE_S


def test_a_scheduler_that_was_killed_on_this_host_is_replaced_at_once(free_lease: redis.Redis) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    free_lease.set(LEASE_KEY, f"{platform.node()}:{ended.pid}", ex=LEASE_S)
    assert SendingLease().is_held()
    free_lease.set(LEASE_KEY, f"{platform.node()}:1", ex=LEASE_S)
    assert not SendingLease().is_held(), "process 1 lives"


def test_leaving_ends_only_ones_own_lease(free_lease: redis.Redis) -> None:
    free_lease.set(LEASE_KEY, "another-host:1", ex=LEASE_S)
    SendingLease().release()
    assert free_lease.get(LEASE_KEY) == "another-host:1"


def test_without_redis_a_scheduler_goes_on(settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    lease = SendingLease()
    assert lease.is_held()
    lease.release()


def test_a_full_disk_stops_no_task(tmp_path: Path, sent: list[str], caplog: pytest.LogCaptureFixture) -> None:
    nowhere = SteadyScheduler(app, schedule_filename=str(tmp_path / "missing folder" / "schedule"))
    for entry in nowhere.schedule.values():
        entry.last_run_at = app.now() - timedelta(days=2)
    ticks(nowhere)
    assert sent
    nowhere.sync()
    nowhere.close()
    assert caplog.text.count("the schedule can't be written") == 1
    assert "Free space there" in caplog.text


def test_the_last_runs_survive_a_restart(tmp_path: Path, sent: list[str]) -> None:
    path = tmp_path / "schedule"
    first = SteadyScheduler(app, schedule_filename=str(path))
    then = app.now() - timedelta(days=2)
    first.schedule["sweep-scans"].last_run_at = then
    first.close()
    second = SteadyScheduler(app, schedule_filename=str(path))
    assert second.schedule["sweep-scans"].last_run_at == then
    second.close()
    path.write_bytes(b"damaged")
    third = SteadyScheduler(app, schedule_filename=str(path))
    assert "sweep-scans" in third.schedule
    third.close()
