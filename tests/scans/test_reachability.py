"""Reachability tests of hosts that drop packets: they block few threads of web, and only for a short time."""

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

PATIENCE_S = 30


@pytest.fixture
def silent() -> Iterator[str]:
    """URL of a port that answers no SYN: its backlog is full, and nothing accepts its connections."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as server:
        address = server.getsockname()
        waiting = [socket.socket() for _ in range(2)]
        for each in waiting:
            each.setblocking(False)
            each.connect_ex(address)
        yield f"http://127.0.0.1:{address[1]}/"
        for each in waiting:
            each.close()


def target_of(url: str) -> Target:
    return parse_target(url, Policy(allowed_networks=NETWORKS))


class Looks:
    """Network wrapper that records the start of each reachability test, and blocks until the test lets it end."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun = threading.Semaphore(0)
        self.may_end = threading.Event()
        real = Network

        def network(*arguments: object, **options: object) -> object:
            self.begun.release()
            assert self.may_end.wait(PATIENCE_S)
            return real(*arguments, **options)  # type: ignore[arg-type]

        monkeypatch.setattr(reachability, "Network", network)


@pytest.mark.django_db
def test_a_host_that_was_silent_is_not_asked_again_at_once(silent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reachability, "TIMEOUT_S", reachability.QUICK_FAILURE_S + 0.1)
    with pytest.raises(NotReachable) as first:
        reachability.refuse_unreachable(target_of(silent), 1)
    monkeypatch.setattr(reachability, "Network", lambda *_, **__: pytest.fail("asked again"))
    with pytest.raises(NotReachable) as second:
        reachability.refuse_unreachable(target_of(silent), 2)
    assert str(first.value) == str(second.value)


@pytest.mark.django_db
def test_a_host_that_refuses_at_once_is_asked_again_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/"
    with pytest.raises(NotReachable):
        reachability.refuse_unreachable(target_of(url), 1)
    with socket.create_server(("127.0.0.1", int(url.rstrip("/").rpartition(":")[2]))):
        reachability.refuse_unreachable(target_of(url), 1)


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_while_many_look_a_scan_is_accepted_without_a_look(
    home: Member,
    stranger: Member,
    silent: str,
    monkeypatch: pytest.MonkeyPatch,
    settings: pytest_django.Settings,
) -> None:
    settings.SCAN_ALLOWED_NETWORKS = NETWORKS
    looks = Looks(monkeypatch)
    with ThreadPoolExecutor(reachability.MAX_CONCURRENT_TESTS) as pool:
        looking = [
            pool.submit(reachability.refuse_unreachable, target_of(silent), home.organization.id)
            for _ in range(reachability.MAX_CONCURRENT_TESTS)
        ]
        for _ in looking:
            assert looks.begun.acquire(timeout=PATIENCE_S)
        accepted = stranger.api.post("/v1/scan", {"url": silent, "type": "seo"})
        # A running reachability test already takes a slot: the free plan has two.
        refused = home.api.post("/v1/scan", {"url": silent, "type": "seo"})
        looks.may_end.set()
        for each in looking:
            assert isinstance(each.exception(PATIENCE_S), NotReachable)
    assert accepted.status_code == 201
    assert (refused.status_code, refused.json()["code"]) == (429, "CONCURRENT_LIMIT")
    assert reachability.running_tests(home.organization.id) == 0


@pytest.mark.django_db
def test_while_many_look_a_webhook_is_registered_without_a_look(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each delivery attempt checks the receiver's address again."""
    monkeypatch.setattr("website_scan.net.client.Network.addresses", lambda *_: pytest.fail("looked"))
    with reachability.place(1), reachability.place(2):
        answer = home.api.post("/api/webhooks", {"url": "https://hooks.example.com/", "events": ["scan.completed"]})
    assert answer.status_code == 201
