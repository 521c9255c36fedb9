"""Dispatcher of deliveries: sends all that are due, despite hanging receivers and database outages."""

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
from infrastructure.postgresql import silence
from tests.factories import Member, finished_scan, register_webhook
from tests.targets.server import Answer, Request, Site
from webhooks import tasks
from webhooks.delivery import attempts, dispatch, schedule
from webhooks.delivery.claims import PER_RECEIVER, claim
from webhooks.delivery.dispatch import Dispatcher
from webhooks.delivery.sending import AttemptResult
from webhooks.models import Attempt, Delivery, Webhook

SHORT = (timedelta(milliseconds=150),) * 2


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the dispatcher end when nothing is due, instead of waiting for deliveries that are due soon."""
    monkeypatch.setattr(dispatch, "LINGER", timedelta(0))


def states() -> dict[str, int]:
    return {status: Delivery.objects.filter(status=status).count() for status in Delivery.Status.values}


def test_everything_that_is_due_is_delivered(home: Member, receiver: Site, impatient: None) -> None:
    for path in ("/a", "/b", "/c"):
        receiver.routes[path] = Answer("ok")
        register_webhook(home, f"{receiver.url}{path}")
    for _ in range(20):
        finished_scan(home)
    assert Dispatcher().deliver_due() is True
    assert states() == {"pending": 0, "delivered": 60, "failed": 0}
    assert sorted(set(receiver.paths())) == ["/a", "/b", "/c"]
    assert len(receiver.requests) == Attempt.objects.count() == 60


def test_a_retry_that_is_due_soon_is_waited_for(home: Member, receiver: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "PAUSES", SHORT)
    receiver.routes["/hook"] = Answer(status=500)
    register_webhook(home, f"{receiver.url}/hook")
    finished_scan(home)
    assert Dispatcher().deliver_due() is True
    assert states() == {"pending": 0, "delivered": 0, "failed": 1}
    first, second, third = Attempt.objects.all()
    for earlier, later in ((first, second), (second, third)):
        assert timedelta(milliseconds=120) <= later.at - earlier.at < timedelta(seconds=2)


def test_no_receiver_gets_more_than_its_share_at_once(home: Member, receiver: Site, impatient: None) -> None:
    lock = threading.Lock()
    at_once = [0, 0]
    full = threading.Event()

    def busy(request: Request) -> Answer:
        with lock:
            at_once[0] += 1
            at_once[1] = max(at_once)
            if at_once[0] == PER_RECEIVER:
                full.set()
        full.wait(5)
        with lock:
            at_once[0] -= 1
        return Answer("ok")

    receiver.routes["/hook"] = busy
    register_webhook(home, f"{receiver.url}/hook")
    for _ in range(3 * PER_RECEIVER):
        finished_scan(home)
    Dispatcher().deliver_due()
    assert at_once[1] == PER_RECEIVER
    assert states()["delivered"] == 3 * PER_RECEIVER


def test_a_receiver_that_hangs_delays_nobody(
    home: Member, receiver: Site, impatient: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every event goes to both receivers. The hanging one answers only when the other has received all of them."""
    monkeypatch.setattr(dispatch, "CLAIM_EVERY_S", 0.05)
    arrived: list[str] = []
    all_arrived = threading.Event()

    def well(request: Request) -> Answer:
        arrived.append(request.header("webhook-id") or "")
        if len(arrived) == 30:
            all_arrived.set()
        return Answer("ok")

    def hanging(request: Request) -> Answer:
        return Answer("ok" if all_arrived.wait(8) else "it had to wait for me", 200 if all_arrived.is_set() else 500)

    receiver.routes["/hook"] = well
    with Site({"/hook": hanging}) as other:
        register_webhook(home, f"{other.url}/hook")
        register_webhook(home, f"{receiver.url}/hook")
        for _ in range(30):
            finished_scan(home)
        Dispatcher().deliver_due()
    assert len(set(arrived)) == 30
    assert states() == {"pending": 0, "delivered": 60, "failed": 0}


def test_who_rings_while_it_is_busy_is_heard_and_need_not_wait(
    home: Member, receiver: Site, impatient: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "CLAIM_EVERY_S", 30.0)
    dispatcher = Dispatcher()
    waits: list[float] = []

    def first(request: Request) -> Answer:
        if len(receiver.requests) == 1:
            # Runs in the receiver's thread while the dispatcher, in the test's transaction, waits for this answer.
            begin = time.monotonic()
            assert dispatcher.deliver_due() is True
            waits.append(time.monotonic() - begin)
        return Answer("ok")

    receiver.routes["/hook"] = first
    register_webhook(home, f"{receiver.url}/hook")
    finished_scan(home)
    dispatcher.deliver_due()
    assert len(waits) == 1
    assert waits[0] < 1
    assert states()["delivered"] == 1


