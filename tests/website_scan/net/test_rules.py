"""Tests for the guard's rules about addresses.

See `rules.Rule`: an attack must fail with its rule and succeed without it.

Rules about requests and responses are in `test_rules_exchanges.py`. The details of each rule are tested beside its
module.
"""

from __future__ import annotations

import re
import socket
import sys
import threading
from collections.abc import Callable
from ipaddress import IPv6Address, IPv6Network, ip_address
from types import SimpleNamespace
from typing import Any
from unittest import mock

import dns.exception
import dns.rcode
import dns.resolver
import psutil
import pytest
from msgspec.structs import replace

from tests.targets.name_server import failing, name_server, records
from tests.targets.server import Answer, Request, Site
from tests.website_scan.net.loopback import NETWORKS
from tests.website_scan.net.rules import HUGE, Remove, Rule, done, exempting, guarding, replaced
from tests.website_scan.net.seams import PUBLIC, Wires
from website_scan.net import addresses, dialer, name_servers, resolver, targets
from website_scan.net.addresses import UNWRAPPERS, refusal
from website_scan.net.client import Network
from website_scan.net.deadline import Deadline
from website_scan.net.dialer import Dialer
from website_scan.net.http import redirects
from website_scan.net.policy import Policy
from website_scan.net.resolver import SystemResolver
from website_scan.net.targets import Target, parse_target

OTHER = "198.41.0.4"
MAIL_POLICY = Policy()

# Rules about IP addresses.


def remove_range(table: str, network: object) -> Remove:
    kept = tuple(row for row in getattr(addresses, table) if row[0] != network)
    return replaced(addresses, table, kept)


def public_address_attack(address: str) -> Callable[[], bool]:
    return lambda: refusal(ip_address(address)) is None


def embedded_address_attack(address: str) -> Callable[[], bool]:
    """Return an attack that the embedded-address rule prevents.

    No other rule prevents it.

    The rule for the address range is disabled.
    """

    def harm() -> bool:
        with mock.patch.multiple(addresses, IPV6_SPECIAL_NETWORKS=(), IPV6_GLOBAL_UNICAST=IPv6Network("::/0")):
            return refusal(ip_address(address)) is None

    return harm


def remove_unwrapping(form: str) -> Remove:
    return replaced(addresses, "UNWRAPPERS", {name: unwrap for name, unwrap in UNWRAPPERS.items() if name != form})


# Addresses in these ranges that no other rule refuses.
INSIDE = {"2001::/23": "2001:2::1", "2002::/16": "2002:5db8:d70e::1"}
NOT_GLOBAL = (
    "100::1",
    "100:0:0:1::1",
    "64:ff9b:1::1",
    "4000::1",
    "5f00::1",
    "fc00::1",
    "fe80::1",
    "fec0::1",
    "ff02::1",
)
CARRYING = {
    "mapped": "::ffff:10.0.0.1",
    "compatible": "::10.0.0.1",
    "translated": "::ffff:0:10.0.0.1",
    "NAT64": "64:ff9b::10.0.0.1",
    "6to4": "2002:a00:1::1",
    "Teredo": "2001:0:5db8:d70e::f5ff:fffe",
    "ISATAP": "2606:4700::5efe:10.0.0.1",
}
ADDRESSES = [
    *(
        Rule(
            f"range {network}",
            remove_range(table, network),
            public_address_attack(
                INSIDE.get(str(network), str(network[-2] if network.num_addresses > 1 else network[0]))
            ),
        )
        for table in ("IPV4_SPECIAL_NETWORKS", "IPV6_SPECIAL_NETWORKS")
        for network, _ in getattr(addresses, table)
    ),
    *(
        Rule(
            f"only 2000::/3 is global, {address}",
            replaced(addresses, "IPV6_GLOBAL_UNICAST", IPv6Network("::/0")),
            public_address_attack(address),
        )
        for address in NOT_GLOBAL
    ),
    *(
        Rule(f"unwrapping {form}", remove_unwrapping(form), embedded_address_attack(address))
        for form, address in CARRYING.items()
    ),
    Rule("no scope", replaced(IPv6Address, "scope_id", None), public_address_attack("2606:4700::1%eth0")),
]


