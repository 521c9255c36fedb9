"""Tests for the retry schedule and the rule for disabling a webhook."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhooks.delivery.schedule import (
    MAX_RETRY_AFTER,
    ONCE,
    PAUSES,
    NextStep,
    Outcome,
    exceeds_failure_limits,
    next_step,
    parse_retry_after,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def middle(low: float, high: float) -> float:
    return (low + high) / 2


def next_step_after(attempt: int, status: int | None = 500, retry_after: str | None = None, **options: Any) -> NextStep:
    options = {"uniform": middle} | options
    return next_step(attempt=attempt, status=status, retry_after=retry_after, now=NOW, **options)


def test_pauses_match_the_schedule() -> None:
    moments = [next_step_after(attempt).retry_at for attempt in range(1, 8)]
    seconds = [(moment - NOW).total_seconds() for moment in moments if moment]
    assert seconds == [5, 300, 1800, 7200, 18000, 36000, 36000]
    assert next_step_after(8) == NextStep(Outcome.FAILED)


def test_pauses_have_jitter_of_20_percent() -> None:
    assert next_step_after(1, uniform=min).retry_at == NOW + timedelta(seconds=4)
    assert next_step_after(1, uniform=max).retry_at == NOW + timedelta(seconds=6)


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (200, Outcome.DELIVERED),
        (204, Outcome.DELIVERED),
        (299, Outcome.DELIVERED),
        (300, Outcome.RETRY),
        (302, Outcome.RETRY),
        (404, Outcome.RETRY),
        (410, Outcome.GONE),
        (500, Outcome.RETRY),
        (None, Outcome.RETRY),
    ],
)
def test_outcome_depends_on_response_status(status: int | None, expected: Outcome) -> None:
    assert next_step_after(1, status).outcome is expected


def test_delivery_without_pauses_is_tried_once() -> None:
    assert next_step_after(1, pauses=ONCE).outcome is Outcome.FAILED
    assert next_step_after(1, 200, pauses=ONCE).outcome is Outcome.DELIVERED
    assert next_step_after(1, 410, pauses=ONCE).outcome is Outcome.GONE


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, 0),
        ("", 0),
        ("0", 0),
        ("120", 120),
        (" 120 ", 120),
        ("-5", 0),
        ("1.5", 0),
        ("1e3", 0),
        ("٣", 0),
        ("9" * 5000, 86400),
        ("soon", 0),
        ("Thu, 01 Jan 2026 00:10:00 GMT", 600),
        ("Thu, 01 Jan 2026 00:10:00 -0000", 600),
        ("Thursday, 01-Jan-26 00:10:00 GMT", 600),
        ("Wed, 31 Dec 2025 23:00:00 GMT", 0),
        ("Thu, 99 Jan 2026 00:10:00 GMT", 0),
    ],
)
def test_Retry_After_accepts_a_date(value: str | None, seconds: int) -> None:
    assert parse_retry_after(value, NOW).total_seconds() == seconds


def test_Retry_After_extends_the_pause() -> None:
    assert next_step_after(1, 503, "3600").retry_at == NOW + timedelta(hours=1)
    assert next_step_after(4, 503, "60").retry_at == NOW + PAUSES[3]
    assert next_step_after(1, 503, "999999999").retry_at == NOW + MAX_RETRY_AFTER
    assert next_step_after(1, 503, "Fri, 31 Dec 9999 23:59:59 GMT").retry_at == NOW + MAX_RETRY_AFTER
    assert next_step_after(8, 503, "60").outcome is Outcome.FAILED


@given(st.text() | st.from_regex(r"\w{3}, \d+ \w{3} \d+ \d+:\d+:\d+ [-+\w]+"), st.integers(1, 7))
def test_any_Retry_After_stays_within_the_limits(value: str, attempt: int) -> None:
    retry_at = next_step_after(attempt, 503, value).retry_at
    assert retry_at is not None
    assert PAUSES[attempt - 1] <= retry_at - NOW <= MAX_RETRY_AFTER


@pytest.mark.parametrize(
    ("days", "failures", "expected"),
    [(5, 8, True), (30, 100, True), (4.99, 1000, False), (5, 7, False), (30, 2, False)],
)
def test_enough_failures_disable_a_webhook(days: float, failures: int, expected: bool) -> None:
    since = NOW - timedelta(days=days)
    assert exceeds_failure_limits(failing_since=since, failures=failures, now=NOW) is expected