def failing_first(real: Callable[..., object], error: Exception, times: int = 1) -> Callable[..., object]:
    left = [times]

    def call(*args: object, **kwargs: object) -> object:
        if left[0]:
            left[0] -= 1
            raise error
        return real(*args, **kwargs)

    return call


@pytest.mark.parametrize("step", ["claim", "record", "next_due", "scan_policy"])
def test_a_database_that_goes_away_is_waited_for(
    step: str,
    home: Member,
    receiver: Site,
    impatient: None,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    register_webhook(home, f"{receiver.url}/hook")
    finished_scan(home)
    monkeypatch.setattr(dispatch, "DATABASE_PAUSE_S", 0.01)
    monkeypatch.setattr(silence, "outage", Outage("PostgreSQL"))
    # Closing the connection would end the test's transaction.
    monkeypatch.setattr(connection, "close", lambda: None)
    monkeypatch.setattr(dispatch, step, failing_first(getattr(dispatch, step), OperationalError("gone"), 3))
    Dispatcher().deliver_due()
    assert caplog.text.count("PostgreSQL does not answer: gone") == 1
    assert states()["delivered"] == 1
    assert len(receiver.requests) == 1, "nothing was sent twice"


def test_an_end_that_cannot_be_written_does_not_stand_in_the_way_of_others(
    home: Member, receiver: Site, impatient: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    register_webhook(home, f"{receiver.url}/hook")
    finished_scan(home)
    finished_scan(home)
    first = Delivery.objects.first()
    assert first is not None
    bad = first.id
    real = attempts.record

    def picky(reports: Sequence[AttemptResult]) -> None:
        if any(each.claim.delivery_id == bad for each in reports):
            raise DataError("too odd")
        real(reports)

    monkeypatch.setattr(dispatch, "record", picky)
    Dispatcher().deliver_due()
    assert states() == {"pending": 1, "delivered": 1, "failed": 0}
    assert f"the end of delivery {bad} could not be written" in caplog.text


def test_a_stopped_dispatcher_begins_nothing(home: Member, receiver: Site) -> None:
    register_webhook(home, f"{receiver.url}/hook")
    finished_scan(home)
    dispatcher = Dispatcher()
    dispatcher.stop()
    assert dispatcher.deliver_due() is True
    assert receiver.requests == []


def test_a_stop_lets_end_what_was_begun(home: Member, receiver: Site) -> None:
    dispatcher = Dispatcher()

    def stopping(request: Request) -> Answer:
        dispatcher.stop()
        return Answer("ok")

    receiver.routes["/hook"] = stopping
    register_webhook(home, f"{receiver.url}/hook")
    for _ in range(PER_RECEIVER + 5):
        finished_scan(home)
    dispatcher.deliver_due()
    assert states() == {"pending": 5, "delivered": PER_RECEIVER, "failed": 0}


def test_after_its_time_a_process_hands_over_to_the_next(
    home: Member, receiver: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    rung: list[tuple[str, str]] = []
    monkeypatch.setattr(queue, "enqueue", lambda task, reason: rung.append((task, reason)))
    monkeypatch.setattr(tasks, "PROCESS_LIMIT_S", 0)
    register_webhook(home, f"{receiver.url}/hook")
    finished_scan(home)
    tasks.deliver("test")
    assert rung[-1] == ("webhooks.tasks.deliver", "more")
    assert receiver.requests == []


def test_half_of_the_threads_are_kept_from_webhooks_that_fail(
    home: Member, receiver: Site, impatient: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "THREADS", 4)
    monkeypatch.setattr(dispatch, "FAILING_THREADS", 2)
    asked: list[tuple[int, int]] = []
    real = claim

    def noting(*, limit: int, failing_limit: int, **others: Any) -> object:
        claims = real(limit=limit, failing_limit=failing_limit, **others)
        asked.append((limit, sum(each.is_failing for each in claims)))
        return claims

    monkeypatch.setattr(dispatch, "claim", noting)
    for number in range(3):
        receiver.routes[f"/{number}"] = Answer("ok")
        register_webhook(home, f"{receiver.url}/{number}")
    Webhook.objects.update(failing_since=timezone.now())
    finished_scan(home)
    Dispatcher().deliver_due()
    assert asked[0] == (4, 2)
    assert states()["delivered"] == 3