# Rules about names and URLs.


def url_attack(url: str, policy: Policy | None = None) -> Callable[[], bool]:
    return lambda: done(lambda: parse_target(url, policy or Policy()))


def redirect_to_blocked_domain() -> bool:
    policy = Policy(blocked_domains=("evil.example.com",))
    with Site({"/": Answer.redirect("http://evil.example.com/")}) as site, Site({"*": Answer("x")}) as evil:
        wires = Wires({PUBLIC: site, OTHER: evil})
        with guarding({"www.example.com": (PUBLIC,), "evil.example.com": (OTHER,)}, wires, policy) as network:
            done(lambda: network.follow("http://www.example.com/"))
        return evil.connections > 0


def parse_without_policy(page: Target, location: str) -> Target:
    return replace(parse_target(location, Policy()), policy=page.policy)


def join_websocket_url() -> bool:
    return done(lambda: parse_target("http://example.com/", Policy()).join("ws://example.com/"))


URLS = [
    Rule("reserved suffixes", replaced(targets, "RESERVED_SUFFIXES", frozenset()), url_attack("http://router.local/")),
    Rule("single labels", replaced(targets, "_refuse_reserved_name", lambda *_: None), url_attack("http://intranet/")),
    Rule(
        "blocklist",
        replaced(targets, "_blocked_domains", lambda _: frozenset()),
        url_attack("http://www.evil.com/", Policy(blocked_domains=("evil.com",))),
    ),
    Rule("literals are judged", replaced(targets, "refusal", lambda *_: None), url_attack("http://0x7f.1/")),
    Rule("ports", replaced(targets, "_check_port", lambda *_, **__: None), url_attack("http://example.com:22/")),
    Rule(
        "credentials", replaced(targets, "_refuse_credentials", lambda _: None), url_attack("http://a:b@example.com/")
    ),
    Rule("controls", replaced(targets, "_CONTROL", re.compile(r"(?!)")), url_attack("http://exam\tple.com/")),
    Rule("prefix", replaced(targets, "_PREFIX", re.compile("")), url_attack("http:/\\example.com/")),
    Rule("schemes", replaced(targets, "SCHEMES", {"http", "https", "ws"}), join_websocket_url),
    Rule("host names", replaced(targets, "_check_host", lambda _: None), url_attack("http://exa;mple.com/")),
    Rule("length", replaced(targets, "MAX_LENGTH", HUGE), url_attack("http://example.com/" + "a" * 5000)),
    Rule(
        "encoded length",
        replaced(targets, "MAX_CANONICAL_LENGTH", HUGE),
        url_attack("http://example.com/" + "\u2603" * 2000),
    ),
    Rule(
        "redirects are judged",
        replaced(redirects, "_redirect_target", parse_without_policy),
        redirect_to_blocked_domain,
    ),
]


# Rules about name resolution and connections.


def judge_only_first_address(original: Any = Dialer._check_addresses) -> Any:
    def judge_first_address(self: Dialer, host: str, port: int, resolved_addresses: tuple[str, ...]) -> tuple[str, ...]:
        original(self, host, port, resolved_addresses[:1])
        return resolved_addresses

    return judge_first_address


def dial_name_with_private_address() -> bool:
    wires = Wires({})
    with guarding({"mixed.example.com": (PUBLIC, "10.0.0.1")}, wires) as network:
        done(lambda: network.connect("mixed.example.com", 80))
    return bool(wires.dialed)


