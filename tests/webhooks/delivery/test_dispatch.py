"""Tests for the delivery dispatcher.

They include hanging receivers and database outages.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.db import DataError, OperationalError, connection
from django.utils import timezone

from infrastructure import queue
from infrastructure.logging import Outage
from infrastructure.postgresql import hang_detection
from tests.factories import Member, finished_scan, register_webhook
from tests.targets.server import Answer, Request, Site
from webhooks import tasks
from webhooks.delivery import attempts, dispatch, schedule
from webhooks.delivery.claims import MAX_ATTEMPTS_PER_RECEIVER, claim
from webhooks.delivery.dispatch import Dispatcher
from webhooks.delivery.sending import AttemptResult
from webhooks.models import Attempt, Delivery, Webhook

SHORT = (timedelta(milliseconds=150),) * 2


@pytest.fixture
def dispatcher_without_lingering(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the dispatcher return immediately when no delivery is due."""
    monkeypatch.setattr(dispatch, "LINGER", timedelta(0))


def count_by_status() -> dict[str, int]:
    return {status: Delivery.objects.filter(status=status).count() for status in Delivery.Status.values}


def test_dispatcher_sends_due_deliveries(home: Member, receiver: Site, dispatcher_without_lingering: None) -> None:
    for path in ("/a", "/b", "/c"):
        receiver.routes[path] = Answer("ok")
        register_webhook(home, f"{receiver.url}{path}")
    for _ in range(20):
        finished_scan(home)
    assert Dispatcher().deliver_due() is True
    assert count_by_status() == {"pending": 0, "delivered": 60, "failed": 0}
    assert sorted(set(receiver.paths())) == ["/a", "/b", "/c"]
    assert len(receiver.requests) == Attempt.objects.count() == 60


def test_dispatcher_waits_for_an_early_retry(home: Member, receiver: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "PAUSES", SHORT)
    receiver.routes["/hook"] = Answer(status=500)
    register_webhook(home, f"{receiver.url}/hook")
    finished_scan(home)
    assert Dispatcher().deliver_due() is True
    assert count_by_status() == {"pending": 0, "delivered": 0, "failed": 1}
    first, second, third = Attempt.objects.all()
    for earlier, later in ((first, second), (second, third)):
        assert timedelta(milliseconds=120) <= later.at - earlier.at < timedelta(seconds=2)


def test_requests_to_a_receiver_are_limited(home: Member, receiver: Site, dispatcher_without_lingering: None) -> None:
    lock = threading.Lock()
    current = peak = 0
    is_receiver_at_limit = threading.Event()

    def count(request: Request) -> Answer:
        nonlocal current, peak
        with lock:
            current += 1
            peak = max(peak, current)
            if current == MAX_ATTEMPTS_PER_RECEIVER:
                is_receiver_at_limit.set()
        is_receiver_at_limit.wait(5)
        with lock:
            current -= 1
        return Answer("ok")

    receiver.routes["/hook"] = count
    register_webhook(home, f"{receiver.url}/hook")
    for _ in range(3 * MAX_ATTEMPTS_PER_RECEIVER):
        finished_scan(home)
    Dispatcher().deliver_due()
    assert peak == MAX_ATTEMPTS_PER_RECEIVER
    assert count_by_status()["delivered"] == 3 * MAX_ATTEMPTS_PER_RECEIVER


