"""Addresses of hosts are looked up through the guard, many at once, in bounded time."""

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


def test_all_addresses_of_a_host_are_known_in_one_spelling() -> None:
    names = Names(
        {
            "a.example.com": ["93.184.216.34", "2606:2800:0220:0001::0001"],
            "b.example.com": ["::ffff:93.184.216.34"],
        }
    )
    found = look_up(targets("https://a.example.com/", "https://b.example.com/"), settings_policy(), names)
    assert found == [["2606:2800:220:1::1", "93.184.216.34"], ["93.184.216.34"]]


def test_ports_make_no_other_address_of_public_hosts_only(settings: Any) -> None:
    settings.SCAN_ALLOWED_NETWORKS = (ip_network("10.0.0.0/8"),)
    names = Names({"a.example.com": ["93.184.216.34"], "b.example.com": ["10.0.0.7"]})
    urls = [f"https://{host}.example.com{port}/" for host in "ab" for port in ("", ":8443")]
    found = look_up(targets(*urls), settings_policy(), names)
    assert found == [["93.184.216.34"], ["93.184.216.34"], ["10.0.0.7:443"], ["10.0.0.7:8443"]]


def test_what_does_not_resolve_or_may_not_be_scanned_has_no_address() -> None:
    names = Names({"a.example.com": [], "b.example.com": ["10.0.0.7"], "c.example.com": ["93.184.216.34"]})
    urls = [f"https://{host}.example.com/" for host in "abc"]
    assert look_up(targets(*urls), settings_policy(), names) == [[], [], ["93.184.216.34"]]


def test_a_literal_address_is_its_own() -> None:
    found = look_up(targets("https://93.184.216.34/", "https://[2606:2800:220:1::1]/"), settings_policy())
    assert found == [["93.184.216.34"], ["2606:2800:220:1::1"]]


def test_nothing_is_looked_up_without_targets() -> None:
    assert look_up([], settings_policy()) == []


class Slow:
    """Resolver that answers when its time is up, and counts how many wait at the same time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting = self.most = self.asked = 0

    def resolve(self, host: str, deadline: Deadline) -> tuple[str, ...]:
        with self._lock:
            self._waiting += 1
            self.asked += 1
            self.most = max(self.most, self._waiting)
        threading.Event().wait(deadline.remaining_s())  # the name server does not answer
        with self._lock:
            self._waiting -= 1
        deadline.check()
        raise AssertionError


def test_slow_name_servers_take_bounded_time_and_few_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "TIME_LIMIT_S", 0.3)
    slow = Slow()
    many = targets(*(f"https://site-{number}.example.com/" for number in range(100)))
    began = time.monotonic()
    found = look_up(many, replace(settings_policy()), slow)
    assert time.monotonic() - began < 5
    assert found == [None] * 100
    assert slow.most <= addresses.AT_ONCE
    assert slow.asked <= addresses.AT_ONCE
