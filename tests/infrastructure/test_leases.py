"""Tests for leases on rows."""

from __future__ import annotations

import threading
import uuid
from datetime import timedelta

import pytest
from celery.exceptions import SoftTimeLimitExceeded
from django.db import OperationalError, connection
from django.utils import timezone

from accounts.models import DataExport
from infrastructure import leases
from infrastructure.leases import Lease, Renewal, written
from infrastructure.postgresql.statements import fetch
from tests.factories import Member

LEASE = Lease(timedelta(seconds=20))
LEASE_DEADLINE_S = 60


@pytest.mark.parametrize(
    ("ends_in", "state"),
    [
        (None, "nobody's"),
        (timedelta(seconds=10), "held"),
        (timedelta(seconds=-1), "run out"),
        # Another statement may have started later, so SLACK is allowed.
        (timedelta(minutes=4), "held"),
        (timedelta(hours=1), "run out"),  # The clock was set back after the lease had been written.
    ],
)
def test_lease_conditions_match_free_and_held_rows(home: Member, ends_in: timedelta | None, state: str) -> None:
    row = DataExport.objects.create(
        organization=home.organization, lease_expires_at=None if ends_in is None else timezone.now() + ends_in
    )
    rows = DataExport.objects.filter(id=row.id)
    assert rows.filter(LEASE.held).exists() is (state == "held")
    assert rows.filter(LEASE.run_out).exists() is (state == "run out")
    assert rows.filter(LEASE.free).exists() is (state != "held")
    ((is_held,),) = fetch(f"SELECT coalesce({LEASE.sql()}, false) FROM accounts_dataexport", {})
    assert is_held is (state == "held")


def test_claimed_row_cannot_be_claimed_again(home: Member) -> None:
    row = DataExport.objects.create(organization=home.organization)
    token = uuid.uuid4()
    assert DataExport.objects.filter(LEASE.free).update(**LEASE.taken(token)) == 1
    assert DataExport.objects.filter(LEASE.free).update(**LEASE.taken(uuid.uuid4())) == 0
    row.refresh_from_db()
    assert row.claim_token == token
    row.release()
    row.save()
    assert DataExport.objects.filter(LEASE.free).exists()


def test_lost_claim_stops_the_renewal() -> None:
    renewed = threading.Semaphore(0)
    lost = threading.Event()
    answers = iter([True, True, False])

    def renew() -> bool:
        renewed.release()
        return next(answers)

    with Renewal(Lease(timedelta(milliseconds=4)), renew, lost.set):
        assert lost.wait(LEASE_DEADLINE_S)
    assert next(answers, "exhausted") == "exhausted"


def test_hasten_renews_the_lease() -> None:
    renewed = threading.Event()

    def renew() -> bool:
        renewed.set()
        return True

    renewal = Renewal(Lease(timedelta(hours=1)), renew, lambda: None)
    with renewal:
        renewal.hasten()
        assert renewed.wait(LEASE_DEADLINE_S)
        renewed.clear()
    assert not renewed.is_set()


def test_consecutive_renewals_reuse_one_thread() -> None:
    renewed = threading.Event()
    threads: list[str] = []

    def renew() -> bool:
        threads.append(threading.current_thread().name)
        renewed.set()
        return True

    for _ in range(3):
        renewed.clear()
        with Renewal(Lease(timedelta(milliseconds=4)), renew, lambda: None):
            assert renewed.wait(LEASE_DEADLINE_S)
    assert len(set(threads)) == 1


def test_renewal_exception_is_raised_at_the_end() -> None:
    failed = threading.Event()

    def renew() -> bool:
        failed.set()
        raise LookupError("a bug")

    with pytest.raises(LookupError, match="a bug"), Renewal(Lease(timedelta(milliseconds=4)), renew, lambda: None):
        assert failed.wait(LEASE_DEADLINE_S)


def test_renewal_continues_after_database_outage(monkeypatch: pytest.MonkeyPatch) -> None:
    renewed = threading.Event()
    away = iter([OperationalError("away")])

    def renew() -> bool:
        if (error := next(away, None)) is not None:
            raise error
        renewed.set()
        return True

    with Renewal(Lease(timedelta(milliseconds=4)), renew, lambda: None):
        assert renewed.wait(LEASE_DEADLINE_S)


def test_write_is_repeated_until_database_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "PAUSE_S", 0)
    monkeypatch.setattr(connection, "close", lambda: None)
    away = iter([OperationalError("away"), OperationalError("still away")])

    def write() -> str:
        if (error := next(away, None)) is not None:
            raise error
        return "written"

    assert written(write) == "written"


def test_write_fails_at_the_soft_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "PAUSE_S", 0)
    monkeypatch.setattr(connection, "close", lambda: None)
    errors = iter([OperationalError("away"), SoftTimeLimitExceeded()])

    def write() -> None:
        raise next(errors)

    with pytest.raises(OperationalError, match="away"):
        written(write)
