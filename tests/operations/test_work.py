"""Tests that periodic tasks are sent only if rows need them.

Worker pools grow and shrink.
"""

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
from config.celery import app, freeze_before_fork
from infrastructure import encryption
from infrastructure.periodic import PeriodicTask, last_beat
from infrastructure.pool import Autoscaler
from operations import scheduler
from operations.scheduler import SteadyScheduler
from scans.models import EndedScan
from sites.models import Alert, Assessment, Cause
from sites.models.alert import CauseText
from tests.factories import Member, make_scan
from tests.populated_audits import make_audit
from tests.sites.lists.cast import make_list
from tests.sites.monitors.cast import make_monitor
from webhooks.models import Delivery, Event, Webhook

# These tasks run at intervals, other tasks at a time of day.
INTERVAL_TASKS = {name for name, entry in app.conf.beat_schedule.items() if isinstance(entry["schedule"], float)}


@pytest.fixture
def sent_tasks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record the names of schedule entries whose tasks are sent."""
    names: list[str] = []
    monkeypatch.setattr(SteadyScheduler, "apply_async", lambda self, entry, **_: names.append(entry.name))
    monkeypatch.setattr(SteadyScheduler, "producer", None)
    return names


@pytest.fixture
def steady(tmp_path: Path, sent_tasks: list[str]) -> Iterator[SteadyScheduler]:
    app.loader.import_default_modules()
    steady_scheduler = SteadyScheduler(app, schedule_filename=str(tmp_path / "schedule"))
    yield steady_scheduler
    steady_scheduler.close()


def send_due_tasks(steady: SteadyScheduler, sent_tasks: list[str]) -> set[str]:
    """Return the names of sent tasks if every interval task is due."""
    sent_tasks.clear()
    for name in INTERVAL_TASKS:
        steady.apply_entry(steady.schedule[name])
    return set(sent_tasks)


def person(**columns: object) -> User:
    return User.objects.create(email="somebody@example.com", **columns)


def make_delivery(home: Member) -> None:
    webhook = Webhook.objects.create(
        organization=home.organization, url="https://x.test/", events=[], encrypted_secret=encryption.encrypt("x")
    )
    event = Event.objects.create(organization=home.organization, kind="scan.completed", body=b"{}")
    Delivery.objects.create(webhook=webhook, event=event, next_attempt_at=timezone.now())


def make_alert(home: Member) -> None:
    now = timezone.now()
    monitor = make_monitor(home, next_run_at=None)
    run = monitor.runs.create(due_at=now, not_before=now, status="done")
    webhook = Webhook.objects.create(
        organization=home.organization, url="https://x.test/", events=[], encrypted_secret=encryption.encrypt("x")
    )
    cause = Cause.objects.create(
        organization=home.organization,
        kind=Cause.Kind.OUTAGE,
        key="a",
        group="b",
        site="example.com",
        text=CauseText(title="Unreachable", severity="critical", fix="", type="", check=""),
        first_seen_at=now,
    )
    Alert.objects.create(
        cause=cause, monitor=monitor, run=run, webhook=webhook, is_end=False, places=[], created_at=now
    )


WORK: dict[str, tuple[Callable[[Member], object], set[str]]] = {
    "a scan waits": (make_scan, {"sweep-scans"}),
    "a scan runs": (lambda home: make_scan(home, status="scanning"), {"sweep-scans"}),
    "a scan has ended": (
        lambda _: EndedScan.objects.create(type="seo", status="completed", is_background=False),
        {"sweep-scans"},
    ),
    "an audit begins": (lambda home: make_audit(home, status="queued"), {"sweep-audits"}),
    "an audit runs": (lambda home: make_audit(home, status="running"), {"sweep-audits"}),
    "an assessment gets the results of an audit": (
        lambda home: Assessment.objects.create(
            organization=home.organization, url="https://example.com/", pending_audit_id="aud_1"
        ),
        {"sweep-assessments"},
    ),
    "a monitor is due": (make_monitor, {"run-monitors"}),
    "a run of a monitor is not finished": (
        lambda home: make_monitor(home, next_run_at=None).runs.create(
            due_at=timezone.now(), not_before=timezone.now(), status="running"
        ),
        {"run-monitors"},
    ),
    "an alert waits": (make_alert, {"send-alerts"}),
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
def test_scheduler_sends_nothing_without_work(steady: SteadyScheduler, sent_tasks: list[str], home: Member) -> None:
    make_scan(home, status="completed", score=90, grade="A")
    make_monitor(home, next_run_at=timezone.now() + timedelta(hours=1))
    assert send_due_tasks(steady, sent_tasks) == set()
    assert last_beat() is not None, "the scheduler is alive"


@pytest.mark.django_db
@pytest.mark.parametrize("work", WORK)
def test_scheduler_sends_task_if_rows_need_it(
    work: str, steady: SteadyScheduler, sent_tasks: list[str], home: Member
) -> None:
    make, expected = WORK[work]
    make(home)
    assert send_due_tasks(steady, sent_tasks) == expected


def test_interval_tasks_are_PeriodicTasks() -> None:
    app.loader.import_default_modules()
    periodic = {
        name for name, entry in app.conf.beat_schedule.items() if isinstance(app.tasks[entry["task"]], PeriodicTask)
    }
    assert periodic == INTERVAL_TASKS
    assert {name for _, names in WORK.values() for name in names} == INTERVAL_TASKS


@pytest.mark.django_db
def test_idle_task_is_sent_after_LONGEST_PAUSE_S(
    steady: SteadyScheduler, sent_tasks: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    later = time.monotonic() + scheduler.LONGEST_PAUSE_S
    monkeypatch.setattr(time, "monotonic", lambda: later)
    assert send_due_tasks(steady, sent_tasks) == INTERVAL_TASKS
    assert send_due_tasks(steady, sent_tasks) == set()


def test_postgresql_outage_delays_no_task(
    steady: SteadyScheduler, sent_tasks: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> bool:
        raise OperationalError("nobody there")

    monkeypatch.setattr(scheduler, "connection", type("Closed", (), {"close": staticmethod(lambda: None)}))
    monkeypatch.setattr(scheduler, "log_failure", lambda error: None)
    for name in INTERVAL_TASKS:
        monkeypatch.setattr(app.tasks[app.conf.beat_schedule[name]["task"]], "has_work", refuse)
    assert send_due_tasks(steady, sent_tasks) == INTERVAL_TASKS


class Pool:
    """Fake pool that only counts its processes."""

    num_processes = 1

    def grow(self, number: int) -> None:
        self.num_processes += number

    def shrink(self, number: int) -> None:
        self.num_processes -= number

    def maintain_pool(self) -> None:
        pass


@pytest.fixture
def tasks(monkeypatch: pytest.MonkeyPatch) -> tuple[set[object], set[object]]:
    """Tasks received by the worker, and tasks accepted by its processes."""
    received: set[object] = set()
    accepted: set[object] = set()
    monkeypatch.setattr(state, "reserved_requests", received)
    monkeypatch.setattr(state, "active_requests", accepted)
    return received, accepted


def test_pool_grows_with_tasks_and_shrinks(tasks: tuple[set[object], set[object]]) -> None:
    received, accepted = tasks
    pool = Pool()
    scaler = Autoscaler(pool, 3, 1)
    for number in range(5):
        received.add(number)
        accepted.add(number)
        scaler.maybe_scale(object())
    assert pool.num_processes == 3, "the pool does not exceed its maximum"
    received.clear()
    accepted.clear()
    scaler.maybe_scale(object())
    assert pool.num_processes == 3, "a new task does not shrink the pool"
    scaler.maybe_scale()
    assert pool.num_processes == 3, "three were busy since the timer last ran"
    received.add("new")
    scaler.maybe_scale()
    assert pool.num_processes == 3, "the pool does not know yet which process gets the task"
    accepted.add("new")
    scaler.maybe_scale()
    assert pool.num_processes == 1


def test_pool_keeps_one_process_after_a_task(tasks: tuple[set[object], set[object]]) -> None:
    received, _ = tasks
    pool = Pool()
    pool.num_processes = 0
    scaler = Autoscaler(pool, 2, 0)
    scaler.maybe_scale()
    assert pool.num_processes == 0
    received.add("first")
    scaler.maybe_scale(object())
    received.clear()
    for _ in range(3):
        scaler.maybe_scale()
    assert pool.num_processes == 1


def test_objects_are_frozen_before_the_fork() -> None:
    before = gc.get_freeze_count()
    objects: list[list[object]] = [[] for _ in range(100)]
    freeze_before_fork()
    try:
        assert gc.get_freeze_count() >= before + len(objects)
    finally:
        gc.unfreeze()
