"""Rules of the browser's proxy, tested with and without each rule; see `rules.Rule`."""

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
from website_scan.net.budget import Limits, Meter, Meters
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


def serves_strangers() -> bool:
    with Site({"/": Answer("Hello")}) as site, proxied() as proxy:
        answer(ask(proxy, f"GET {site.url}/ HTTP/1.1", known=False))
        return site.connections > 0


def reaches_what_is_refused() -> bool:
    names = Names({"inside.example.com": ("127.0.0.2",)})
    with (
        Site({"/": Answer("Hello")}, address="127.0.0.2") as canary,
        Network(POLICY, resolver=names) as network,
        BrowserProxy(network) as proxy,
    ):
        answer(ask(proxy, f"GET http://inside.example.com:{canary.port}/ HTTP/1.1"))
        return canary.connections > 0


def without_judge(self: Network, target: Target, meter: Meter) -> GuardedSocket:
    plain = socket.create_connection(("127.0.0.2", target.port))
    guarded = GuardedSocket(fileno=plain.detach())
    guarded.guard = Meters(Deadline(5), meter)
    return guarded


def takes_credentials() -> bool:
    with Site({"/": Answer("Hello")}) as site, proxied() as proxy:
        answer(ask(proxy, f"GET http://user:secret@127.0.0.1:{site.port}/ HTTP/1.1"))
        return site.connections > 0


def keeps_connections() -> bool:
    with Site({"/": Answer("Hello", headers={"Connection": "keep-alive"})}) as site, proxied() as proxy:
        return b"keep-alive" in answer(ask(proxy, f"GET {site.url}/ HTTP/1.1"))


def passes_on_a_demand() -> bool:
    demand = Answer(status=407, headers={"Proxy-Authenticate": "Basic", "Connection": "close"})
    with Site({"/": demand}) as site, proxied() as proxy:
        return b" 407 " in answer(ask(proxy, f"GET {site.url}/ HTTP/1.1"))


def tells_sites_its_password() -> bool:
    seen: list[Request] = []

    def look(request: Request) -> Answer:
        seen.append(request)
        return Answer("Hello", headers={"Connection": "close"})

    with Site({"/": look}) as site, proxied() as proxy:
        answer(ask(proxy, f"GET {site.url}/ HTTP/1.1"))
    return any(each.header("Proxy-Authorization") for each in seen)


def downloads_without_end() -> bool:
    with Site({"/": Answer(b"x" * 300_000)}) as site, proxied() as proxy:
        return len(answer(ask(proxy, f"GET {site.url}/ HTTP/1.1"))) > 300_000


def uploads_without_end() -> bool:
    with Site({"/": Answer("Thanks")}) as site, proxied() as proxy:
        sent = ask(proxy, f"POST {site.url}/ HTTP/1.1", "Content-Length: 5000", body=b"x" * 5000)
        return answer(sent).endswith(b"Thanks")


def connects_without_end() -> bool:
    with Site({"/": Answer("Hello")}) as site, proxied() as proxy:
        answers = [answer(ask(proxy, f"GET {site.url}/ HTTP/1.1")) for _ in range(4)]
        return answers[-1].endswith(b"Hello")


def silent(connection: socket.socket) -> None:
    connection.recv(1)


def outlives_the_scan() -> bool:
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


def without_deadline(self: Network, target: Target, meter: Meter) -> GuardedSocket:
    connection = self.connect(target.host, target.port)
    connection.guard = Meters(Deadline(30), meter)
    return connection


def crowds() -> bool:
    with Site({"/": Answer("Hello")}) as site, proxied() as proxy, contextlib.ExitStack() as cleanup:
        for _ in range(2):
            cleanup.enter_context(tunnel(proxy, f"127.0.0.1:{site.port}"))
        one_more = cleanup.enter_context(connect(proxy))
        one_more.settimeout(0.3)
        try:
            return one_more.recv(1) != b""
        except TimeoutError:
            return True


def budget(name: str, value: object) -> Remove:
    return lambda patch: patch.setitem(BROWSER, name, value)


RULES = [
    Rule("password", replaced(hmac, "compare_digest", lambda *_: True), serves_strangers),
    Rule("judged and pinned", replaced(Network, "tunnel", without_judge), reaches_what_is_refused),
    Rule("no credentials in addresses", replaced(module, "_PLAIN_URI", CARELESS), takes_credentials),
    Rule("a connection once", replaced(module, "_without_hop_by_hop", lambda head: head + b"\r\n"), keeps_connections),
    Rule("no demand for a password", replaced(module, "_PROXY_AUTH_REQUIRED", 0), passes_on_a_demand),
    Rule("the password stays", replaced(module, "_HOP_BY_HOP", frozenset()), tells_sites_its_password),
    Rule("bytes from sites", budget("limits", Limits()), downloads_without_end),
    Rule("bytes to sites", budget("sent_bytes", HUGE), uploads_without_end),
    Rule("connections", budget("limits", Limits()), connects_without_end),
    Rule("the scan's time", replaced(Network, "tunnel", without_deadline), outlives_the_scan),
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_proxy_rule_prevents_an_attack_that_succeeds_without_the_rule(
    rule: Rule, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule.holds(monkeypatch)


def test_concurrent_proxy_connections_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    assert crowds(), "two connections are no crowd"
    monkeypatch.setattr(module, "MAX_CONNECTIONS", 2)
    assert not crowds()
