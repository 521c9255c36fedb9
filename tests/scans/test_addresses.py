"""Tests for the DNS lookups of queued visits."""

from __future__ import annotations

import threading
import time
from ipaddress import ip_network
from typing import Any

import pytest
from msgspec.structs import replace

from scans import addresses
from scans.addresses import resolve_targets
from scans.policy import network_policy_from_settings
from tests.sites.lists.running import Names
from website_scan.net.deadline import Deadline
from website_scan.net.targets import Target, parse_target


def targets(*urls: str) -> list[Target]:
    return [parse_target(url, network_policy_from_settings()) for url in urls]


def test_addresses_are_returned_in_canonical_form() -> None:
    names = Names(
        {
            "a.example.com": ["93.184.216.34", "2606:2800:0220:0001::0001"],
            "b.example.com": ["::ffff:93.184.216.34"],
        }
    )
    host_addresses = resolve_targets(
        targets("https://a.example.com/", "https://b.example.com/"), network_policy_from_settings(), names
    )
    assert host_addresses == [["2606:2800:220:1::1", "93.184.216.34"], ["93.184.216.34"]]


def test_private_addresses_include_the_port(settings: Any) -> None:
    settings.SCAN_ALLOWED_NETWORKS = (ip_network("10.0.0.0/8"),)
    names = Names({"a.example.com": ["93.184.216.34"], "b.example.com": ["10.0.0.7"]})
    urls = [f"https://{host}.example.com{port}/" for host in "ab" for port in ("", ":8443")]
    host_addresses = resolve_targets(targets(*urls), network_policy_from_settings(), names)
    assert host_addresses == [["93.184.216.34"], ["93.184.216.34"], ["10.0.0.7:443"], ["10.0.0.7:8443"]]


def test_forbidden_hosts_have_no_address() -> None:
    names = Names({"a.example.com": [], "b.example.com": ["10.0.0.7"], "c.example.com": ["93.184.216.34"]})
    urls = [f"https://{host}.example.com/" for host in "abc"]
    assert resolve_targets(targets(*urls), network_policy_from_settings(), names) == [[], [], ["93.184.216.34"]]


def test_ip_address_is_returned_unchanged() -> None:
    host_addresses = resolve_targets(
        targets("https://93.184.216.34/", "https://[2606:2800:220:1::1]/"), network_policy_from_settings()
    )
    assert host_addresses == [["93.184.216.34"], ["2606:2800:220:1::1"]]


def test_lookup_without_targets_returns_nothing() -> None:
    assert resolve_targets([], network_policy_from_settings()) == []


class SlowResolver:
    """DNS resolver that never finds an address.

    It counts its calls and its concurrent calls.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting = self.max_waiting = self.calls = 0

    def resolve(self, host: str, deadline: Deadline) -> tuple[str, ...]:
        with self._lock:
            self._waiting += 1
            self.calls += 1
            self.max_waiting = max(self.max_waiting, self._waiting)
        threading.Event().wait(deadline.remaining_s())  # The real name server would not respond.
        with self._lock:
            self._waiting -= 1
        deadline.check()
        raise AssertionError


def test_slow_name_servers_block_few_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "LOOKUP_TIME_LIMIT_S", 0.3)
    slow = SlowResolver()
    hundred_targets = targets(*(f"https://site-{number}.example.com/" for number in range(100)))
    start = time.monotonic()
    host_addresses = resolve_targets(hundred_targets, replace(network_policy_from_settings()), slow)
    assert time.monotonic() - start < 5
    assert host_addresses == [None] * 100
    assert slow.max_waiting <= addresses.MAX_CONCURRENT_LOOKUPS
    assert slow.calls <= addresses.MAX_CONCURRENT_LOOKUPS
