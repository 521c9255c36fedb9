"""Tests for the rules of the browser's proxy.

See `rules.Rule`: an attack must fail with its rule and succeed without it.
"""

from __future__ import annotations

import contextlib
import hmac
import re
import socket
from collections.abc import Iterator
from ipaddress import ip_network
from typing import Any

import pytest

from tests.targets.server import Answer, Request, Site
from tests.website_scan.net.rules import HUGE, Remove, Rule, replaced
from tests.website_scan.net.seams import Names
from tests.website_scan.net.test_proxy import answer, ask, connect, tunnel
from website_scan.net import proxy as module
from website_scan.net.budget import ConnectionGuard, Limits, Meter
from website_scan.net.client import Network
from website_scan.net.deadline import Deadline, GuardedSocket
from website_scan.net.policy import Policy
from website_scan.net.proxy import BrowserProxy
from website_scan.net.targets import Target

POLICY = Policy(allowed_networks=(ip_network("127.0.0.1/32"),))
CARELESS = re.compile(r"http://(?:\S+@)?([^/@]+)(/.*)")
BROWSER: dict[str, Any] = {"limits": Limits(requests=3, header_bytes=2000, total_bytes=100_000), "sent_bytes": 2_000}


@contextlib.contextmanager
def proxied(time_limit_s: float = 60.0) -> Iterator[BrowserProxy]:
    with Network(POLICY, time_limit_s=time_limit_s) as network, BrowserProxy(network, **BROWSER) as proxy:
        yield proxy


def serve_client_without_password() -> bool:
    with Site({"/": Answer("Hello")}) as site, proxied() as proxy:
        answer(ask(proxy, f"GET {site.url}/ HTTP/1.1", known=False))
        return site.connections > 0


def reach_refused_address() -> bool:
    names = Names({"inside.example.com": ("127.0.0.2",)})
    with (
        Site({"/": Answer("Hello")}, address="127.0.0.2") as canary,
        Network(POLICY, resolver=names) as network,
        BrowserProxy(network) as proxy,
    ):
        answer(ask(proxy, f"GET http://inside.example.com:{canary.port}/ HTTP/1.1"))
        return canary.connections > 0


def tunnel_without_check(self: Network, target: Target, meter: Meter) -> GuardedSocket:
    plain = socket.create_connection(("127.0.0.2", target.port))
    guarded = GuardedSocket(fileno=plain.detach())
    guarded.guard = ConnectionGuard(Deadline(5), meter)
    return guarded


def accept_credentials_in_url() -> bool:
    with Site({"/": Answer("Hello")}) as site, proxied() as proxy:
        answer(ask(proxy, f"GET http://user:secret@127.0.0.1:{site.port}/ HTTP/1.1"))
        return site.connections > 0


def keep_connection_alive() -> bool:
    with Site({"/": Answer("Hello", headers={"Connection": "keep-alive"})}) as site, proxied() as proxy:
        return b"keep-alive" in answer(ask(proxy, f"GET {site.url}/ HTTP/1.1"))


def forward_status_407() -> bool:
    demand = Answer(status=407, headers={"Proxy-Authenticate": "Basic", "Connection": "close"})
    with Site({"/": demand}) as site, proxied() as proxy:
        return b" 407 " in answer(ask(proxy, f"GET {site.url}/ HTTP/1.1"))


def leak_proxy_password() -> bool:
    seen: list[Request] = []

    def record_request(request: Request) -> Answer:
        seen.append(request)
        return Answer("Hello", headers={"Connection": "close"})

    with Site({"/": record_request}) as site, proxied() as proxy:
        answer(ask(proxy, f"GET {site.url}/ HTTP/1.1"))
    return any(request.header("Proxy-Authorization") for request in seen)


def download_without_limit() -> bool:
    with Site({"/": Answer(b"x" * 300_000)}) as site, proxied() as proxy:
        return len(answer(ask(proxy, f"GET {site.url}/ HTTP/1.1"))) > 300_000


def upload_without_limit() -> bool:
    with Site({"/": Answer("Thanks")}) as site, proxied() as proxy:
        sent = ask(proxy, f"POST {site.url}/ HTTP/1.1", "Content-Length: 5000", body=b"x" * 5000)
        return answer(sent).endswith(b"Thanks")


def request_without_limit() -> bool:
    with Site({"/": Answer("Hello")}) as site, proxied() as proxy:
        answers = [answer(ask(proxy, f"GET {site.url}/ HTTP/1.1")) for _ in range(4)]
        return answers[-1].endswith(b"Hello")


def silent(connection: socket.socket) -> None:
    connection.recv(1)


def exceed_scan_time_limit() -> bool:
    with (
        Site(converse=silent) as site,
        proxied(time_limit_s=0.3) as proxy,
        tunnel(proxy, f"127.0.0.1:{site.port}") as connection,
    ):
        connection.settimeout(1.0)
        try:
            return connection.recv(1) != b""
        except TimeoutError:
            return True


def tunnel_without_deadline(self: Network, target: Target, meter: Meter) -> GuardedSocket:
    connection = self.connect(target.host, target.port)
    connection.guard = ConnectionGuard(Deadline(30), meter)
    return connection


def exceed_connection_limit() -> bool:
    with Site({"/": Answer("Hello")}) as site, proxied() as proxy, contextlib.ExitStack() as cleanup:
        for _ in range(2):
            cleanup.enter_context(tunnel(proxy, f"127.0.0.1:{site.port}"))
        extra_connection = cleanup.enter_context(connect(proxy))
        extra_connection.settimeout(0.3)
        try:
            return extra_connection.recv(1) != b""
        except TimeoutError:
            return True


def replace_limit(name: str, value: object) -> Remove:
    return lambda patch: patch.setitem(BROWSER, name, value)


RULES = [
    Rule("password", replaced(hmac, "compare_digest", lambda *_: True), serve_client_without_password),
    Rule("judged and pinned", replaced(Network, "tunnel", tunnel_without_check), reach_refused_address),
    Rule("no credentials in addresses", replaced(module, "_HTTP_URI", CARELESS), accept_credentials_in_url),
    Rule(
        "a connection once",
        replaced(module, "_remove_hop_by_hop_headers", lambda head: head + b"\r\n"),
        keep_connection_alive,
    ),
    Rule("no demand for a password", replaced(module, "_PROXY_AUTH_REQUIRED", 0), forward_status_407),
    Rule("the password stays", replaced(module, "_HOP_BY_HOP", frozenset()), leak_proxy_password),
    Rule("bytes from sites", replace_limit("limits", Limits()), download_without_limit),
    Rule("bytes to sites", replace_limit("sent_bytes", HUGE), upload_without_limit),
    Rule("connections", replace_limit("limits", Limits()), request_without_limit),
    Rule("the scan's time", replaced(Network, "tunnel", tunnel_without_deadline), exceed_scan_time_limit),
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_only_the_rule_prevents_a_proxy_attack(rule: Rule, monkeypatch: pytest.MonkeyPatch) -> None:
    rule.holds(monkeypatch)


def test_concurrent_proxy_connections_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    assert exceed_connection_limit(), "two connections are no crowd"
    monkeypatch.setattr(module, "MAX_CONNECTIONS", 2)
    assert not exceed_connection_limit()
