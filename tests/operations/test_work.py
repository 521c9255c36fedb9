"""The scheduler sends a periodic task only if PostgreSQL has work for it, and the workers' pools follow their tasks."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from celery.worker import state
from django.db import OperationalError
from django.utils import timezone

from accounts.models import DataExport, Mail, User
from config.celery import app, keep_shared
from infrastructure import encryption
from infrastructure.periodic import PeriodicTask, last_beat
from infrastructure.pool import Autoscaler
from operations import scheduler
from operations.scheduler import SteadyScheduler
from scans.models import EndedScan
from tests.factories import Member, make_scan
from tests.populated_audits import make_audit
from tests.sites.lists.cast import make_list
from tests.sites.monitors.cast import make_monitor
from webhooks.models import Delivery, Event, Webhook

# Tasks of the schedule that look for rows; the others have a time of day.
ASKED = {name for name, entry in app.conf.beat_schedule.items() if isinstance(entry["schedule"], float)}


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the entries that were sent."""
    names: list[str] = []
    monkeypatch.setattr(SteadyScheduler, "apply_async", lambda self, entry, **_: names.append(entry.name))
    monkeypatch.setattr(SteadyScheduler, "producer", None)
    return names


@pytest.fixture
def steady(tmp_path: Path, sent: list[str]) -> Iterator[SteadyScheduler]:
    app.loader.import_default_modules()
    made = SteadyScheduler(app, schedule_filename=str(tmp_path / "schedule"))
    yield made
    made.close()


def sent_now(steady: SteadyScheduler, sent: list[str]) -> set[str]:
    """Let every entry that asks for work be due; return those that were sent."""
    sent.clear()
    for name in ASKED:
        steady.apply_entry(steady.schedule[name])
    return set(sent)


def person(**columns: object) -> User:
    return User.objects.create(email="somebody@example.com", **columns)


def make_delivery(home: Member) -> None:
    webhook = Webhook.objects.create(
        organization=home.organization, url="https://x.test/", events=[], encrypted_secret=encryption.encrypt("x")
    )
    event = Event.objects.create(organization=home.organization, kind="scan.completed", body=b"{}")
    Delivery.objects.create(webhook=webhook, event=event, next_attempt_at=timezone.now())


WORK: dict[str, tuple[Callable[[Member], object], set[str]]] = {
    "a scan waits": (make_scan, {"sweep-scans"}),
    "a scan runs": (lambda home: make_scan(home, status="scanning"), {"sweep-scans"}),
    "a scan has ended": (
        lambda _: EndedScan.objects.create(type="seo", status="completed", is_background=False),
        {"sweep-scans"},
    ),
    "an audit begins": (lambda home: make_audit(home, status="queued"), {"sweep-audits"}),
    "an audit runs": (lambda home: make_audit(home, status="running"), {"sweep-audits"}),
    "a monitor is due": (make_monitor, {"run-monitors"}),
    "a run of a monitor is not finished": (
        lambda home: make_monitor(home, next_run_at=None).runs.create(
            due_at=timezone.now(), not_before=timezone.now(), status="running"
        ),
        {"run-monitors"},
    ),
    "a list is due": (
        lambda home: make_list(home, next_run_at=timezone.now() - timedelta(minutes=1)),
        {"run-lists"},
    ),
    "a run of a list is not finished": (
        lambda home: make_list(home).runs.create(types=["seo"], pages_per_entry=1, window_hours=0, entries=0),
        {"run-lists"},
    ),
    "a site of a list is scanned again": (
        lambda home: make_list(home).results.create(starts_at=timezone.now(), url="https://example.com/"),
        {"run-lists"},
    ),
    "a delivery waits": (make_delivery, {"sweep-deliveries", "hold-deliveries"}),
    "a mail waits": (
        lambda home: Mail.objects.create(user=person(), organization=home.organization, subject="x"),
        {"send-mails"},
    ),
    "an export is being made": (
        lambda home: DataExport.objects.create(organization=home.organization),
        {"wake-exports"},
    ),
    "an organization is closed": (
        lambda home: type(home.organization).objects.update(closed_at=timezone.now()),
        {"delete-closed-accounts"},
    ),
    "a person has left": (
        lambda _: person(closed_at=timezone.now()),
        {"delete-closed-accounts"},
    ),
}


