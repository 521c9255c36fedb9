"""Fake resolvers and a fake dialer."""

from __future__ import annotations

import socket
from collections.abc import Mapping

from dns.message import Message

from tests.targets.server import Site
from website_scan.net.deadline import Deadline
from website_scan.net.dns_records import DnsAnswer
from website_scan.net.errors import NotReachable

PUBLIC = "93.184.215.14"
PUBLIC6 = "2606:2800:21f:cb07:6820:80da:af6b:8b2c"


class Names:
    """Fake resolver with fixed addresses.

    It returns the items of a list one by one and repeats the last one.
    """

    def __init__(self, answers: Mapping[str, tuple[str, ...] | list[tuple[str, ...]]]) -> None:
        self._answers = dict(answers)
        self.asked: list[str] = []

    def resolve(self, host: str, deadline: Deadline) -> tuple[str, ...]:
        self.asked.append(host)
        answers = self._answers.get(host)
        if answers is None:
            raise NotReachable(f"{host} does not resolve to an address.")
        if isinstance(answers, list):
            return tuple(answers.pop(0) if len(answers) > 1 else answers[0])
        return tuple(answers)


class UnsignedLookup:
    """Base class of fake look-ups that have no signatures."""

    def signed_response(self, name: str, record_type: str, deadline: Deadline) -> Message:
        raise NotReachable(f"The name servers have no signatures for {name}.")


class Records(UnsignedLookup):
    """Fake name servers that know some names and fail for one name."""

    def __init__(self, known: Mapping[str, str], silent: str = "", top_level: str = "") -> None:
        self._known = known
        self._silent = silent
        self._top_level = top_level

    def lookup(self, name: str, record_type: str, deadline: Deadline) -> DnsAnswer:
        if name == self._silent:
            raise NotReachable("The name servers could not tell.")
        if record_type == "NS" and name == self._top_level:
            return DnsAnswer(("a.gtld-servers.net.",))
        return DnsAnswer((self._known[name],) if name in self._known and record_type == "A" else ())


class Elsewhere(socket.socket):
    """Socket on loopback that reports a public peer address."""

    claimed: tuple[str, int]

    def getpeername(self) -> tuple[str, int]:
        return self.claimed


class Wires:
    """Fake dialer that connects public addresses to sites on loopback.

    It refuses other addresses.
    """

    def __init__(self, sites: Mapping[str, Site]) -> None:
        self._sites = dict(sites)
        self.dialed: list[tuple[str, int]] = []

    def __call__(self, address: str, port: int, timeout_s: float) -> socket.socket:
        self.dialed.append((address, port))
        site = self._sites.get(address)
        if site is None:
            raise ConnectionRefusedError
        connection = Elsewhere(socket.AF_INET, socket.SOCK_STREAM)
        connection.settimeout(timeout_s)
        connection.connect((site.address, site.port))
        connection.claimed = (address, port)
        return connection
