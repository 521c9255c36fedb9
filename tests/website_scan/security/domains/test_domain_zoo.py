"""Run the probes and checks of names on the domain zoo."""

from __future__ import annotations

import pickle
import socket
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from hashlib import sha256, sha512

import pytest
from msgspec import Struct
from msgspec.structs import replace

from tests.targets.domains.servers import Behaviour, Dns, NameServers, running_name_servers
from tests.targets.domains.table import DOMAINS, MODELS, PROVIDERS, WEB, WEB6, ZooDomain, all_zones
from tests.targets.server import Answer, Certificate, Site
from tests.website_scan.cast import outcome, target
from tests.website_scan.net.seams import Elsewhere
from tests.website_scan.security.cast import INTERMEDIATE, LEAF, peer, response
from website_scan.net import name_servers as name_server_queries
from website_scan.net.budget import Limits
from website_scan.net.client import Network
from website_scan.net.policy import Policy
from website_scan.net.tls.certificates import CertificateDigests
from website_scan.outcomes import Verdict
from website_scan.page.evidence import Clock, Page
from website_scan.security.checks import dns_security, names
from website_scan.security.probes.aliases import aliases
from website_scan.security.probes.ipv6 import ipv6_site
from website_scan.security.probes.name_servers import name_servers
from website_scan.security.probes.names import caa_records, dnssec_records, site_records, tlsa_records, unused_name

NOW = datetime.now(UTC)
MAX_QUERIES = 30
MAX_CPU_S = 0.05


def digests(name: str) -> CertificateDigests:
    return CertificateDigests(
        *(
            digest(f"{name} {part}".encode()).hexdigest()
            for part in ("certificate", "key")
            for digest in (sha256, sha512)
        )
    )


LEAF_DIGESTS, ISSUER_DIGESTS = digests("leaf"), digests("issuer")
PEER = peer(replace(LEAF, digests=LEAF_DIGESTS), replace(INTERMEDIATE, digests=ISSUER_DIGESTS))
VALUES = {
    "key": LEAF_DIGESTS.key_sha256,
    "certificate512": LEAF_DIGESTS.certificate_sha512,
    "issuer": ISSUER_DIGESTS.key_sha256,
    "other": "ab" * 32,
}
BODY = "<!doctype html><title>A shop</title><h1>Shop</h1>"


class Sites(Struct):
    """Dialer for web servers: the site answers at its addresses, and nobody elsewhere."""

    site: Site

    def __call__(self, address: str, port: int, timeout_s: float) -> socket.socket:
        if address not in (WEB, WEB6):
            raise ConnectionRefusedError
        connection = Elsewhere(socket.AF_INET, socket.SOCK_STREAM)
        connection.settimeout(timeout_s)
        connection.connect((self.site.address, self.site.port))
        connection.claimed = (address, port)
        return connection


def behaviours(world: Dns) -> dict[str, Behaviour]:
    """Return what each name server answers, by address."""
    zones = [origin.to_text() for origin in world.zones]
    good, lame = world.authoritative(*zones), world.authoritative("nothing.com.")
    special: dict[str, Behaviour] = {
        "lame.provider.net": lame,
        "silent.provider.net": lambda _query, _over_tcp: [],
        "open.provider.net": world.authoritative(*zones, transfers=True),
    }
    found = {
        address: special.get(name, good) for name, addresses in PROVIDERS.items() for address in addresses if address
    }
    found[PROVIDERS["broken6.provider.net"][1]] = special["silent.provider.net"]
    return found | {"2001:7fe::53": good}


@pytest.fixture(scope="module")
def zoo_servers() -> Iterator[NameServers]:
    monkeypatch = pytest.MonkeyPatch()
    # On a busy machine, the servers of the zoo may need longer than those of the internet.
    monkeypatch.setattr(name_server_queries, "RECORD_QUERY_TIMEOUT_S", 30.0)
    world = all_zones(NOW, VALUES)
    with (
        Site({"*": Answer(BODY)}, certificate=Certificate.VALID) as site,
        running_name_servers(world, behaviours(world), monkeypatch, Sites(site)) as servers,
    ):
        yield servers
    monkeypatch.undo()


def network(servers: NameServers) -> Network:
    policy = Policy(trust_anchors=servers.dns.trust_anchors)
    limits = Limits(connect_s=30.0)
    return Network(policy, dialer=servers.dial, datagrams=servers.dial_datagrams, limits=limits)


def page_of(domain: ZooDomain) -> Page:
    host = f"{domain.host}.{domain.name}".lstrip(".")
    address = target(f"https://{host}/")
    body = f"{BODY}<a href='https://shop.{domain.name}/'>Shop</a>".encode()
    html = ("Content-Type", "text/html; charset=utf-8")
    return Page(address, address, (response(address.url, html, body=body),))


