"""Tests for the guard's rules about sent data and read limits.

See `rules.Rule`: an attack must fail with its rule and succeed without it.
"""

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
from website_scan.net.http.connections import GuardedAdapter, Trust, prepare_request
from website_scan.net.http.request import Request


def leak_credentials() -> bool:
    with Site({"*": Answer("x")}) as other, Site({"/": Answer.redirect(other.url + "/")}) as site:
        with exempting() as network:
            network.follow(Request(site.url, headers={"Authorization": "Bearer x"}))
        return other.requests[0].header("Authorization") is not None


def leak_cookies() -> bool:
    with Site({"*": Answer("x")}) as site:
        site.routes["/"] = Answer.redirect(site.url_as("localhost") + "/other", Set_Cookie="secret=1")
        with exempting() as network:
            network.follow(site.url)
        return site.requests[1].header("Cookie") is not None


def share_cookies_between_hosts(patch: pytest.MonkeyPatch) -> None:
    original = redirects.Trail.add_cookies

    def with_shared_cookies(self: redirects.Trail, hop: Request) -> Any:
        everything = {name: cookie for jar in self._cookies.values() for name, cookie in jar.items()}
        self._cookies[hop.target.host] = everything
        return original(self, hop)

    patch.setattr(redirects.Trail, "add_cookies", with_shared_cookies)


def follow_many_redirects() -> bool:
    with Site({"*": lambda request: Answer.redirect(request.path + "x")}) as site, exempting() as network:
        done(lambda: network.follow(site.url))
        return len(site.requests) > 3


def forget_visited_urls(patch: pytest.MonkeyPatch) -> None:
    original = redirects.Trail.add_cookies

    def forgetful(self: redirects.Trail, hop: Request) -> Any:
        self._seen.clear()
        return original(self, hop)

    patch.setattr(redirects.Trail, "add_cookies", forgetful)


def follow_redirect_loop() -> bool:
    with Site({"*": Answer.redirect("/")}) as site, exempting() as network:
        done(lambda: network.follow(site.url))
        return len(site.requests) > 1


def send_through_environment_proxy() -> bool:
    with Site({"*": Answer("x")}) as proxy, Site({"*": Answer("x")}) as site, exempting() as network:
        with pytest.MonkeyPatch.context() as inner:
            for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
                inner.setenv(name, proxy.url)
            inner.delenv("no_proxy", raising=False)
            inner.delenv("NO_PROXY", raising=False)
            with contextlib.suppress(AssertionError, AttributeError):  # The response of the fake proxy does not matter.
                done(lambda: network.fetch(site.url))
        return bool(proxy.requests)


def send_with_environment_proxies(self: GuardedAdapter, request: Any, **options: Any) -> requests.Response:
    return HTTPAdapter.send(self, request, proxies=getproxies(), **options)


def add_netrc_credentials(original: Any = prepare_request) -> Any:
    def prepare_with_netrc(request: Request, *args: Any) -> Any:
        made = original(request, *args)
        made.prepare_auth(requests.utils.get_netrc_auth(request.target.url))
        return made

    return prepare_with_netrc


@pytest.fixture(autouse=True)
def netrc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "netrc"
    path.write_text("machine 127.0.0.1 login secret password secret\n")
    monkeypatch.setenv("NETRC", str(path))


def send_netrc_credentials() -> bool:
    with Site({"*": Answer("x")}) as site, exempting() as network:
        network.fetch(site.url)
        return site.requests[0].header("Authorization") is not None


def trust_certificate_attack(certificate: Certificate, host: str = "127.0.0.1") -> Callable[[], bool]:
    def harm() -> bool:
        with Site({"*": Answer("x")}, certificate=certificate) as site, exempting(site) as network:
            return done(lambda: network.fetch(site.url_as(host)))

    return harm


def context_without_host_check(ca_bundle: Any, trust: Trust) -> ssl.SSLContext:
    made: ssl.SSLContext = connections.tls_context.__wrapped__(ca_bundle, trust)
    made.check_hostname = False
    return made


def disable_host_checks(patch: pytest.MonkeyPatch) -> None:
    """Disable the certificate name checks of OpenSSL and urllib3."""
    patch.setattr(client, "tls_context", context_without_host_check)
    patch.setattr(urllib3.connection, "_match_hostname", lambda *_: None)


def exceed_requests_attack(*hosts: str) -> Callable[[], bool]:
    """Return an attack that sends requests to all these hosts."""

    def harm() -> bool:
        with Site({"*": Answer("x")}) as site, exempting() as network:
            for host in hosts:
                done(functools.partial(network.fetch, site.url_as(host)))
            return len(site.requests) == len(hosts)

    return harm


