"""Rules about what the guard sends and how much it reads, tested with and without each rule; see `rules.Rule`."""

from __future__ import annotations

import contextlib
import functools
import gzip
import socket
import ssl
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.request import getproxies

import pytest
import requests
import urllib3.connection
from requests.adapters import HTTPAdapter

from tests.targets.server import Answer, Certificate, Site
from tests.targets.server import Request as ReceivedRequest
from tests.website_scan.net.rules import HUGE, Rule, done, exempting, guarding, lifted, replaced
from tests.website_scan.net.seams import PUBLIC
from website_scan.net import client, deadline
from website_scan.net.budget import Exchange
from website_scan.net.deadline import Deadline
from website_scan.net.errors import BadResponse
from website_scan.net.http import connections, redirects
from website_scan.net.http.connections import GuardedAdapter, Trust, targeted
from website_scan.net.http.request import Request


def leaks_credentials() -> bool:
    with Site({"*": Answer("x")}) as other, Site({"/": Answer.redirect(other.url + "/")}) as site:
        with exempting() as network:
            network.follow(Request(site.url, headers={"Authorization": "Bearer x"}))
        return other.requests[0].header("Authorization") is not None


def leaks_cookies() -> bool:
    with Site({"*": Answer("x")}) as site:
        site.routes["/"] = Answer.redirect(site.url_as("localhost") + "/other", Set_Cookie="secret=1")
        with exempting() as network:
            network.follow(site.url)
        return site.requests[1].header("Cookie") is not None


def sharing_cookies(patch: pytest.MonkeyPatch) -> None:
    original = redirects.Trail.with_cookies

    def shared(self: redirects.Trail, hop: Request) -> Any:
        everything = {name: each for jar in self._cookies.values() for name, each in jar.items()}
        self._cookies[hop.target.host] = everything
        return original(self, hop)

    patch.setattr(redirects.Trail, "with_cookies", shared)


def goes_on_and_on() -> bool:
    with Site({"*": lambda request: Answer.redirect(request.path + "x")}) as site, exempting() as network:
        done(lambda: network.follow(site.url))
        return len(site.requests) > 3


def forgetting_places(patch: pytest.MonkeyPatch) -> None:
    original = redirects.Trail.with_cookies

    def forgetful(self: redirects.Trail, hop: Request) -> Any:
        self._seen.clear()
        return original(self, hop)

    patch.setattr(redirects.Trail, "with_cookies", forgetful)


def goes_round() -> bool:
    with Site({"*": Answer.redirect("/")}) as site, exempting() as network:
        done(lambda: network.follow(site.url))
        return len(site.requests) > 1


def through_a_proxy() -> bool:
    with Site({"*": Answer("x")}) as proxy, Site({"*": Answer("x")}) as site, exempting() as network:
        with pytest.MonkeyPatch.context() as inner:
            for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
                inner.setenv(name, proxy.url)
            inner.delenv("no_proxy", raising=False)
            inner.delenv("NO_PROXY", raising=False)
            with contextlib.suppress(AssertionError, AttributeError):  # the fake proxy's answers do not matter
                done(lambda: network.fetch(site.url))
        return bool(proxy.requests)


def asking_the_environment(self: GuardedAdapter, request: Any, **options: Any) -> requests.Response:
    return HTTPAdapter.send(self, request, proxies=getproxies(), **options)


def with_netrc(original: Any = targeted) -> Any:
    def prepared(request: Request, *args: Any) -> Any:
        made = original(request, *args)
        made.prepare_auth(requests.utils.get_netrc_auth(request.target.url))
        return made

    return prepared


@pytest.fixture(autouse=True)
def netrc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "netrc"
    path.write_text("machine 127.0.0.1 login secret password secret\n")
    monkeypatch.setenv("NETRC", str(path))


def sends_netrc() -> bool:
    with Site({"*": Answer("x")}) as site, exempting() as network:
        network.fetch(site.url)
        return site.requests[0].header("Authorization") is not None


def trusts(certificate: Certificate, host: str = "127.0.0.1") -> Callable[[], bool]:
    def harm() -> bool:
        with Site({"*": Answer("x")}, certificate=certificate) as site, exempting(site) as network:
            return done(lambda: network.fetch(site.url_as(host)))

    return harm


def without_names(ca_bundle: Any, trust: Trust) -> ssl.SSLContext:
    made: ssl.SSLContext = connections.tls_context.__wrapped__(ca_bundle, trust)
    made.check_hostname = False
    return made


def without_any_names(patch: pytest.MonkeyPatch) -> None:
    """Both OpenSSL and urllib3 check the name of the certificate."""
    patch.setattr(client, "tls_context", without_names)
    patch.setattr(urllib3.connection, "_match_hostname", lambda *_: None)


