"""The mail servers of the zoo on loopback, and the DNS that leads to them."""

from __future__ import annotations

import contextlib
import socket
import ssl
import warnings
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from msgspec import Struct, field

from tests.targets.domains.mail_server_table import CAPABILITIES, DOMAINS, MailDomain, Server
from tests.targets.domains.servers import Dns, zone_file
from tests.targets.domains.table import GOOD, PROVIDERS
from tests.targets.domains.zones import Nsec3Chain, Signing, make_zone
from tests.targets.mail_server import MailServer
from tests.website_scan.net.seams import Elsewhere
from tests.website_scan.net.tls_servers import Identity, self_signed
from website_scan.net.deadline import before_connect
from website_scan.net.tls.certificate_reader import read_certificate

DAY = timedelta(days=1)
NAMES = tuple(f"mx{number}.{domain.name}" for domain in DOMAINS for number in (1, 2))


class MailZoo(Struct):
    """Running mail servers by address. `dialed` are the addresses and ports of connections."""

    dns: Dns
    ca_file: Path
    servers: Mapping[str, MailServer]
    sites: Mapping[int, int] = field(default_factory=dict)
    dialed: list[tuple[str, int]] = field(default_factory=list)

    def dial(self, address: str, port: int, timeout_s: float) -> socket.socket:
        self.dialed.append((address, port))
        server = self.servers.get(address)
        destination = server.port if server is not None and port == 25 else self.sites.get(port)
        if destination is None:
            raise ConnectionRefusedError
        connection = Elsewhere(socket.AF_INET, socket.SOCK_STREAM)
        try:
            before_connect.get()(connection)
            connection.settimeout(timeout_s)
            connection.connect(("127.0.0.1", destination))
        except BaseException:
            connection.close()
            raise
        connection.claimed = (address, port)
        return connection


def addresses_of(domain: MailDomain, number: int) -> tuple[str, str]:
    """Return the IPv4 and IPv6 address of a domain's server."""
    place = 2 * DOMAINS.index(domain) + number
    return f"93.184.216.{place + 1}", f"2606:2800:21f:cb07::{place + 1:x}"


@contextlib.contextmanager
def running_mail_zoo(folder: Path, sites: Mapping[int, int]) -> Iterator[MailZoo]:
    """Run the mail servers of all domains. `sites` are ports on loopback by the port that they stand for."""
    authorities = _authorities()
    issuer, root = authorities["issuer"], authorities["root"]
    ca_file = folder / "root.pem"
    ca_file.write_bytes(root.pem)
    chains = _certificates(issuer, authorities["unknown"])
    with contextlib.ExitStack() as running:
        servers: dict[str, MailServer] = {}
        for domain in DOMAINS:
            for number, server in enumerate(domain.servers):
                if not server.is_silent:
                    context = _tls_context(folder, server, chains, issuer)
                    replies = {"EHLO": CAPABILITIES, "STARTTLS": "220 go ahead", **server.replies}
                    mail_server = running.enter_context(MailServer(replies, tls=context, pause_s=0.2))
                    servers |= dict.fromkeys(addresses_of(domain, number), mail_server)
        yield MailZoo(_zones(chains, issuer), ca_file, servers, sites)


def _authorities() -> dict[str, Identity]:
    root = Identity.root()
    return {"root": root, "issuer": root.issue_authority(), "unknown": Identity.root("Another Root")}


def _certificates(issuer: Identity, unknown: Identity) -> dict[str, Identity]:
    now = datetime.now(UTC)
    return {
        "valid": issuer.issue(*NAMES),
        "rsa": issuer.issue(*NAMES, rsa_bits=2048),
        "other": issuer.issue("mail.somebody-else.com"),
        "expired": issuer.issue(*NAMES, not_before=now - 90 * DAY, not_after=now - DAY),
        "weak": issuer.issue(*NAMES, rsa_bits=1024),
        "unknown": unknown.issue(*NAMES),
        "self-signed": self_signed("mx1.self-signed.com"),
    }


def _tls_context(
    folder: Path, server: Server, chains: Mapping[str, Identity], issuer: Identity
) -> ssl.SSLContext | None:
    if server.certificate is None:
        return None
    leaf = chains[server.certificate]
    bundle = folder / f"{server.certificate}.pem"
    bundle.write_bytes(b"".join([leaf.key_pem, leaf.pem, issuer.pem]))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_ciphers(server.ciphers or "ALL:@SECLEVEL=0")
    context.load_cert_chain(bundle)
    if server.max_version:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # Python warns of old TLS versions.
            context.minimum_version = ssl.TLSVersion.TLSv1
            context.maximum_version = ssl.TLSVersion[server.max_version]
    return context


def _zones(chains: Mapping[str, Identity], issuer: Identity) -> Dns:
    name_servers = [f"{server}." for server in GOOD]
    zones = []
    for domain in DOMAINS:
        text = _records(domain, chains[domain.servers[0].certificate or "valid"], issuer)
        zones.append(make_zone(f"{domain.name}.", zone_file(f"{domain.name}.", text, name_servers), domain.signing))
    for server in GOOD:
        zone, (ipv4, _) = f"{server.partition('.')[2]}.", PROVIDERS[server]
        zones.append(make_zone(zone, zone_file(zone, f"{server}. A {ipv4}\n", name_servers), None))
    suffixes = ("com", "net", "org")
    for suffix in suffixes:
        delegated = [zone.origin.to_text() for zone in zones if zone.origin.to_text().endswith(f".{suffix}.")]
        text = "".join(f"{name} NS {name_servers[0]}\n" for name in delegated)
        signing = Signing(chain=Nsec3Chain(opts_out=True))
        zones.append(make_zone(f"{suffix}.", zone_file(f"{suffix}.", text, name_servers), signing))
    root = "".join(f"{suffix}. NS {name_servers[0]}\n" for suffix in suffixes)
    return Dns([*zones, make_zone(".", zone_file(".", root, name_servers), Signing())])


def _records(domain: MailDomain, leaf: Identity, issuer: Identity) -> str:
    """Return the domain's records in the syntax of zone files."""
    name = f"{domain.name}."
    lines = [] if domain.mx == ";" else [f"{name} MX {domain.mx}"] if domain.mx else []
    for number in range(len(domain.servers)):
        host = f"mx{number + 1}.{name}"
        ipv4, ipv6 = addresses_of(domain, number)
        if not domain.mx:
            lines.append(f"{name} MX {10 * (number + 1)} {host}")
        lines += [f"{host} {line}" for line in domain.hosts.splitlines()]
        tlsa = domain.tlsa.split(";")[0] if number == 0 else "" if ";" in domain.tlsa else domain.tlsa
        lines += [f"_25._tcp.{host} {line}" for line in tlsa.splitlines()]
        if number == 0:
            lines += domain.records.splitlines()
        lines = [line.replace("{ipv4}", ipv4).replace("{ipv6}", ipv6).replace("{0}", name) for line in lines]
    text = "\n".join([f"{name} A 93.184.215.14", *lines, ""])
    for label, value in _digests(leaf, issuer).items():
        text = text.replace(f"{{{label}}}", value)
    return text


def _digests(leaf: Identity, issuer: Identity) -> dict[str, str]:
    digests, issuer_digests = read_certificate(leaf.der).digests, read_certificate(issuer.der).digests
    assert digests is not None
    assert issuer_digests is not None
    return {
        "key": digests.key_sha256,
        "certificate512": digests.certificate_sha512,
        "issuer": issuer_digests.key_sha256,
        "other": "ab" * 32,
    }
