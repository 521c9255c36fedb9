"""Tests for the probes that request pages: over IPv6, and at hosting services."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import dns.name
import dns.rrset
import pytest

from tests.targets.domains.servers import NameServers, running_name_servers
from tests.targets.domains.world import dns_with_domain, providers_of
from tests.targets.server import Answer, Certificate, Site
from tests.website_scan.cast import outcome, target
from tests.website_scan.net.seams import PUBLIC, PUBLIC6, Wires
from tests.website_scan.security.cast import NOW, response
from website_scan.net.client import Network
from website_scan.net.errors import Blocked, NotReachable, TimedOut
from website_scan.net.policy import Policy
from website_scan.page.evidence import Clock, Page
from website_scan.security.checks import names
from website_scan.security.domain_evidence import Aliases, Ipv6Site
from website_scan.security.probes.aliases import aliases
from website_scan.security.probes.ipv6 import ipv6_site
from website_scan.security.probes.names import site_records

DOMAIN, HOST = "shop.com", "www.shop.com"
ROOT6 = "2001:7fe::53"
CLOCK = Clock(NOW)
BODY = "<!doctype html><title>Shop</title><h1>Shop</h1>"
RECORDS = f"{HOST}. A {PUBLIC}\n{HOST}. AAAA {PUBLIC6}\n{DOMAIN}. A {PUBLIC}\n"


@contextlib.contextmanager
def world(
    sites: dict[str, Site], records: str = RECORDS, *, has_ipv6: bool = True
) -> Iterator[tuple[Network, NameServers]]:
    """Run name servers for the domain, and sites at public addresses."""
    zones = dns_with_domain(DOMAIN, records, is_signed=False)
    behaviours = dict(providers_of(zones))
    if has_ipv6:
        behaviours[ROOT6] = zones.authoritative(".")
    with (
        pytest.MonkeyPatch.context() as monkeypatch,
        running_name_servers(zones, behaviours, monkeypatch, Wires(sites)) as servers,
        Network(
            Policy(trust_anchors=zones.trust_anchors), dialer=servers.dial, datagrams=servers.dial_datagrams
        ) as network,
    ):
        yield network, servers


def https_site(routes: dict[str, Answer]) -> Site:
    return Site(dict(routes), certificate=Certificate.VALID, names=(HOST,))


def page(body: str = BODY, url: str = f"https://{HOST}/") -> Page:
    address = target(url)
    html = ("Content-Type", "text/html; charset=utf-8")
    return Page(address, address, (response(address.url, html, body=body.encode()),))


def probe(network: Network, judged: Page) -> tuple[str, Ipv6Site]:
    records = site_records(judged, network, CLOCK)
    site = ipv6_site(judged, records, network)
    return outcome(names.ipv6(records, site)), site


def test_same_site_answers_over_ipv6() -> None:
    with https_site({"*": Answer(BODY)}) as site, world({PUBLIC: site, PUBLIC6: site}) as (network, _):
        assert probe(network, page())[0] == "pass"
        # The request over IPv4 was not needed.
        assert len(site.requests) == 1


def test_default_page_over_ipv6_is_different() -> None:
    """A common mistake: the server block for IPv6 is that of another site."""
    default = "<!doctype html><title>Welcome to nginx!</title><p>It works"
    with (
        https_site({"*": Answer(BODY)}) as site,
        https_site({"*": Answer(default)}) as other,
        world({PUBLIC: site, PUBLIC6: other}) as (network, _),
    ):
        assert probe(network, page())[0] == "different"


def test_missing_page_over_ipv6_is_different() -> None:
    with (
        https_site({"*": Answer(BODY)}) as site,
        https_site({"*": Answer("gone", status=404)}) as other,
        world({PUBLIC: site, PUBLIC6: other}) as (network, _),
    ):
        assert probe(network, page())[0] == "different"


def test_page_that_changed_meanwhile_is_compared_with_its_new_state() -> None:
    """The page had a cookie of its redirects, or the site was updated after the page was loaded."""
    new = "<!doctype html><title>Sale</title><h2>Sale</h2>"
    with https_site({"*": Answer(new)}) as site, world({PUBLIC: site, PUBLIC6: site}) as (network, _):
        finding, evidence = probe(network, page())
        assert finding == "pass"
        assert evidence.over_ipv4 is not None


def test_silent_ipv6_address_is_unreachable() -> None:
    with https_site({"*": Answer(BODY)}) as site, world({PUBLIC: site}) as (network, servers):
        assert probe(network, page())[0] == "unreachable"
        assert (ROOT6, ". SOA") in servers.asked


def test_installation_without_ipv6_blames_nobody() -> None:
    with https_site({"*": Answer(BODY)}) as site, world({PUBLIC: site}, has_ipv6=False) as (network, _):
        finding, evidence = probe(network, page())
        assert finding == "n/a"
        assert not evidence.is_tested


def test_private_ipv6_address_gets_no_connection() -> None:
    records = RECORDS.replace(PUBLIC6, "::ffff:127.0.0.1")
    with (
        https_site({"*": Answer(BODY)}) as site,
        world({PUBLIC: site, "::ffff:127.0.0.1": site}, records) as (network, _),
    ):
        assert probe(network, page())[0] == "unreachable"
        assert site.requests == []


def test_network_for_one_host_is_judged_and_ends() -> None:
    with https_site({"*": Answer(BODY)}) as site, world({PUBLIC: site, PUBLIC6: site}) as (network, _):
        with network.only_at(HOST, ["10.0.0.1"], 5) as part, pytest.raises(Blocked):
            part.fetch(target(f"https://{HOST}/"))
        with network.only_at(HOST, [PUBLIC6], 5) as part, pytest.raises(NotReachable):
            part.fetch(target("https://other.com/"))
        part = network.only_at(HOST, [PUBLIC6], 5)
        network.close()
        with pytest.raises(TimedOut):
            part.fetch(target(f"https://{HOST}/"))
        with pytest.raises(TimedOut):
            network.only_at(HOST, [PUBLIC6], 5)


S3 = "<Error><Code>NoSuchBucket</Code><Message>The specified bucket does not exist</Message></Error>"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Answer(S3, status=404), True),
        (Answer("Hello"), False),
        # A page about the error is no error.
        (Answer(f"<p>{S3}"), False),
        (Answer("AccessDenied", status=403), False),
    ],
)
def test_service_says_whether_a_name_is_unused(answer: Answer, expected: bool) -> None:
    records = f"{RECORDS}files.{DOMAIN}. CNAME b.s3.amazonaws.com.\n"
    body = f"{BODY}<img src='https://files.{DOMAIN}/logo.png'>"
    with Site({"*": answer}) as site, world({PUBLIC: site}, records) as (network, servers):
        _add_bucket(servers)
        found = aliases(page(body), network, CLOCK)
    (alias,) = found.aliases
    assert (alias.name, alias.targets, alias.service) == (f"files.{DOMAIN}", ("b.s3.amazonaws.com",), "Amazon S3")
    assert alias.says_unused is expected
    assert site.requests[0].header("Host") == f"files.{DOMAIN}"


def _add_bucket(servers: NameServers) -> None:
    """Add a name at Amazon S3 to the zone of its top-level domain."""
    name = dns.name.from_text("b.s3.amazonaws.com.")
    rrset = dns.rrset.from_text(name, 60, "IN", "A", PUBLIC)
    servers.dns.zone_of(name).rrsets[name, rrset.rdtype] = rrset


def test_few_names_of_the_page_are_looked_up() -> None:
    links = "".join(f"<a href='https://n{number}.{DOMAIN}/'>" for number in range(1_000))
    with world({}) as (network, servers):
        found = aliases(page(f"{links}//evil{DOMAIN} //x.{DOMAIN}.evil.com"), network, CLOCK)
    assert found == Aliases(DOMAIN, (), 6)
    assert [query for query in servers.queries if query.endswith(f"{DOMAIN}. A")] == [
        f"{name}. A" for name in (HOST, DOMAIN, f"n0.{DOMAIN}", f"n1.{DOMAIN}", f"n2.{DOMAIN}", f"n3.{DOMAIN}")
    ]