@pytest.mark.django_db
def test_nothing_is_sent_while_there_is_nothing_to_do(steady: SteadyScheduler, sent: list[str], home: Member) -> None:
    make_scan(home, status="completed", score=90, grade="A")
    make_monitor(home, next_run_at=timezone.now() + timedelta(hours=1))
    assert sent_now(steady, sent) == set()
    assert last_beat() is not None, "the scheduler is alive"


@pytest.mark.django_db
@pytest.mark.parametrize("work", WORK)
def test_a_task_is_sent_when_rows_wait_for_it(
    work: str, steady: SteadyScheduler, sent: list[str], home: Member
) -> None:
    make, expected = WORK[work]
    make(home)
    assert sent_now(steady, sent) == expected


def test_each_task_that_looks_for_rows_is_asked() -> None:
    app.loader.import_default_modules()
    asked = {
        name for name, entry in app.conf.beat_schedule.items() if isinstance(app.tasks[entry["task"]], PeriodicTask)
    }
    assert asked == ASKED
    assert {name for _, names in WORK.values() for name in names} == ASKED


@pytest.mark.django_db
def test_a_task_without_work_is_sent_after_a_long_pause(
    steady: SteadyScheduler, sent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    later = time.monotonic() + scheduler.LONGEST_PAUSE_S
    monkeypatch.setattr(time, "monotonic", lambda: later)
    assert sent_now(steady, sent) == ASKED
    assert sent_now(steady, sent) == set()


def test_while_postgresql_does_not_answer_every_task_is_sent(
    steady: SteadyScheduler, sent: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> bool:
        raise OperationalError("nobody there")

    monkeypatch.setattr(scheduler, "connection", type("Closed", (), {"close": staticmethod(lambda: None)}))
    monkeypatch.setattr(scheduler, "log_failure", lambda error: None)
    for name in ASKED:
        monkeypatch.setattr(app.tasks[app.conf.beat_schedule[name]["task"]], "has_work", refuse)
    assert sent_now(steady, sent) == ASKED


class Pool:
    """Pool of processes that only counts them."""

    num_processes = 1

    def grow(self, number: int) -> None:
        self.num_processes += number

    def shrink(self, number: int) -> None:
        self.num_processes -= number

    def maintain_pool(self) -> None:
        pass


@pytest.fixture
def tasks(monkeypatch: pytest.MonkeyPatch) -> tuple[set[object], set[object]]:
    """Tasks that the worker holds, and those that its processes have accepted."""
    received: set[object] = set()
    accepted: set[object] = set()
    monkeypatch.setattr(state, "reserved_requests", received)
    monkeypatch.setattr(state, "active_requests", accepted)
    return received, accepted


def test_a_pool_grows_with_each_task_and_shrinks_half_a_minute_later(tasks: tuple[set[object], set[object]]) -> None:
    received, accepted = tasks
    pool = Pool()
    scaler = Autoscaler(pool, 3, 1)  # type: ignore[arg-type]  # it needs these methods alone
    for number in range(5):
        received.add(number)
        accepted.add(number)
        scaler.maybe_scale(object())
    assert pool.num_processes == 3, "not more than it may have"
    received.clear()
    accepted.clear()
    scaler.maybe_scale(object())
    assert pool.num_processes == 3, "a task shrinks no pool"
    scaler.maybe_scale()
    assert pool.num_processes == 3, "three were busy in this half minute"
    received.add("new")
    scaler.maybe_scale()
    assert pool.num_processes == 3, "nobody knows which process gets the task"
    accepted.add("new")
    scaler.maybe_scale()
    assert pool.num_processes == 1


def test_a_pool_that_began_empty_keeps_a_process_after_its_first_task(tasks: tuple[set[object], set[object]]) -> None:
    received, _ = tasks
    pool = Pool()
    pool.num_processes = 0
    scaler = Autoscaler(pool, 2, 0)  # type: ignore[arg-type]  # it needs these methods alone
    scaler.maybe_scale()
    assert pool.num_processes == 0
    received.add("first")
    scaler.maybe_scale(object())
    received.clear()
    for _ in range(3):
        scaler.maybe_scale()
    assert pool.num_processes == 1


def test_the_memory_of_a_worker_is_frozen_before_it_forks() -> None:
    before = gc.get_freeze_count()
    kept: list[list[object]] = [[] for _ in range(100)]
    keep_shared()
    try:
        assert gc.get_freeze_count() >= before + len(kept)
    finally:
        gc.unfreeze()
