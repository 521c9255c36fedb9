"""Resolver: from a host name to its addresses, within a deadline."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Protocol

import dns.exception
import dns.resolver

from scanner.net.addresses import LOOPBACK, is_loopback_name
from scanner.net.deadline import Deadline
from scanner.net.errors import NotReachable

HOSTS_FILE = Path("/etc/hosts")
# Leaves time to connect, out of the five seconds within which a target must be reached.
MAX_LIFETIME_S = 3.0


class Resolver(Protocol):
    """Protocol of a resolver; tests provide their own."""

    def resolve(self, host: str, deadline: Deadline) -> tuple[str, ...]:
        """Return every address of a name, IPv4 first. Raises NotReachable if it has none."""


def stub_resolver(name_servers: Sequence[str]) -> dns.resolver.Resolver:
    """Return a resolver for these name servers, or the system's if none. Raises NoResolverConfiguration."""
    if not name_servers:
        return dns.resolver.Resolver()
    found = dns.resolver.Resolver(configure=False)
    found.nameservers = list(name_servers)
    return found


class SystemResolver:
    """Resolver with the hosts file and name servers (the given ones, or the system's), without search domains."""

    def __init__(self, name_servers: Sequence[str] = ()) -> None:
        self._name_servers = name_servers

    def resolve(self, host: str, deadline: Deadline) -> tuple[str, ...]:
        """Return every address of a name, IPv4 first. Raises NotReachable if there is none in time."""
        try:
            return (str(ip_address(host)),)
        except ValueError:
            pass
        if is_loopback_name(host):
            return tuple(map(str, LOOPBACK))
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

    # Concurrently: a slow AAAA query must not add to the time of a fast A query.
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