def exceed_connect_timeout() -> bool:
    given: list[float] = []

    def dial(address: str, port: int, timeout_s: float) -> socket.socket:
        given.append(timeout_s)
        raise TimeoutError

    with guarding({"slow.example.com": (PUBLIC,)}, dial) as network:
        done(lambda: network.fetch("http://slow.example.com/"))
    return max(given) > 10


def exceed_first_byte_timeout() -> bool:
    with Site({"*": Answer("x", delay_s=0.8)}) as site, exempting(first_byte_s=0.2) as network:
        return done(lambda: network.fetch(site.url))


def apply_only_total_timeout(self: Exchange) -> None:
    self.sent_at = time.monotonic()
    self._phase = self.deadline


def wait_for_dripping_response() -> bool:
    def drip(request: ReceivedRequest) -> None:
        # The pauses of the response are short, but the response does not end in time.
        request.connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n")
        for _ in range(40):
            if site.ended.wait(0.02):
                return
            request.connection.sendall(b"x")

    with Site({"*": drip}) as site, exempting() as network:
        return done(lambda: network.fetch(Request(site.url, timeout_s=0.2)))


def exceed_network_time_limit() -> bool:
    with Site({"*": Answer("x", delay_s=0.8)}) as site, exempting(time_limit_s=0.2) as network:
        return done(lambda: network.fetch(site.url))


def exceed_bytes_attack(headers: Sequence[tuple[str, str]], body: bytes, limit: int) -> Callable[[], bool]:
    """Return an attack that reads more than `limit` bytes of a response."""

    def harm() -> bool:
        with Site({"*": Answer(body, headers=headers)}) as site, exempting() as network:
            try:
                response = network.fetch(site.url)
            except BadResponse:
                return False
        return response.header_bytes + len(response.body) > limit

    return harm


def read_too_many_bytes() -> bool:
    with (
        Site(converse=lambda connection: connection.sendall(b"x" * 100_000)) as site,
        exempting() as network,
        network.connect(site.address, site.port) as connection,
    ):
        return done(lambda: list(iter(lambda: connection.recv(4096), b"")))


GZIP = [("Content-Encoding", "gzip")]
EXCHANGES = [
    Rule("credentials stay", replaced(redirects, "CREDENTIALS", frozenset()), leak_credentials),
    Rule("cookies stay", share_cookies_between_hosts, leak_cookies),
    Rule("redirects in a loop", forget_visited_urls, follow_redirect_loop),
    Rule("number of redirects", lifted(redirects=20, requests=HUGE, requests_per_host=HUGE), follow_many_redirects),
    Rule(
        "no proxies of the environment",
        replaced(GuardedAdapter, "send", send_with_environment_proxies),
        send_through_environment_proxy,
    ),
    Rule(
        "no netrc",
        lambda patch: patch.setattr("website_scan.net.client.prepare_request", add_netrc_credentials()),
        send_netrc_credentials,
    ),
    Rule(
        "certificates",
        replaced(client, "tls_context", lambda bundle, _: connections.tls_context(bundle, Trust.NONE)),
        trust_certificate_attack(Certificate.SELF_SIGNED),
    ),
    Rule("names of certificates", disable_host_checks, trust_certificate_attack(Certificate.WRONG_HOST)),
    Rule(
        "requests",
        lifted(requests=HUGE),
        exceed_requests_attack("127.0.0.1", "127.0.0.1", "127.0.0.1", "localhost", "localhost"),
    ),
    Rule("requests to a host", lifted(requests_per_host=HUGE), exceed_requests_attack(*["127.0.0.1"] * 4)),
    Rule("time to connect", lifted(connect_s=HUGE, total_s=HUGE), exceed_connect_timeout),
    Rule(
        "time to the first byte",
        replaced(Exchange, "start_sending", apply_only_total_timeout),
        exceed_first_byte_timeout,
    ),
    Rule("time before every read", replaced(deadline, "_shorter_timeout", lambda *_: 5.0), wait_for_dripping_response),
    Rule(
        "time of a scan", replaced(Deadline, "within", lambda _, seconds: Deadline(seconds)), exceed_network_time_limit
    ),
    Rule("header bytes", lifted(header_bytes=HUGE), exceed_bytes_attack([("X", "y" * 5000)], b"", 4000)),
    Rule("body bytes", lifted(body_bytes=HUGE), exceed_bytes_attack([], b"x" * 3900, 3500)),
    Rule("decoded bytes", lifted(decoded_bytes=HUGE), exceed_bytes_attack(GZIP, gzip.compress(b"x" * 100_000), 5000)),
    Rule("bytes of a scan", lifted(total_bytes=HUGE), read_too_many_bytes),
]


@pytest.mark.parametrize("rule", EXCHANGES, ids=lambda rule: rule.name)
def test_only_the_rule_prevents_an_exchange_attack(rule: Rule, monkeypatch: pytest.MonkeyPatch) -> None:
    rule.holds(monkeypatch)
