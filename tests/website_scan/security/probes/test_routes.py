"""Tests for the probe of routes, with a fake Routinator on loopback."""

from __future__ import annotations

import json
from collections.abc import Mapping

import dns.message
import dns.rrset
import pytest

from tests.targets.server import Answer, Site
from tests.website_scan.cast import target
from tests.website_scan.net.seams import PUBLIC, PUBLIC6
from website_scan.findings import ScanType
from website_scan.net.client import Network
from website_scan.net.deadline import Deadline
from website_scan.net.dns_records import DnsAnswer
from website_scan.net.dnssec.answers import SignedAnswer
from website_scan.net.errors import NotReachable
from website_scan.net.policy import Policy, RouteValidator
from website_scan.plan import plan
from website_scan.security.domain_evidence import NameServer, NameServers, ServerAddress, ServerState, SiteRecords
from website_scan.security.probes import routes as probes
from website_scan.security.probes.mail import mail_records, mail_servers
from website_scan.security.probes.routes import routes
from website_scan.security.route_origins import Routes, Validity

DOMAIN, HOST = "shop.com", "www.shop.com"
NAME_SERVER, MAIL = "198.97.190.53", "192.0.78.25"
ZONE = "asn.test-origins.com"
REVERSED = "14.215.184.93"
PATH = "/json"


class Answers:
    """Name servers that know some records, and record the queries."""

    def __init__(self, known: Mapping[tuple[str, str], str]) -> None:
        self._known = known
        self.asked: list[tuple[str, str]] = []

    def lookup(self, name: str, record_type: str, deadline: Deadline) -> DnsAnswer:
        self.asked.append((name, record_type))
        if name.startswith("silent"):
            raise NotReachable("The name servers did not answer.")
        record = self._known.get((name, record_type))
        return DnsAnswer((record,) if record else ())

    def signed_response(self, name: str, record_type: str, deadline: Deadline) -> dns.message.Message:
        response = dns.message.make_response(dns.message.make_query(name, record_type))
        for record in self.lookup(name, record_type, deadline).records:
            response.answer.append(dns.rrset.from_text(f"{name}.", 60, "IN", record_type, record))
        return response


def site_records(*addresses: str) -> SiteRecords:
    def answer(kind: str, is_ipv6: bool) -> SignedAnswer:
        return SignedAnswer(HOST, kind, "NOERROR", tuple(each for each in addresses if (":" in each) is is_ipv6))

    return SiteRecords(DOMAIN, HOST, answer("A", False), answer("AAAA", True))


SERVERS = NameServers(
    DOMAIN, (NameServer("ns1.shop.com", (ServerAddress(NAME_SERVER, ServerState.ANSWERS),)),), total=1
)


def document(*prefixes: str, as_number: int = 64500) -> Answer:
    roas = [
        {"asn": f"AS{as_number}", "prefix": prefix, "maxLength": int(prefix.partition("/")[2]), "ta": "test"}
        for prefix in prefixes
    ]
    return Answer(
        json.dumps({"metadata": {"generated": 1}, "roas": roas}), headers={"Content-Type": "application/json"}
    )


ALL = document("93.184.215.0/24", "2606:2800::/32", "198.97.190.0/24", "192.0.78.0/24")
MX = {("shop.com", "MX"): "10 mx.shop.com.", ("mx.shop.com", "A"): MAIL}


def gather(
    answer: Answer,
    records: Mapping[tuple[str, str], str] = MX,
    *,
    zone: str = "",
    addresses: tuple[str, ...] = (PUBLIC, PUBLIC6),
) -> tuple[Routes, list[str], Answers]:
    """Return the routes, the paths that the validator was asked for, and the name servers."""
    lookup = Answers(records)
    with Site({PATH: answer}) as routinator, Network(Policy(), lookup=lookup) as network:
        validator = RouteValidator(f"http://127.0.0.1:{routinator.port}", zone)
        found = routes(site_records(*addresses), SERVERS, validator, network)
        return found, [request.path for request in routinator.requests], lookup


def statuses(found: Routes) -> dict[str, Validity]:
    return {route.address: route.validity for route in found.addresses}


def test_one_request_covers_all_addresses() -> None:
    found, paths, _ = gather(ALL)
    assert statuses(found) == dict.fromkeys((PUBLIC, PUBLIC6, NAME_SERVER, MAIL), Validity.COVERED)
    assert [route.purpose for route in found.addresses] == ["site", "site", "name server", "mail server"]
    assert paths == [
        f"/json?select-prefix={PUBLIC}/32&select-prefix={PUBLIC6}/128"
        f"&select-prefix={NAME_SERVER}/32&select-prefix={MAIL}/32"
    ]