def dial_rebound_address() -> bool:
    with Site({"*": Answer("x", headers=[("Connection", "close")])}) as site:
        wires = Wires({PUBLIC: site, OTHER: site})
        with guarding({"rebind.example.com": [(PUBLIC,), (OTHER,)]}, wires) as network:
            for _ in range(2):
                network.fetch("http://rebind.example.com/")
    return wires.dialed != [(PUBLIC, 80)] * 2


def resolve_without_cache(self: Dialer, host: str, port: int, deadline: Deadline) -> tuple[str, ...]:
    return self._check_addresses(host, port, self._resolver.resolve(host, deadline))


def dial_rebound_refused_name() -> bool:
    wires = Wires({})
    with guarding({"rebind.example.com": [("10.0.0.1",), (PUBLIC,)]}, wires) as network:
        for _ in range(2):
            done(lambda: network.connect("rebind.example.com", 80))
    return bool(wires.dialed)


def talk_to_unexpected_peer() -> bool:
    with Site({"*": Answer("x")}) as stray:

        def dial_unexpected_peer(address: str, port: int, timeout_s: float) -> socket.socket:
            return socket.create_connection((stray.address, stray.port), timeout_s)

        with guarding({"a.example.com": (PUBLIC,)}, dial_unexpected_peer) as network:
            done(lambda: network.fetch("http://a.example.com/"))
        return bool(stray.requests)


def talk_to_own_machine() -> bool:
    # A loopback address stands for the machine's public address.
    with Site({"*": Answer("x")}) as itself, mock.patch.object(addresses, "refusal", return_value=None):

        def local(address: str, port: int, timeout_s: float) -> socket.socket:
            return socket.create_connection((itself.address, itself.port), timeout_s)

        with guarding({"a.example.com": (itself.address,)}, local) as network:
            done(lambda: network.fetch("http://a.example.com/"))
        return bool(itself.requests)


def dial_own_address() -> bool:
    wires = Wires({})
    interfaces = {"eth0": [SimpleNamespace(address=PUBLIC)]}
    with (
        mock.patch.object(psutil, "net_if_addrs", return_value=interfaces),
        guarding({"me.example.com": (PUBLIC,)}, wires) as network,
    ):
        done(lambda: network.connect("me.example.com", 80))
    return bool(wires.dialed)


def dial_other_port() -> bool:
    wires = Wires({})
    policy = Policy(allowed_networks=NETWORKS)
    with guarding({"public.example.com": (PUBLIC,)}, wires, policy) as network:
        done(lambda: network.reach(parse_target("http://public.example.com:6379/", policy)))
    return bool(wires.dialed)


def query_dns_attack(host: str) -> Callable[[], bool]:
    def harm() -> bool:
        with pytest.MonkeyPatch.context() as inner, name_server(records(A=[PUBLIC]), inner) as asked:
            done(lambda: SystemResolver().resolve(host, Deadline(2.0)))
            return bool(asked)

    return harm


def query_search_domains() -> bool:
    with pytest.MonkeyPatch.context() as inner, name_server(failing(dns.rcode.NXDOMAIN), inner) as asked:
        done(lambda: SystemResolver().resolve("www.example.com", Deadline(2.0)))
        return any("search.invalid" in name for name in asked)


def enable_search_domains(patch: pytest.MonkeyPatch) -> None:
    original = dns.resolver.Resolver.resolve

    def resolve(self: Any, *args: Any, **options: Any) -> Any:
        return original(self, *args, **(options | {"search": True}))

    patch.setattr(dns.resolver.Resolver, "resolve", resolve)


def dial_many_addresses() -> bool:
    wires = Wires({})
    with guarding({"many.example.com": tuple(f"93.184.215.{number}" for number in range(50))}, wires) as network:
        done(lambda: network.connect("many.example.com", 80))
    return len(wires.dialed) > 10


