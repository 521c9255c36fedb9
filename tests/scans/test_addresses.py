"""Resolution of host names for queued visits: through the network guard, many at once, in bounded time."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from ipaddress import ip_network
from typing import Any

import pytest

from scans import addresses
from scans.addresses import look_up
from scans.policy import settings_policy
from tests.sites.lists.running import Names
from website_scan.net.deadline import Deadline
from website_scan.net.targets import Target, parse_target


def targets(*urls: str) -> list[Target]:
    return [parse_target(url, settings_policy()) for url in urls]


def test_all_addresses_of_a_host_are_returned_in_canonical_form() -> None:
    names = Names(
        {
            "a.example.com": ["93.184.216.34", "2606:2800:0220:0001::0001"],
            "b.example.com": ["::ffff:93.184.216.34"],
        }
    )
    host_addresses = look_up(targets("https://a.example.com/", "https://b.example.com/"), settings_policy(), names)
    assert host_addresses == [["2606:2800:220:1::1", "93.184.216.34"], ["93.184.216.34"]]


def test_ports_distinguish_addresses_of_private_hosts_only(settings: Any) -> None:
    settings.SCAN_ALLOWED_NETWORKS = (ip_network("10.0.0.0/8"),)
    names = Names({"a.example.com": ["93.184.216.34"], "b.example.com": ["10.0.0.7"]})
    urls = [f"https://{host}.example.com{port}/" for host in "ab" for port in ("", ":8443")]
    host_addresses = look_up(targets(*urls), settings_policy(), names)
    assert host_addresses == [["93.184.216.34"], ["93.184.216.34"], ["10.0.0.7:443"], ["10.0.0.7:8443"]]


def test_unresolvable_and_forbidden_hosts_have_no_address() -> None:
    names = Names({"a.example.com": [], "b.example.com": ["10.0.0.7"], "c.example.com": ["93.184.216.34"]})
    urls = [f"https://{host}.example.com/" for host in "abc"]
    assert look_up(targets(*urls), settings_policy(), names) == [[], [], ["93.184.216.34"]]


def test_ip_address_as_host_is_its_own_address() -> None:
    host_addresses = look_up(targets("https://93.184.216.34/", "https://[2606:2800:220:1::1]/"), settings_policy())
    assert host_addresses == [["93.184.216.34"], ["2606:2800:220:1::1"]]


def test_lookup_without_targets_returns_nothing() -> None:
    assert look_up([], settings_policy()) == []


class SlowResolver:
    """Resolver that never finds an address before the deadline, and counts its calls and the concurrent calls."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting = self.max_waiting = self.calls = 0

    def resolve(self, host: str, deadline: Deadline) -> tuple[str, ...]:
        with self._lock:
            self._waiting += 1
            self.calls += 1
            self.max_waiting = max(self.max_waiting, self._waiting)
        threading.Event().wait(deadline.remaining_s())  # The name server does not respond.
        with self._lock:
            self._waiting -= 1
        deadline.check()
        raise AssertionError


def test_slow_name_servers_block_few_threads_for_a_bounded_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "TIME_LIMIT_S", 0.3)
    slow = SlowResolver()
    hundred_targets = targets(*(f"https://site-{number}.example.com/" for number in range(100)))
    start = time.monotonic()
    host_addresses = look_up(hundred_targets, replace(settings_policy()), slow)
    assert time.monotonic() - start < 5
    assert host_addresses == [None] * 100
    assert slow.max_waiting <= addresses.AT_ONCE
    assert slow.calls <= addresses.AT_ONCE
