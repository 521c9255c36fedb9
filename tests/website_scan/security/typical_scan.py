"""Scan typical sites on loopback.

Public host name, DNS and ports 80 and 443 are simulated.

`python -m tests.website_scan.security.typical_scan` prints the table for docs/scoring.md.
"""

from __future__ import annotations

import contextlib
import socket
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.targets.server import Certificate, Site
from tests.targets.typical import SITES, TypicalSite
from tests.website_scan.cast import target
from tests.website_scan.net.seams import PUBLIC, Names, UnsignedLookup, Wires
from website_scan.findings import ScanType, Severity
from website_scan.net.client import Network
from website_scan.net.deadline import Deadline
from website_scan.net.dns_records import DnsAnswer
from website_scan.net.policy import Policy
from website_scan.result import Budget, ScanResult
from website_scan.run import scan

MAIL_PROVIDER = "mail.example.net"


@dataclass(frozen=True)
class Records(UnsignedLookup):
    """Fake DNS in which names other than MAIL_PROVIDER have these records.

    The SPF records of other names include that of MAIL_PROVIDER. Answers are authenticated if there is a DS record.
    """

    records_by_type: Mapping[str, Sequence[str]]

    def lookup(self, name: str, record_type: str, deadline: Deadline) -> DnsAnswer:
        if name == MAIL_PROVIDER:
            return DnsAnswer(("v=spf1 ip4:192.0.2.0/24 -all",))
        return DnsAnswer(
            tuple(self.records_by_type.get(record_type, ())), is_authenticated="DS" in self.records_by_type
        )


def scan_typical_site(site: TypicalSite) -> ScanResult:
    """Return the result of a security scan of the site.

    The scan uses HTTPS, or plain HTTP if the site has no HTTPS.
    """
    with contextlib.ExitStack() as running:
        ports: dict[int, Site] = {}
        ca_file = None
        if site.is_https:
            secure = Site(site.routes(), certificate=Certificate.VALID, names=(site.host,), tune=site.tune)
            ports[443] = running.enter_context(secure)
            ca_file = secure.ca_file
        if site.plain is not None:
            ports[80] = running.enter_context(Site(site.plain_routes()))
        wires = {port: Wires({PUBLIC: server}) for port, server in ports.items()}

        def dial(address: str, port: int, timeout_s: float) -> socket.socket:
            if port not in wires:
                raise ConnectionRefusedError
            return wires[port](address, port, timeout_s)

        network = running.enter_context(
            Network(
                Policy(ca_bundle=ca_file),
                resolver=Names({site.host: (PUBLIC,)}),
                lookup=Records(site.dns),
                dialer=dial,
            )
        )
        scheme = "https" if site.is_https else "http"
        return scan(target(f"{scheme}://{site.host}/"), [ScanType.SECURITY], network, Budget())[0]


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
