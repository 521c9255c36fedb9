"""Tests that database outages delay scans but lose none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from celery.exceptions import SoftTimeLimitExceeded
from django.db import OperationalError, connection

from infrastructure import leases
from infrastructure.logging import Outage
from infrastructure.postgresql import hang_detection
from scans import tasks
from scans.models import Scan
from scans.tasks import run_scan
from scans.visits import claims
from tests.factories import Member, make_result, make_scan


@pytest.fixture(autouse=True)
def fast_outages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove pauses, fake the visit, and keep the connection.

    The connection holds the test's transaction.
    """
    monkeypatch.setattr(leases, "PAUSE_S", 0)
    monkeypatch.setattr(connection, "close", lambda: None)
    monkeypatch.setattr(hang_detection, "outage", Outage("PostgreSQL"))
    monkeypatch.setattr(
        tasks, "_visit", lambda claim, _: tasks._finish_with(claim, make_result(Scan.objects.get(id=claim.scan_id)))
    )


def fail_first_calls(count: int, real: Callable[..., Any], error: Exception | None = None) -> Callable[..., Any]:
    """Return a wrapper of `real` whose first calls fail.

    The first `count` calls raise an error.
    """
    failures_left = [count]

    def call(*args: Any, **options: Any) -> Any:
        if failures_left[0]:
            failures_left[0] -= 1
            raise error or OperationalError("the server does not answer")
        return real(*args, **options)

    return call


def status_of(scan: Scan) -> str:
    scan.refresh_from_db()
    return str(scan.status)


def test_result_is_stored_after_an_outage(
    home: Member, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    scan = make_scan(home)
    monkeypatch.setattr(claims, "finish_scan", fail_first_calls(40, claims.finish_scan))
    run_scan(scan.id)
    assert status_of(scan) == "completed"
    assert caplog.text.count("PostgreSQL does not answer") == 1
    assert "Traceback" not in caplog.text


def test_timeout_during_an_outage_is_retried(
    home: Member, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    scan = make_scan(home)
    monkeypatch.setattr(
        claims, "finish_scan", fail_first_calls(1, fail_first_calls(1, claims.finish_scan, SoftTimeLimitExceeded()))
    )
    run_scan(scan.id)
    assert status_of(scan) == "scanning"
    assert "Traceback" not in caplog.text


@pytest.mark.parametrize("step", ["claim_next", "wake_waiting_scans"])
def test_outage_around_a_visit_is_not_an_error(
    home: Member, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, step: str
) -> None:
    scan = make_scan(home)
    monkeypatch.setattr(claims, step, fail_first_calls(1, getattr(claims, step)))
    run_scan(scan.id)
    assert status_of(scan) == ("queued" if step == "claim_next" else "completed")
    assert "Traceback" not in caplog.text
