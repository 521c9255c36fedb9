"""Reachability tests of hosts that drop packets: they block few threads of the web process, for a short time."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import pytest_django

from scans import reachability
from tests.factories import Member
from tests.website_scan.net.loopback import NETWORKS
from website_scan.net.client import Network
from website_scan.net.errors import NotReachable
from website_scan.net.policy import Policy
from website_scan.net.targets import Target, parse_target

LIMIT_S = 30


@pytest.fixture
def silent_url() -> Iterator[str]:
    """URL of a port that answers no SYN, because its backlog is full and no connection is accepted."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as server:
        address = server.getsockname()
        pending_connections = [socket.socket() for _ in range(2)]
        for connection in pending_connections:
            connection.setblocking(False)
            connection.connect_ex(address)
        yield f"http://127.0.0.1:{address[1]}/"
        for connection in pending_connections:
            connection.close()


def target_of(url: str) -> Target:
    return parse_target(url, Policy(allowed_networks=NETWORKS))


class BlockedTests:
    """Replacement of `Network` that records the start of each reachability test, and blocks until `may_end` is set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.started = threading.Semaphore(0)
        self.may_end = threading.Event()
        real_network = Network

        def network(*arguments: object, **options: object) -> object:
            self.started.release()
            assert self.may_end.wait(LIMIT_S)
            return real_network(*arguments, **options)  # type: ignore[arg-type]

        monkeypatch.setattr(reachability, "Network", network)


@pytest.mark.django_db
def test_silent_host_is_not_tested_again_within_seconds(silent_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reachability, "TIMEOUT_S", reachability.QUICK_FAILURE_S + 0.1)
    with pytest.raises(NotReachable) as first:
        reachability.refuse_unreachable(target_of(silent_url), 1)
    monkeypatch.setattr(reachability, "Network", lambda *_, **__: pytest.fail("asked again"))
    with pytest.raises(NotReachable) as second:
        reachability.refuse_unreachable(target_of(silent_url), 2)
    assert str(first.value) == str(second.value)


@pytest.mark.django_db
def test_host_that_refuses_quickly_is_tested_again() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/"
    with pytest.raises(NotReachable):
        reachability.refuse_unreachable(target_of(url), 1)
    with socket.create_server(("127.0.0.1", int(url.rstrip("/").rpartition(":")[2]))):
        reachability.refuse_unreachable(target_of(url), 1)


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_scan_is_accepted_without_a_test_if_too_many_tests_are_running(
    home: Member,
    stranger: Member,
    silent_url: str,
    monkeypatch: pytest.MonkeyPatch,
    settings: pytest_django.Settings,
) -> None:
    settings.SCAN_ALLOWED_NETWORKS = NETWORKS
    blocked_tests = BlockedTests(monkeypatch)
    with ThreadPoolExecutor(reachability.MAX_CONCURRENT_TESTS) as pool:
        futures = [
            pool.submit(reachability.refuse_unreachable, target_of(silent_url), home.organization.id)
            for _ in range(reachability.MAX_CONCURRENT_TESTS)
        ]
        for _ in futures:
            assert blocked_tests.started.acquire(timeout=LIMIT_S)
        accepted = stranger.api.post("/v1/scan", {"url": silent_url, "type": "seo"})
        # A running reachability test already takes a slot of the organization. The free tier has two slots.
        refused = home.api.post("/v1/scan", {"url": silent_url, "type": "seo"})
        blocked_tests.may_end.set()
        for future in futures:
            assert isinstance(future.exception(LIMIT_S), NotReachable)
    assert accepted.status_code == 201
    assert (refused.status_code, refused.json()["code"]) == (429, "CONCURRENT_LIMIT")
    assert reachability.running_tests(home.organization.id) == 0


@pytest.mark.django_db
def test_webhook_is_registered_without_a_test_if_too_many_tests_are_running(
    home: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The network guard checks the receiver's address again in each delivery."""
    monkeypatch.setattr("website_scan.net.client.Network.addresses", lambda *_: pytest.fail("looked"))
    with reachability.place(1), reachability.place(2):
        response = home.api.post("/api/webhooks", {"url": "https://hooks.example.com/", "events": ["scan.completed"]})
    assert response.status_code == 201