def test_hanging_receiver_does_not_delay_others(
    home: Member, receiver: Site, dispatcher_without_lingering: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hanging receiver answers last.

    By then, the other one has received all events.
    """
    monkeypatch.setattr(dispatch, "CLAIM_INTERVAL_S", 0.05)
    event_ids: list[str] = []
    all_events_arrived = threading.Event()

    def working(request: Request) -> Answer:
        event_ids.append(request.header("webhook-id") or "")
        if len(event_ids) == 30:
            all_events_arrived.set()
        return Answer("ok")

    def hanging(request: Request) -> Answer:
        return Answer(
            "ok" if all_events_arrived.wait(8) else "it had to wait for me", 200 if all_events_arrived.is_set() else 500
        )

    receiver.routes["/hook"] = working
    with Site({"/hook": hanging}) as other:
        register_webhook(home, f"{other.url}/hook")
        register_webhook(home, f"{receiver.url}/hook")
        for _ in range(30):
            finished_scan(home)
        Dispatcher().deliver_due()
    assert len(set(event_ids)) == 30
    assert count_by_status() == {"pending": 0, "delivered": 60, "failed": 0}


def test_deliver_due_does_not_wait_for_a_dispatcher(
    home: Member, receiver: Site, dispatcher_without_lingering: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "CLAIM_INTERVAL_S", 30.0)
    dispatcher = Dispatcher()
    durations_s: list[float] = []

    def call_dispatcher(request: Request) -> Answer:
        if len(receiver.requests) == 1:
            # The receiver's thread runs this function while the dispatcher waits for the response.
            began = time.monotonic()
            assert dispatcher.deliver_due() is True
            durations_s.append(time.monotonic() - began)
        return Answer("ok")

    receiver.routes["/hook"] = call_dispatcher
    register_webhook(home, f"{receiver.url}/hook")
    finished_scan(home)
    dispatcher.deliver_due()
    assert len(durations_s) == 1
    assert durations_s[0] < 1
    assert count_by_status()["delivered"] == 1


def fail_first_calls(function: Callable[..., object], error: Exception, times: int = 1) -> Callable[..., object]:
    """Return a wrapper of a function whose first calls raise an error."""
    remaining = times

    def call(*args: object, **kwargs: object) -> object:
        nonlocal remaining
        if remaining:
            remaining -= 1
            raise error
        return function(*args, **kwargs)

    return call


@pytest.mark.parametrize("step", ["claim", "record", "next_due_at", "scan_policy"])
def test_dispatcher_waits_for_the_database(
    step: str,
    home: Member,
    receiver: Site,
    dispatcher_without_lingering: None,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    register_webhook(home, f"{receiver.url}/hook")
    finished_scan(home)
    monkeypatch.setattr(dispatch, "DATABASE_PAUSE_S", 0.01)
    monkeypatch.setattr(hang_detection, "outage", Outage("PostgreSQL"))
    # A real `close` would end the test's transaction.
    monkeypatch.setattr(connection, "close", lambda: None)
    monkeypatch.setattr(dispatch, step, fail_first_calls(getattr(dispatch, step), OperationalError("gone"), 3))
    Dispatcher().deliver_due()
    assert caplog.text.count("PostgreSQL does not answer: gone") == 1
    assert count_by_status()["delivered"] == 1
    assert len(receiver.requests) == 1, "nothing was sent twice"


def test_refused_result_does_not_block_others(
    home: Member,
    receiver: Site,
    dispatcher_without_lingering: None,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    register_webhook(home, f"{receiver.url}/hook")
    finished_scan(home)
    finished_scan(home)
    first = Delivery.objects.first()
    assert first is not None
    refused_id = first.id
    record = attempts.record

    def refuse_one_result(results: Sequence[AttemptResult]) -> None:
        if any(result.claim.delivery_id == refused_id for result in results):
            raise DataError("too odd")
        record(results)

    monkeypatch.setattr(dispatch, "record", refuse_one_result)
    Dispatcher().deliver_due()
    assert count_by_status() == {"pending": 1, "delivered": 1, "failed": 0}
    assert f"the end of delivery {refused_id} could not be written" in caplog.text


def test_stopped_dispatcher_starts_no_attempts(home: Member, receiver: Site) -> None:
    register_webhook(home, f"{receiver.url}/hook")
    finished_scan(home)
    dispatcher = Dispatcher()
    dispatcher.stop()
    assert dispatcher.deliver_due() is True
    assert receiver.requests == []


def test_stop_lets_running_attempts_finish(home: Member, receiver: Site) -> None:
    dispatcher = Dispatcher()

    def stopping(request: Request) -> Answer:
        dispatcher.stop()
        return Answer("ok")

    receiver.routes["/hook"] = stopping
    register_webhook(home, f"{receiver.url}/hook")
    for _ in range(MAX_ATTEMPTS_PER_RECEIVER + 5):
        finished_scan(home)
    dispatcher.deliver_due()
    assert count_by_status() == {"pending": 5, "delivered": MAX_ATTEMPTS_PER_RECEIVER, "failed": 0}


def test_deliver_task_enqueues_a_successor(home: Member, receiver: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    messages: list[tuple[str, str]] = []
    monkeypatch.setattr(queue, "enqueue", lambda task, reason: messages.append((task, reason)))
    monkeypatch.setattr(tasks, "PROCESS_LIMIT_S", 0)
    register_webhook(home, f"{receiver.url}/hook")
    finished_scan(home)
    tasks.deliver("test")
    assert messages[-1] == ("webhooks.tasks.deliver", "more")
    assert receiver.requests == []


def test_failing_webhooks_use_half_of_the_threads(
    home: Member, receiver: Site, dispatcher_without_lingering: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "THREADS", 4)
    monkeypatch.setattr(dispatch, "MAX_FAILING_THREADS", 2)
    calls: list[tuple[int, int]] = []

    def recording_claim(*, limit: int, failing_limit: int, **others: Any) -> object:
        claims = claim(limit=limit, failing_limit=failing_limit, **others)
        calls.append((limit, sum(claimed.is_failing for claimed in claims)))
        return claims

    monkeypatch.setattr(dispatch, "claim", recording_claim)
    for number in range(3):
        receiver.routes[f"/{number}"] = Answer("ok")
        register_webhook(home, f"{receiver.url}/{number}")
    Webhook.objects.update(failing_since=timezone.now())
    finished_scan(home)
    Dispatcher().deliver_due()
    assert calls[0] == (4, 2)
    assert count_by_status()["delivered"] == 3
