"""Scan typical sites on loopback.

Public host name, DNS and ports 80 and 443 are simulated.

`python -m tests.website_scan.security.typical_scan` prints the table for docs/scoring.md.
"""

from __future__ import annotations

import contextlib
import socket
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence

import pytest
from msgspec import Struct

from tests.targets.domains.servers import running_name_servers
from tests.targets.domains.world import dns_with_domain, providers_of
from tests.targets.server import Certificate, Site
from tests.targets.typical import SITES, TypicalSite
from tests.website_scan.cast import target
from tests.website_scan.net.seams import PUBLIC, PUBLIC6, Names, Wires
from website_scan.findings import ScanType, Severity
from website_scan.net.client import Network
from website_scan.net.policy import Policy
from website_scan.result import Budget, ScanResult
from website_scan.run import scan
from website_scan.security_categories import Categories

MAIL_PROVIDER = "mail.example.net"


def records_of(site: TypicalSite) -> str:
    """Return the records of the site's domain, in the syntax of zone files. Careful sites have IPv6."""
    domain = f"{site.host.partition('.')[2]}."
    is_careful = "DS" in site.dns
    lines = [f"{site.host}. A {PUBLIC}", f"{domain} A {PUBLIC}"]
    lines += [f"{site.host}. AAAA {PUBLIC6}"] if is_careful else []
    for kind in ("MX", "CAA"):
        lines += [f"{domain} {kind} {value}" for value in site.dns.get(kind, ())]
    for text in site.dns.get("TXT", ()):
        lines.append(f'{"_dmarc." if text.startswith("v=DMARC") else ""}{domain} TXT "{text}"')
    return "".join(f"{line}\n" for line in lines)


class TypicalWorld(Struct, frozen=True):
    """Typical site that is running, with its servers by port.

    `open_network` returns a new network that reaches the site. `dialed` are the ports of all connections so far.
    """

    address: str
    servers: Mapping[int, Site]
    open_network: Callable[[], Network]
    dialed: Sequence[int]

    def scan(self, network: Network, categories: Categories | None = None) -> ScanResult:
        """Return the result of a security scan."""
        (result,) = scan(target(self.address), [ScanType.SECURITY], network, Budget(), categories=categories)
        return result

    @property
    def paths(self) -> set[str]:
        """Return the paths that were requested."""
        return {request.path for server in self.servers.values() for request in server.requests}


def scan_typical_site(site: TypicalSite) -> ScanResult:
    """Return the result of a security scan of the site."""
    with running_typical_site(site) as world, world.open_network() as network:
        return world.scan(network)


@contextlib.contextmanager
def running_typical_site(site: TypicalSite) -> Iterator[TypicalWorld]:
    """Run a site with its domain. It is reached by HTTPS, or by plain HTTP if it has no HTTPS."""
    with contextlib.ExitStack() as running:
        ports: dict[int, Site] = {}
        ca_file = None
        if site.is_https:
            secure = Site(site.routes(), certificate=Certificate.VALID, names=(site.host,), tune=site.tune)
            ports[443] = running.enter_context(secure)
            ca_file = secure.ca_file
        if site.plain is not None:
            ports[80] = running.enter_context(Site(site.plain_routes()))
        wires = {port: Wires({PUBLIC: server, PUBLIC6: server}) for port, server in ports.items()}

        dialed: list[int] = []

        def dial(address: str, port: int, timeout_s: float) -> socket.socket:
            dialed.append(port)
            if port not in wires:
                raise ConnectionRefusedError
            return wires[port](address, port, timeout_s)

        domain = site.host.partition(".")[2]
        dns = dns_with_domain(domain, records_of(site), is_signed="DS" in site.dns, mail_provider=MAIL_PROVIDER)
        monkeypatch = running.enter_context(pytest.MonkeyPatch.context())
        servers = running.enter_context(running_name_servers(dns, providers_of(dns), monkeypatch, dial))
        policy = Policy(ca_bundle=ca_file, trust_anchors=dns.trust_anchors)

        def open_network() -> Network:
            resolver = Names({site.host: (PUBLIC,)})
            return Network(policy, resolver=resolver, dialer=servers.dial, datagrams=servers.dial_datagrams)

        scheme = "https" if site.is_https else "http"
        yield TypicalWorld(f"{scheme}://{site.host}/", ports, open_network, dialed)


def row(site: TypicalSite, result: ScanResult) -> str:
    """Return the row of a site and its result in the table of docs/scoring.md."""
    assert result.status == "completed", [check.reason for check in result.skipped_checks]
    failed = [
        f"`{check.id}`" for check in result.checks if check.status == "fail" and check.severity is not Severity.LOW
    ]
    mdn = ", ".join(f"{reason} {points:+d}" for reason, points in site.mdn)
    ours = f"{result.score} {result.grade}"
    theirs = f"{site.mdn_score} {site.mdn_grade}"
    return f"| {site.name} | **{ours}** | **{theirs}** | {' '.join(failed) or 'nothing'} | {mdn} |"


if __name__ == "__main__":
    for site in SITES:
        sys.stdout.write(f"{row(site, scan_typical_site(site))}\n")
