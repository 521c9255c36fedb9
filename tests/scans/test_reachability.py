"""Tests that unresponsive hosts block few web threads.

They may block them only briefly.
"""

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

WAIT_TIMEOUT_S = 30


@pytest.fixture
def silent_url() -> Iterator[str]:
    """Return the URL of a port that never answers.

    It ignores each SYN, because its backlog is full.
    """
    with socket.create_server(("127.0.0.1", 0), backlog=0) as server:
        address = server.getsockname()
        pending_connections = [socket.socket() for _ in range(2)]
        for connection in pending_connections:
            connection.setblocking(False)
            connection.connect_ex(address)
        yield f"http://127.0.0.1:{address[1]}/"
        for connection in pending_connections:
            connection.close()


def parse_test_target(url: str) -> Target:
    return parse_target(url, Policy(allowed_networks=NETWORKS))


class BlockedTests:
    """Wraps `Network` so that tests wait for `may_end`.

    Each reachability test reports its start before it waits.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.started = threading.Semaphore(0)
        self.may_end = threading.Event()
        real_network = Network

        def network(*arguments: object, **options: object) -> object:
            self.started.release()
            assert self.may_end.wait(WAIT_TIMEOUT_S)
            return real_network(*arguments, **options)  # type: ignore[arg-type]

        monkeypatch.setattr(reachability, "Network", network)


@pytest.mark.django_db
def test_silent_host_is_not_tested_again_soon(silent_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reachability, "TEST_TIMEOUT_S", reachability.QUICK_FAILURE_S + 0.1)
    with pytest.raises(NotReachable) as first:
        reachability.refuse_unreachable(parse_test_target(silent_url), 1)
    monkeypatch.setattr(reachability, "Network", lambda *_, **__: pytest.fail("asked again"))
    with pytest.raises(NotReachable) as second:
        reachability.refuse_unreachable(parse_test_target(silent_url), 2)
    assert str(first.value) == str(second.value)


@pytest.mark.django_db
def test_refusing_host_is_tested_again() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/"
    with pytest.raises(NotReachable):
        reachability.refuse_unreachable(parse_test_target(url), 1)
    with socket.create_server(("127.0.0.1", int(url.rstrip("/").rpartition(":")[2]))):
        reachability.refuse_unreachable(parse_test_target(url), 1)


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_scan_is_accepted_without_a_test(
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
            pool.submit(reachability.refuse_unreachable, parse_test_target(silent_url), home.organization.id)
            for _ in range(reachability.MAX_CONCURRENT_TESTS)
        ]
        for _ in futures:
            assert blocked_tests.started.acquire(timeout=WAIT_TIMEOUT_S)
        accepted = stranger.api.post("/v1/scan", {"url": silent_url, "type": "seo"})
        # A running reachability test uses one of two slots in the free tier.
        refused = home.api.post("/v1/scan", {"url": silent_url, "type": "seo"})
        blocked_tests.may_end.set()
        for future in futures:
            assert isinstance(future.exception(WAIT_TIMEOUT_S), NotReachable)
    assert accepted.status_code == 201
    assert (refused.status_code, refused.json()["code"]) == (429, "CONCURRENT_LIMIT")
    assert reachability.running_tests(home.organization.id) == 0


@pytest.mark.django_db
def test_webhook_is_accepted_without_a_test(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy service may skip the reachability test.

    This is safe, because the network guard checks the receiver's address on every delivery.
    """
    monkeypatch.setattr("website_scan.net.client.Network.addresses", lambda *_: pytest.fail("looked"))
    with reachability.reserve_slot(1), reachability.reserve_slot(2):
        response = home.api.post("/api/webhooks", {"url": "https://hooks.example.com/", "events": ["scan.completed"]})
    assert response.status_code == 201