def test_mail_records_and_routes_share_the_answers_about_mail_servers() -> None:
    lookup = Answers(MX)
    with Site({PATH: ALL}) as routinator, Network(Policy(), lookup=lookup) as network:
        mail_servers(mail_records(target(f"https://{DOMAIN}/"), network), network)
        routes(site_records(PUBLIC), SERVERS, RouteValidator(f"http://127.0.0.1:{routinator.port}"), network)
    assert [lookup.asked.count(query) for query in MX] == [1, 1]


def test_address_without_authorization_is_not_covered() -> None:
    found, _, _ = gather(document("93.184.215.0/24"))
    assert statuses(found)[PUBLIC] is Validity.COVERED
    assert statuses(found)[PUBLIC6] is Validity.NOT_FOUND


@pytest.mark.parametrize(("as_number", "expected"), [(64500, Validity.VALID), (64501, Validity.INVALID)])
def test_known_origin_makes_a_route_valid_or_invalid(as_number: int, expected: Validity) -> None:
    origin = {(f"{REVERSED}.origin.{ZONE}", "TXT"): "64500 | 93.184.215.0/24 | US | arin | 2008-06-02"}
    found, _, _ = gather(document("93.184.215.0/24", as_number=as_number), origin, zone=ZONE, addresses=(PUBLIC,))
    assert statuses(found)[PUBLIC] is expected


def test_nobody_learns_the_addresses_without_a_zone() -> None:
    _, _, lookup = gather(ALL)
    assert {name for name, _ in lookup.asked} == {"shop.com", "mx.shop.com"}


def test_ipv6_address_is_asked_for_by_its_digits() -> None:
    _, _, lookup = gather(ALL, zone=ZONE, addresses=("2001:db8::1",))
    digits = "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2"
    assert (f"{digits}.origin6.{ZONE}", "TXT") in lookup.asked


def test_few_origins_are_looked_up() -> None:
    addresses = tuple(f"93.184.{number}.14" for number in range(100))
    found, paths, lookup = gather(ALL, zone=ZONE, addresses=addresses)
    assert len([name for name, kind in lookup.asked if kind == "TXT"]) <= probes.MAX_ORIGIN_QUERIES
    assert paths[0].count("select-prefix=") == len(found.addresses) == probes.MAX_ADDRESSES_OF_KIND + 2


@pytest.mark.parametrize(
    "answer",
    [
        Answer("Initial validation ongoing. Please wait.", status=503),
        Answer("<html>", headers={"Content-Type": "text/html"}),
        Answer.redirect("http://127.0.0.1:1/json"),
        Answer("[" * 500_000),
        Answer('{"roas": [' + "0," * 2_000_000 + "0]}"),
    ],
    ids=["starting", "html", "redirect", "nested", "megabytes"],
)
def test_validator_without_usable_answer_is_an_error_of_the_installation(answer: Answer) -> None:
    found, paths, _ = gather(answer)
    assert found.error
    assert found.addresses == ()
    assert len(paths) == 1


def test_silent_validator_ends_at_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probes, "TIMEOUT_S", 0.3)
    found, _, _ = gather(Answer("{}", delay_s=30))
    assert found.error


def test_validator_that_does_not_run_is_an_error_of_the_installation() -> None:
    with Network(Policy(), lookup=Answers({})) as network:
        found = routes(site_records(PUBLIC), SERVERS, RouteValidator("http://127.0.0.1:1"), network)
    assert found.error


def test_unreadable_addresses_are_left_out() -> None:
    found, paths, _ = gather(ALL, addresses=(PUBLIC, "not an address"))
    assert set(statuses(found)) == {PUBLIC, NAME_SERVER, MAIL}
    assert "not" not in paths[0]


def test_domain_that_the_owner_does_not_control_is_not_judged() -> None:
    with Network(Policy()) as network:
        assert routes(SiteRecords(None), SERVERS, RouteValidator("http://127.0.0.1:1"), network) == Routes(None)


def test_check_is_left_out_without_a_validator() -> None:
    without, with_validator = plan(ScanType.SECURITY), plan(ScanType.SECURITY, has_validator=True)
    assert "route-origin" not in {check.id for check in (*without.checks, *without.omitted)}
    assert Routes not in without.probes
    assert "route-origin" in {check.id for check in with_validator.checks}
    assert Routes in with_validator.probes
