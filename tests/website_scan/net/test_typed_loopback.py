"""Test that a typed loopback URL opens only its own port.

It also opens loopback names.
"""

from __future__ import annotations

from ipaddress import ip_network
from typing import Any

import pytest

from tests.targets.server import Answer, Site
from tests.website_scan.net.seams import PUBLIC, Names, Wires
from website_scan.net.client import Network
from website_scan.net.errors import Blocked
from website_scan.net.policy import Policy
from website_scan.net.targets import InvalidUrl, parse_target

HELLO = {"/": Answer("hello", headers={"Content-Type": "text/plain"})}
IPV4, IPV6 = ip_network("127.0.0.1/32"), ip_network("::1/128")


def policy(port: int = 3000, **rules: Any) -> Policy:
    return Policy(typed_loopback=((IPV4, port), (IPV6, port)), **rules)


def refusal_class(url: str, rules: Policy) -> type[Exception] | None:
    try:
        parse_target(url, rules)
    except (Blocked, InvalidUrl) as error:
        return type(error)
    return None


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST.", "app.localhost", "127.0.0.1", "127.1", "0x7f000001", "[::1]"]
)
def test_any_spelling_of_typed_loopback_is_accepted(host: str) -> None:
    assert refusal_class(f"http://{host}:3000/", policy()) is None
    for port in (80, 3001, 8080, 22):
        assert refusal_class(f"http://{host}:{port}/", policy()) is Blocked


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.2", "0.0.0.0", "[::]", "[::ffff:127.0.0.1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "10.0.0.1"),
        *("169.254.169.254", "192.168.0.1", "[fd00::1]", "router.local", "app.test", "intranet", "localhost.local"),
    ],
)
def test_other_addresses_are_refused(host: str) -> None:
    assert refusal_class(f"http://{host}:3000/", policy()) is Blocked


def test_public_hosts_cannot_use_the_typed_port() -> None:
    assert refusal_class("http://example.com:3000/", policy()) is InvalidUrl
    assert refusal_class(f"http://{PUBLIC}:3000/", policy()) is InvalidUrl


def test_denied_network_is_refused() -> None:
    assert refusal_class("http://127.0.0.1:3000/", policy(denied_networks=(ip_network("127.0.0.0/8"),))) is Blocked


def test_name_with_the_typed_address_is_refused() -> None:
    """The names use the server's own port, so only the guard can prevent DNS rebinding."""
    with Site(HELLO) as site:
        names = Names(
            {
                "evil.example.com": ("127.0.0.1",),
                "rebound.example.com": [(PUBLIC,), ("127.0.0.1",)],
                "mixed.example.com": (PUBLIC, "127.0.0.1"),
                "localhost": ("127.0.0.1", "::1"),
            }
        )
        rules = policy(site.port, allowed_ports=frozenset({80, site.port}))
        wires = Wires({})
        with Network(rules, resolver=names, dialer=wires) as network:
            for host in ("evil.example.com", "mixed.example.com"):
                with pytest.raises(Blocked):
                    network.fetch(f"http://{host}:{site.port}/")
            for _ in range(2):
                with pytest.raises(Exception, match=r"rebound\.example\.com"):
                    network.fetch(f"http://rebound.example.com:{site.port}/")
        assert {address for address, _ in wires.dialed} == {PUBLIC}
        with Network(rules, resolver=names) as network, pytest.raises(Blocked):
            network.connect("rebound.example.com", site.port)
        with Network(rules, resolver=names) as network:
            assert network.fetch(f"http://localhost:{site.port}/").body == b"hello"
        assert len(site.requests) == 1


@pytest.mark.parametrize(
    "location", ["http://127.0.0.1:{port}/", "http://localhost:{port}/", "http://127.0.0.2:{own}/"]
)
def test_redirect_away_from_typed_loopback_is_refused(location: str) -> None:
    with Site({"*": Answer("secret")}) as other, Site() as site:
        site.routes["*"] = Answer.redirect(location.format(port=other.port, own=site.port))
        with Network(policy(site.port)) as network, pytest.raises(Blocked):
            network.follow(f"{site.url}/")
        assert other.requests == []


def test_typed_IPv6_loopback_is_reached() -> None:
    with Site(HELLO, address="::1") as site:
        rules = Policy(typed_loopback=((IPV6, site.port),))
        with Network(rules) as network:
            assert network.fetch(f"http://[::1]:{site.port}/").body == b"hello"
            assert network.fetch(f"http://localhost:{site.port}/").body == b"hello"
            with pytest.raises(Blocked):
                network.fetch(f"http://127.0.0.1:{site.port}/")


def test_localhost_reaches_an_IPv6_server() -> None:
    """Node.js servers listen only on IPv6 by default."""
    with Site(HELLO, address="::1") as site, Network(policy(site.port)) as network:
        assert network.fetch(f"http://localhost:{site.port}/").body == b"hello"
