"""Resolver of host names to addresses, within a deadline."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Protocol

from website_scan.net.addresses import LOOPBACK, is_loopback_name
from website_scan.net.deadline import Deadline

HOSTS_FILE = Path("/etc/hosts")


class Resolver(Protocol):
    """Protocol of a resolver; tests provide their own."""

    def resolve(self, host: str, deadline: Deadline) -> tuple[str, ...]:
        """Return every address of a name, IPv4 first. Raises NotReachable if it has none."""


class SystemResolver:
    """Resolver that uses the hosts file and name servers (the given ones, or the system's), without search domains."""

    def __init__(self, name_servers: Sequence[str] = ()) -> None:
        self._name_servers = name_servers

    def resolve(self, host: str, deadline: Deadline) -> tuple[str, ...]:
        """Return every address of a name, IPv4 first. Raises NotReachable if there is none, or no answer in time."""
        try:
            return (str(ip_address(host)),)
        except ValueError:
            pass
        if is_loopback_name(host):
            return tuple(map(str, LOOPBACK))
        if local := _from_hosts_file(host):
            return _ipv4_first(local)
        from website_scan.net.name_servers import (
            addresses,  # loads dnspython (50 ms), which scans of this machine do not need
        )

        return _ipv4_first(addresses(host, deadline, self._name_servers))


def _from_hosts_file(host: str) -> list[str]:
    try:
        lines = HOSTS_FILE.read_text(errors="replace").splitlines()
    except OSError:
        return []
    addresses_of_host: list[str] = []
    for line in lines:
        address, *names = line.partition("#")[0].split() or [""]
        if host in (name.lower() for name in names):
            addresses_of_host.append(address.partition("%")[0])
    return addresses_of_host


def _ipv4_first(addresses: list[str]) -> tuple[str, ...]:
    return tuple(sorted(dict.fromkeys(addresses), key=lambda address: ":" in address))
