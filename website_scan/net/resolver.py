"""Host name resolver with a deadline."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Protocol

from website_scan.net.addresses import LOOPBACK, is_loopback_name
from website_scan.net.deadline import Deadline
from website_scan.net.errors import NotReachable

HOSTS_FILE = Path("/etc/hosts")


class Resolver(Protocol):
    """Interface for host name resolvers.

    Tests provide another implementation.
    """

    def resolve(self, host: str, deadline: Deadline) -> tuple[str, ...]:
        """Return all addresses of a host name, IPv4 first.

        Raises NotReachable if there are none.
        """


class FixedResolver:
    """Resolver that knows the addresses of one host only."""

    def __init__(self, host: str, addresses: Sequence[str]) -> None:
        self._host = host
        self._addresses = tuple(addresses)

    def resolve(self, host: str, deadline: Deadline) -> tuple[str, ...]:  # noqa: ARG002 -- the interface's
        """Return the addresses of the host. Raises NotReachable for other hosts."""
        if host != self._host or not self._addresses:
            raise NotReachable(f"{host} does not resolve to an address here.")
        return self._addresses


class SystemResolver:
    """Create a resolver without search domains.

    It uses the hosts file, and the given name servers or else the system's.
    """

    def __init__(self, name_servers: Sequence[str] = ()) -> None:
        self._name_servers = name_servers

    def resolve(self, host: str, deadline: Deadline) -> tuple[str, ...]:
        """Return all addresses of a host name, IPv4 first.

        Raises NotReachable without an address or answer.
        """
        try:
            return (str(ip_address(host)),)
        except ValueError:
            pass
        if is_loopback_name(host):
            return tuple(map(str, LOOPBACK))
        if local := _look_up_hosts_file(host):
            return _sort_ipv4_first(local)
        # Importing dnspython takes 50 ms, and scans of this machine do not need it.
        from website_scan.net.name_servers import addresses

        return _sort_ipv4_first(addresses(host, deadline, self._name_servers))


def _look_up_hosts_file(host: str) -> list[str]:
    try:
        lines = HOSTS_FILE.read_text(errors="replace").splitlines()
    except OSError:
        return []
    host_addresses: list[str] = []
    for line in lines:
        address, *names = line.partition("#")[0].split() or [""]
        if host in (name.lower() for name in names):
            host_addresses.append(address.partition("%")[0])
    return host_addresses


def _sort_ipv4_first(addresses: list[str]) -> tuple[str, ...]:
    return tuple(sorted(dict.fromkeys(addresses), key=lambda address: ":" in address))
