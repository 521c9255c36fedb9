"""Test that all threads share the limits.

A refused request costs nothing.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from website_scan.net.budget import MIB, ConnectionGuard, Exchange, Limits, Meter
from website_scan.net.deadline import Deadline
from website_scan.net.errors import BudgetExceeded, TimedOut


def test_concurrent_requests_never_exceed_the_budget() -> None:
    meter = Meter(Limits(requests=100, requests_per_host=60))

    def spend_request(host: str) -> bool:
        try:
            meter.request(host)
        except BudgetExceeded:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        granted = list(pool.map(spend_request, ["a.example.com"] * 100 + ["b.example.com"] * 100))
    assert sum(granted[:100]) == 60
    assert sum(granted) == meter.requests == 100


def test_refusal_of_a_request_names_the_exceeded_limit() -> None:
    meter = Meter(Limits(requests=2, requests_per_host=1))
    meter.request("a.example.com")
    with pytest.raises(BudgetExceeded, match=r"more than 1 requests to a\.example\.com\."):
        meter.request("a.example.com")
    meter.request("b.example.com")
    with pytest.raises(BudgetExceeded, match=r"more than 2 requests\."):
        meter.request("c.example.com")


def test_tunnels_and_exchanges_share_byte_limits() -> None:
    meter = Meter(Limits(total_bytes=10))
    tunnel = ConnectionGuard(Deadline(20), meter)
    exchange = Exchange(Deadline(20), Limits(), meter, "/", needs_new_connection=False)
    tunnel.received(4)
    exchange.received(6)
    assert meter.received_bytes == 10
    for guard in (tunnel, exchange):
        with pytest.raises(BudgetExceeded):
            guard.received(1)
    assert 19 < tunnel.timeout_s() <= 20
    with pytest.raises(TimeoutError):
        ConnectionGuard(Deadline(0), meter).timeout_s()


def test_total_of_received_bytes_is_limited() -> None:
    meter = Meter(Limits(total_bytes=3 * MIB))
    meter.received(2 * MIB)
    meter.received(MIB)
    with pytest.raises(BudgetExceeded, match="more than 3 MiB"):
        meter.received(1)


def test_every_phase_has_a_time_limit() -> None:
    limits = Limits(connect_s=1, first_byte_s=10)
    exchange = Exchange(Deadline(20), limits, Meter(limits), "/", needs_new_connection=False)
    assert 19 < exchange.timeout_s() <= 20
    exchange.start_connecting()
    assert 0 < exchange.timeout_s() <= 1
    exchange.start_sending()
    assert 9 < exchange.timeout_s() <= 10
    exchange.start_reading_body()
    assert 19 < exchange.timeout_s() <= 20
    short = Exchange(Deadline(0.0), limits, Meter(limits), "/", needs_new_connection=False)
    for phase in (short.start_connecting, short.start_sending, short.start_reading_body):
        phase()
        with pytest.raises(TimeoutError):
            short.timeout_s()


def test_deadline_can_only_be_shortened() -> None:
    deadline = Deadline(1)
    assert deadline.within(10).remaining_s() <= 1
    assert deadline.within(0.5).remaining_s() <= 0.5
    assert Deadline(-5).remaining_s() == 0
    with pytest.raises(TimedOut):
        Deadline(0).check()


def test_repetition_needs_enough_budget() -> None:
    meter = Meter(Limits(requests=6, requests_per_host=4))
    for host in ("a.example.com", "a.example.com", "b.example.com"):
        meter.request(host)
    assert meter.allows_another_repetition(times=1)  # The limit is six requests in total, and four to the busiest host.
    meter.request("b.example.com")
    assert not meter.allows_another_repetition(times=1)
    assert meter.allows_another_repetition(times=2)
    # A repetition needs no budget if nothing was requested before.
    assert Meter(Limits(requests=1, requests_per_host=1)).allows_another_repetition(times=1)
    busy = Meter(Limits(requests=100, requests_per_host=4))
    for _ in range(3):
        busy.request("a.example.com")
    assert not busy.allows_another_repetition(times=1)
    assert busy.allows_another_repetition(times=3)


def test_connection_counts_as_reused_by_default() -> None:
    limits = Limits()
    exchange = Exchange(Deadline(20), limits, Meter(limits), "/path?query", needs_new_connection=True)
    assert (exchange.request_path, exchange.needs_new_connection, exchange.is_connection_reused) == (
        "/path?query",
        True,
        True,
    )
    assert (exchange.connect_s, exchange.sent_at, exchange.address) == (0.0, 0.0, "")
    exchange.start_connecting()
    assert not exchange.is_connection_reused
    exchange.start_sending()
    assert exchange.sent_at > 0
