"""Limits apply to all threads together, and a refused request costs nothing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from website_scan.net.budget import MIB, Exchange, Limits, Meter, Meters
from website_scan.net.deadline import Deadline
from website_scan.net.errors import BudgetExceeded, TimedOut


def test_concurrent_requests_never_exceed_the_budget() -> None:
    meter = Meter(Limits(requests=100, requests_per_host=60))

    def ask(host: str) -> bool:
        try:
            meter.request(host)
        except BudgetExceeded:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        granted = list(pool.map(ask, ["a.example.com"] * 100 + ["b.example.com"] * 100))
    assert sum(granted[:100]) == 60
    assert sum(granted) == meter.requests == 100


def test_refused_request_names_the_exceeded_limit() -> None:
    meter = Meter(Limits(requests=2, requests_per_host=1))
    meter.request("a.example.com")
    with pytest.raises(BudgetExceeded, match=r"more than 1 requests to a\.example\.com\."):
        meter.request("a.example.com")
    meter.request("b.example.com")
    with pytest.raises(BudgetExceeded, match=r"more than 2 requests\."):
        meter.request("c.example.com")


def test_tunnels_and_exchanges_share_bytes_but_not_deadlines() -> None:
    meter = Meter(Limits(total_bytes=10))
    tunnel = Meters(Deadline(20), meter)
    exchange = Exchange(Deadline(20), Limits(), meter, "/", is_fresh=False)
    tunnel.received(4)
    exchange.received(6)
    assert meter.received_bytes == 10
    for guard in (tunnel, exchange):
        with pytest.raises(BudgetExceeded):
            guard.received(1)
    assert 19 < tunnel.timeout_s() <= 20
    with pytest.raises(TimeoutError):
        Meters(Deadline(0), meter).timeout_s()


def test_received_bytes_add_up_to_their_limit() -> None:
    meter = Meter(Limits(total_bytes=3 * MIB))
    meter.received(2 * MIB)
    meter.received(MIB)
    with pytest.raises(BudgetExceeded, match="more than 3 MiB"):
        meter.received(1)


def test_each_phase_of_an_exchange_has_a_time_limit_within_the_exchange() -> None:
    limits = Limits(connect_s=1, first_byte_s=10)
    exchange = Exchange(Deadline(20), limits, Meter(limits), "/", is_fresh=False)
    assert 19 < exchange.timeout_s() <= 20
    exchange.connecting()
    assert 0 < exchange.timeout_s() <= 1
    exchange.sending()
    assert 9 < exchange.timeout_s() <= 10
    exchange.reading_body()
    assert 19 < exchange.timeout_s() <= 20
    short = Exchange(Deadline(0.0), limits, Meter(limits), "/", is_fresh=False)
    for phase in (short.connecting, short.sending, short.reading_body):
        phase()
        with pytest.raises(TimeoutError):
            short.timeout_s()


def test_deadlines_only_get_shorter() -> None:
    deadline = Deadline(1)
    assert deadline.within(10).remaining_s() <= 1
    assert deadline.within(0.5).remaining_s() <= 0.5
    assert Deadline(-5).remaining_s() == 0
    with pytest.raises(TimedOut):
        Deadline(0).check()


def test_repetition_requires_budget_in_total_and_for_the_busiest_host() -> None:
    meter = Meter(Limits(requests=6, requests_per_host=4))
    for host in ("a.example.com", "a.example.com", "b.example.com"):
        meter.request(host)
    assert meter.has_room_again(times=1)  # six in all, four to the busiest host
    meter.request("b.example.com")
    assert not meter.has_room_again(times=1)
    assert meter.has_room_again(times=2)
    assert Meter(Limits(requests=1, requests_per_host=1)).has_room_again(times=1)  # no requests so far
    busy = Meter(Limits(requests=100, requests_per_host=4))
    for _ in range(3):
        busy.request("a.example.com")
    assert not busy.has_room_again(times=1)
    assert busy.has_room_again(times=3)


def test_exchange_counts_as_reusing_a_connection_until_it_opens_one() -> None:
    limits = Limits()
    exchange = Exchange(Deadline(20), limits, Meter(limits), "/path?query", is_fresh=True)
    assert (exchange.request_path, exchange.is_fresh, exchange.is_reused) == ("/path?query", True, True)
    assert (exchange.connect_s, exchange.sent_at, exchange.address) == (0.0, 0.0, "")
    exchange.connecting()
    assert not exchange.is_reused
    exchange.sending()
    assert exchange.sent_at > 0