def wait_long_for_name_servers() -> bool:
    lifetimes: list[float] = []

    def resolve(self: Any, *args: Any, lifetime: float, **options: Any) -> Any:
        lifetimes.append(lifetime)
        raise dns.exception.Timeout

    patched_resolve = mock.patch.object(dns.resolver.Resolver, "resolve", resolve)
    with pytest.MonkeyPatch.context() as inner, name_server(records(), inner), patched_resolve:
        done(lambda: SystemResolver().resolve("www.example.com", Deadline(1000)))
    return max(lifetimes) > 10


def contact_private_mail_server() -> bool:
    wires = Wires({})
    with Network(Policy(contacts_mail_servers=True), dialer=wires) as network:
        done(lambda: network.mail.open("mx.example.com", "10.1.2.3", 5.0))
    return wires.dialed == [("10.1.2.3", 25)]


def contact_mail_server_unasked() -> bool:
    wires = Wires({})
    with Network(MAIL_POLICY, dialer=wires) as network:
        done(lambda: network.mail.open("mx.example.com", PUBLIC, 5.0))
    return wires.dialed == [(PUBLIC, 25)]


def connect_after_close() -> bool:
    with Site({"*": Answer("x")}) as site, exempting() as network:
        network.close()
        return done(lambda: network.connect(site.address, site.port).close())


def wait_after_close() -> bool:
    asked, ended = threading.Event(), threading.Event()

    def silent(request: Request) -> None:
        asked.set()
        ended.wait(5)

    with Site({"*": silent}) as site, exempting() as network:
        thread = threading.Thread(target=done, args=(lambda: network.fetch(site.url),))
        thread.start()
        assert asked.wait(5)
        network.close()
        thread.join(1.5)
        is_waiting = thread.is_alive()
        ended.set()
        thread.join(5)
    return is_waiting


CONNECTIONS = [
    Rule(
        "every answer is judged",
        lambda patch: patch.setattr(Dialer, "_check_addresses", judge_only_first_address()),
        dial_name_with_private_address,
    ),
    Rule("the answer is pinned", replaced(Dialer, "addresses", resolve_without_cache), dial_rebound_address),
    Rule("a refusal is pinned", replaced(Dialer, "addresses", resolve_without_cache), dial_rebound_refused_name),
    Rule(
        "the peer is who was judged", replaced(Dialer, "_refuse_other_peer", lambda *_: None), talk_to_unexpected_peer
    ),
    Rule("the peer is another machine", replaced(Dialer, "_refuse_own_machine", lambda *_: None), talk_to_own_machine),
    Rule("own interfaces", replaced(addresses, "own_addresses", frozenset), dial_own_address),
    Rule("ports of names", replaced(Dialer, "_refuse_disallowed_port", lambda *_: None), dial_other_port),
    Rule(
        "localhost is not asked",
        replaced(resolver, "is_loopback_name", lambda _: False),
        query_dns_attack("a.localhost"),
    ),
    Rule("no search domains", enable_search_domains, query_search_domains),
    Rule("time to resolve", replaced(name_servers, "ADDRESS_QUERY_TIMEOUT_S", HUGE), wait_long_for_name_servers),
    Rule("addresses tried", replaced(dialer, "MAX_ADDRESSES_TRIED", HUGE), dial_many_addresses),
    Rule("mail servers are public", replaced(Dialer, "_check_addresses", lambda *_: ()), contact_private_mail_server),
    Rule(
        "mail servers need permission",
        replaced(sys.modules[__name__], "MAIL_POLICY", Policy(contacts_mail_servers=True)),
        contact_mail_server_unasked,
    ),
    Rule("nothing opens after close", replaced(Dialer, "refuse_when_closed", lambda _: None), connect_after_close),
    Rule("close wakes who waits", replaced(Dialer, "close", lambda _: None), wait_after_close),
]


@pytest.mark.parametrize("rule", [*ADDRESSES, *URLS, *CONNECTIONS], ids=lambda rule: rule.name)
def test_only_the_rule_prevents_an_address_attack(rule: Rule, monkeypatch: pytest.MonkeyPatch) -> None:
    rule.holds(monkeypatch)
