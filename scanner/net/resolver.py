"""From a name to its addresses, within a deadline."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Protocol

import dns.exception
import dns.resolver

from scanner.net.deadline import Deadline
from scanner.net.errors import NotReachable

HOSTS_FILE = Path("/etc/hosts")
LOOPBACK = ("127.0.0.1", "::1")
# Leaves time to connect, of the five seconds that a target has to be reached in.
MAX_LIFETIME_S = 3.0


def is_loopback_name(host: str) -> bool:
    """Whether a name means this machine by definition, and is never asked of DNS (RFC 6761, section 6.3)."""
    return host == "localhost" or host.endswith(".localhost")


class Resolver(Protocol):
    """What the network needs of a resolver; tests bring their own."""

    def resolve(self, host: str, deadline: Deadline) -> tuple[str, ...]:
        """Every address of a name, IPv4 first; raises NotReachable when it has none."""


def stub_resolver(name_servers: Sequence[str]) -> dns.resolver.Resolver:
    """One that asks these, or the system's where there are none. Raises NoResolverConfiguration."""
    if not name_servers:
        return dns.resolver.Resolver()
    found = dns.resolver.Resolver(configure=False)
    found.nameservers = list(name_servers)
    return found


class SystemResolver:
    """The hosts file and the name servers, the system's unless others are named, asked without search domains."""

    def __init__(self, name_servers: Sequence[str] = ()) -> None:
        self._name_servers = name_servers

    def resolve(self, host: str, deadline: Deadline) -> tuple[str, ...]:
        """Every address of a name, IPv4 first; raises NotReachable when there is none in time."""
        try:
            return (str(ip_address(host)),)
        except ValueError:
            pass
        if is_loopback_name(host):
            return LOOPBACK
        return _from_hosts_file(host) or _from_dns(host, deadline, self._name_servers)


def _from_hosts_file(host: str) -> tuple[str, ...]:
    try:
        lines = HOSTS_FILE.read_text(errors="replace").splitlines()
    except OSError:
        return ()
    found: list[str] = []
    for line in lines:
        address, *names = line.partition("#")[0].split() or [""]
        if host in (name.lower() for name in names):
            found.append(address.partition("%")[0])
    return _ipv4_first(found)


def _from_dns(host: str, deadline: Deadline, name_servers: Sequence[str]) -> tuple[str, ...]:
    try:
        resolver = stub_resolver(name_servers)
    except dns.resolver.NoResolverConfiguration:
        raise NotReachable("No name server is configured.") from None
    lifetime_s = min(MAX_LIFETIME_S, deadline.check())

    def ask(record: str) -> list[str]:
        answer = resolver.resolve(host, record, lifetime=lifetime_s, search=False, raise_on_no_answer=False)
        return [item.address for item in answer]

    # Side by side: a slow AAAA must not cost the time of a fast A as well.
    with concurrent.futures.ThreadPoolExecutor(2, "dns") as pool:
        questions = [pool.submit(ask, record) for record in ("A", "AAAA")]
    found: list[str] = []
    errors: list[Exception] = []
    for question in questions:
        try:
            found += question.result()
        except (dns.exception.DNSException, OSError) as error:
            errors.append(error)
    if any(isinstance(error, dns.exception.Timeout) for error in errors) and not found:
        raise NotReachable(f"The name servers did not answer for {host} in time.")
    if not found:
        raise NotReachable(f"{host} does not resolve to an address.")
    return _ipv4_first(found)


def _ipv4_first(found: list[str]) -> tuple[str, ...]:
    return tuple(sorted(dict.fromkeys(found), key=lambda address: ":" in address))