def verdicts(domain: ZooDomain, net: Network) -> dict[str, Verdict]:
    """Run all probes and checks on a domain of the zoo."""
    page, clock = page_of(domain), Clock(NOW)
    servers = name_servers(page.target, net)
    unused = unused_name(page.target, net, clock)
    records = site_records(page, net, clock)
    dnssec = dnssec_records(page.target, unused, net, clock)
    return {
        "ipv6": names.ipv6(records, ipv6_site(page, records, net)),
        "name-server-ipv6": names.name_server_ipv6(servers),
        "name-servers": names.name_servers(servers),
        "lame-delegation": names.lame_delegation(servers),
        "zone-transfer": names.zone_transfer(servers),
        "dnssec": dns_security.dnssec(dnssec, clock),
        "dnssec-algorithms": dns_security.dnssec_algorithms(dnssec),
        "dnssec-nsec3": dns_security.dnssec_nsec3(dnssec),
        "caa": dns_security.caa(caa_records(page.target, net)),
        "https-record": names.https_record(records, PEER),
        "dane": dns_security.dane(tlsa_records(page, dnssec, net, clock), PEER),
        "dangling-alias": names.dangling_alias(aliases(page, net, clock)),
        "wildcard-alias": names.wildcard_alias(unused),
    }


def outcomes(found: Mapping[str, Verdict]) -> dict[str, str]:
    return {name: outcome(finding) for name, finding in found.items()}


@pytest.mark.parametrize("domain", MODELS, ids=lambda domain: domain.name)
def test_documented_set_up_of_a_provider_raises_no_false_alarm(domain: ZooDomain, zoo_servers: NameServers) -> None:
    with network(zoo_servers) as net:
        assert outcomes(verdicts(domain, net)) == domain.outcomes, domain.because


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: domain.name)
def test_domain_has_the_outcomes_that_the_rfcs_demand(domain: ZooDomain, zoo_servers: NameServers) -> None:
    with network(zoo_servers) as net:
        assert outcomes(verdicts(domain, net)) == domain.outcomes, f"{domain.because} ({domain.rule})"
        assert net.dns.queries <= MAX_QUERIES


def test_domains_of_the_zoo_have_different_names() -> None:
    assert len(DOMAINS) >= 70
    assert len({domain.name for domain in DOMAINS}) == len(DOMAINS)


def test_nothing_is_asked_twice(zoo_servers: NameServers) -> None:
    zoo_servers.queries.clear()
    zoo_servers.asked.clear()
    with network(zoo_servers) as net:
        verdicts(DOMAINS[0], net)
        verdicts(DOMAINS[0], net)
    random = [query for query in zoo_servers.queries if len(query.split(".")[0]) == 16]
    assert len(random) == 2, "each scan chooses another random name"
    others = [query for query in zoo_servers.queries if query not in random]
    # The addresses to connect to are resolved apart, with the protection of a validating resolver.
    assert len(set(others)) == len(others)
    assert len(set(zoo_servers.asked)) == len(zoo_servers.asked)


def test_audit_can_store_the_evidence(zoo_servers: NameServers) -> None:
    """The visits of an audit share evidence of the domain, which is pickled."""
    page, clock = page_of(DOMAINS[0]), Clock(NOW)
    with network(zoo_servers) as net:
        unused = unused_name(page.target, net, clock)
        records = site_records(page, net, clock)
        dnssec = dnssec_records(page.target, unused, net, clock)
        gathered = (
            unused,
            records,
            dnssec,
            name_servers(page.target, net),
            ipv6_site(page, records, net),
            tlsa_records(page, dnssec, net, clock),
            aliases(page, net, clock),
        )
    for evidence in gathered:
        assert pickle.loads(pickle.dumps(evidence)) == evidence


def test_private_name_servers_get_no_packet(zoo_servers: NameServers) -> None:
    zoo_servers.asked.clear()
    for domain in DOMAINS:
        if domain.name in ("private-server.com", "cloud-server.com"):
            with network(zoo_servers) as net:
                verdicts(domain, net)
    assert not {address for address, _ in zoo_servers.asked} & {"10.11.12.13", "169.254.169.254"}


def test_domain_costs_little_processor_time_when_warm(zoo_servers: NameServers) -> None:
    with network(zoo_servers) as net:
        verdicts(DOMAINS[0], net)
    # The servers of the zoo run in other threads of this process, whose time does not count.
    times = []
    for _ in range(5):
        with network(zoo_servers) as net:
            begin = time.thread_time()
            verdicts(DOMAINS[0], net)
            times.append(time.thread_time() - begin)
    assert min(times) < MAX_CPU_S