def over(*hosts: str) -> Callable[[], bool]:
    """Return an attack that succeeds if requests are sent to all these hosts."""

    def harm() -> bool:
        with Site({"*": Answer("x")}) as site, exempting() as network:
            for host in hosts:
                done(functools.partial(network.fetch, site.url_as(host)))
            return len(site.requests) == len(hosts)

    return harm


def hands_out_more_time() -> bool:
    given: list[float] = []

    def dial(address: str, port: int, timeout_s: float) -> socket.socket:
        given.append(timeout_s)
        raise TimeoutError

    with guarding({"slow.example.com": (PUBLIC,)}, dial) as network:
        done(lambda: network.fetch("http://slow.example.com/"))
    return max(given) > 10


def waits_for_the_first_byte() -> bool:
    with Site({"*": Answer("x", delay_s=0.8)}) as site, exempting(first_byte_s=0.2) as network:
        return done(lambda: network.fetch(site.url))


def only_the_total(self: Exchange) -> None:
    self.sent_at = time.monotonic()
    self._phase = self.deadline


def waits_for_a_drip() -> bool:
    def drip(request: ReceivedRequest) -> None:
        # The response is never silent for long, and does not end in time.
        request.connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n")
        for _ in range(40):
            if site.ended.wait(0.02):
                return
            request.connection.sendall(b"x")

    with Site({"*": drip}) as site, exempting() as network:
        return done(lambda: network.fetch(Request(site.url, timeout_s=0.2)))


def outlives_the_network() -> bool:
    with Site({"*": Answer("x", delay_s=0.8)}) as site, exempting(time_limit_s=0.2) as network:
        return done(lambda: network.fetch(site.url))


def reads(headers: Sequence[tuple[str, str]], body: bytes, over: int) -> Callable[[], bool]:
    """Return an attack that succeeds if more than `over` bytes of this response are read."""

    def harm() -> bool:
        with Site({"*": Answer(body, headers=headers)}) as site, exempting() as network:
            try:
                response = network.fetch(site.url)
            except BadResponse:
                return False
        return response.header_bytes + len(response.body) > over

    return harm


def takes_too_much() -> bool:
    with (
        Site(converse=lambda connection: connection.sendall(b"x" * 100_000)) as site,
        exempting() as network,
        network.connect(site.address, site.port) as connection,
    ):
        return done(lambda: list(iter(lambda: connection.recv(4096), b"")))


GZIP = [("Content-Encoding", "gzip")]
EXCHANGES = [
    Rule("credentials stay", replaced(redirects, "CREDENTIALS", frozenset()), leaks_credentials),
    Rule("cookies stay", sharing_cookies, leaks_cookies),
    Rule("redirects in a loop", forgetting_places, goes_round),
    Rule("number of redirects", lifted(redirects=20, requests=HUGE, requests_per_host=HUGE), goes_on_and_on),
    Rule("no proxies of the environment", replaced(GuardedAdapter, "send", asking_the_environment), through_a_proxy),
    Rule("no netrc", lambda patch: patch.setattr("website_scan.net.client.targeted", with_netrc()), sends_netrc),
    Rule(
        "certificates",
        replaced(client, "tls_context", lambda bundle, _: connections.tls_context(bundle, Trust.NONE)),
        trusts(Certificate.SELF_SIGNED),
    ),
    Rule("names of certificates", without_any_names, trusts(Certificate.WRONG_HOST)),
    Rule("requests", lifted(requests=HUGE), over("127.0.0.1", "127.0.0.1", "127.0.0.1", "localhost", "localhost")),
    Rule("requests to a host", lifted(requests_per_host=HUGE), over(*["127.0.0.1"] * 4)),
    Rule("time to connect", lifted(connect_s=HUGE, total_s=HUGE), hands_out_more_time),
    Rule("time to the first byte", replaced(Exchange, "sending", only_the_total), waits_for_the_first_byte),
    Rule("time before every read", replaced(deadline, "_shorter_timeout", lambda *_: 5.0), waits_for_a_drip),
    Rule("time of a scan", replaced(Deadline, "within", lambda _, seconds: Deadline(seconds)), outlives_the_network),
    Rule("header bytes", lifted(header_bytes=HUGE), reads([("X", "y" * 5000)], b"", 4000)),
    Rule("body bytes", lifted(body_bytes=HUGE), reads([], b"x" * 3900, 3500)),
    Rule("decoded bytes", lifted(decoded_bytes=HUGE), reads(GZIP, gzip.compress(b"x" * 100_000), 5000)),
    Rule("bytes of a scan", lifted(total_bytes=HUGE), takes_too_much),
]


@pytest.mark.parametrize("rule", EXCHANGES, ids=lambda rule: rule.name)
def test_rule_prevents_an_attack_that_succeeds_without_the_rule(rule: Rule, monkeypatch: pytest.MonkeyPatch) -> None:
    rule.holds(monkeypatch)
