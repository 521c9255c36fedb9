"""The scheduler continues when the clock is set back, and logs an outage of Redis in one line."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from kombu.exceptions import OperationalError

from config.celery import app
from infrastructure.logging import Outage
from operations import scheduler
from operations.scheduler import SteadyScheduler


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
def steady(tmp_path: Path, sent: list[str]) -> SteadyScheduler:
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
