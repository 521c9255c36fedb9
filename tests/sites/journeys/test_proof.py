"""Tests for the proof that an organization controls the site of a journey, with real servers on loopback."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Iterator, Sequence

import dns.message
import dns.rdatatype
import dns.rrset
import pytest
from pytest_django import Settings

from sites.journeys import proof
from sites.models import Journey
from tests.factories import Member
from tests.sites.journeys.cast import make_journey
from tests.targets.name_server import name_server, reply
from tests.targets.server import Answer, Request, Route, Site
from tests.website_scan.net.loopback import NETWORKS
from website_scan.net.client import Network
from website_scan.net.deadline import dial
from website_scan.net.policy import Policy
from website_scan.urls import Url

START = "http://shop.example.com/login"
Check = Callable[[Journey], proof.ProofCheck]


class Internet:
    """Names that all resolve to one server on loopback, whatever the port. Routes and TXT records can be added."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.texts: dict[str, list[str]] = {}

    def answer_query(self, query: dns.message.Message) -> dns.message.Message | None:
        """Answer a query for an address or a text."""
        question = query.question[0]
        name = question.name.to_text(omit_final_dot=True)
        if question.rdtype == dns.rdatatype.TXT:
            if "silence" in self.texts:
                return None
            return reply(query, *([(f"{name}.", *self.texts[name])] if name in self.texts else []))
        return reply(query, (f"{name}.", "127.0.0.1")) if question.rdtype == dns.rdatatype.A else reply(query)

    def check(self, journey: Journey) -> proof.ProofCheck:
        """Check control with the limits of the service."""
        policy = Policy(allowed_networks=NETWORKS)
        with Network(policy, limits=proof.LIMITS, time_limit_s=proof.TIME_LIMIT_S, dialer=self._dial) as network:
            return proof.check_control(journey, network)

    def _dial(self, _: str, __: int, timeout_s: float) -> socket.socket:
        return dial("127.0.0.1", self.site.port, timeout_s)


@pytest.fixture
def internet(monkeypatch: pytest.MonkeyPatch) -> Iterator[Internet]:
    with Site() as site:
        internet = Internet(site)
        with name_server(internet.answer_query, monkeypatch):
            yield internet


@pytest.fixture
def journey(home: Member) -> Journey:
    return make_journey(home, START, is_proven=False)


def route_of(host: str, answer: Answer) -> Route:
    """Return a route that answers only requests for this host."""

    def route(request: Request) -> Answer | None:
        return answer if request.header("Host") == host else Answer(status=404)

    return route


def quoted(*texts: str) -> list[str]:
    return [f'"{text}"' for text in texts]


def stored(journey: Journey) -> tuple[str, str, bool]:
    row = Journey.objects.get(id=journey.id)
    return row.proof_method, row.proven_scope, row.proven_at is not None


@pytest.mark.parametrize("name", ["example.com", "shop.example.com"])
def test_dns_record_proves_control_of_its_name(internet: Internet, journey: Journey, name: str) -> None:
    internet.texts[name] = quoted("v=spf1 -all", f"website-scan={journey.proof_token}")
    check = internet.check(journey)
    assert (check.proof, check.problems) == (proof.Proof(Journey.Proof.DNS, name), ())
    assert stored(journey) == ("dns", name, True)


@pytest.mark.parametrize("host", ["example.com", "shop.example.com"])
@pytest.mark.parametrize("content", ["{}", "# ours\r\n  {}  \r\n", "website-scan={}\n"])
def test_file_proves_control_of_its_host(internet: Internet, journey: Journey, host: str, content: str) -> None:
    internet.site.routes[proof.FILE_PATH] = route_of(host, Answer(content.format(journey.proof_token)))
    assert internet.check(journey).proof == proof.Proof(Journey.Proof.FILE, host)
    assert stored(journey) == ("file", host, True)


def test_meta_element_of_the_start_page_proves_control(internet: Internet, journey: Journey) -> None:
    markup = f'<!doctype html><title>Shop</title><META Name=Website-Scan content=" {journey.proof_token} "><p>Hello'
    internet.site.routes["/"] = route_of("shop.example.com", Answer(markup))
    assert internet.check(journey).proof == proof.Proof(Journey.Proof.META, "shop.example.com")


@pytest.mark.parametrize(
    "markup",
    [
        "<!doctype html><title>Forum</title><p><meta name=website-scan content={}>",
        "<!doctype html><title>Forum</title><!-- <meta name=website-scan content={}> -->",
        "<!doctype html><title>Forum <meta name=website-scan content={}></title>",
        "<!doctype html><template><meta name=website-scan content={}></template>",
        "<!doctype html><meta name=description content='website-scan {}'>",
        "<!doctype html><meta name=website-scan content='{}x'>",
    ],
)
def test_token_elsewhere_in_a_page_proves_nothing(internet: Internet, journey: Journey, markup: str) -> None:
    internet.site.routes["/"] = Answer(markup.format(journey.proof_token))
    check = internet.check(journey)
    assert check.proof is None
    assert "http://shop.example.com/ has no meta element with the token." in check.problems


def test_page_below_the_start_page_proves_nothing(internet: Internet, home: Member) -> None:
    journey = make_journey(home, "http://shop.example.com/~ada/", is_proven=False)
    internet.site.routes["/~ada/"] = Answer(f"<meta name=website-scan content={journey.proof_token}>")
    assert internet.check(journey).proof is None
    assert "/~ada/" not in internet.site.paths()


def test_token_of_another_organization_proves_nothing(internet: Internet, journey: Journey, stranger: Member) -> None:
    foreign = make_journey(stranger, START, is_proven=False)
    assert foreign.proof_token != journey.proof_token
    internet.texts["example.com"] = quoted(f"website-scan={journey.proof_token}")
    assert internet.check(foreign).proof is None
    assert internet.check(journey).proof is not None
    assert stored(foreign) == ("", "", False)


def test_journeys_of_an_organization_on_a_site_have_the_same_token(home: Member) -> None:
    home.organization.tier.journeys = 5
    home.organization.tier.save()
    first, same_site, other_site = (
        make_journey(home, start, is_proven=False)
        for start in (START, "https://www.example.com/", "https://www.example.org/")
    )
    assert first.proof_token == same_site.proof_token != other_site.proof_token
    assert len(first.proof_token) == proof.TOKEN_CHARACTERS


@pytest.mark.parametrize(
    "location",
    [
        "http://user.example.com/.well-known/website-scan.txt",
        "http://shop.example.com:8080/.well-known/website-scan.txt",
        "http://evil.example.org/",
    ],
)
def test_redirect_to_another_host_or_port_proves_nothing(internet: Internet, journey: Journey, location: str) -> None:
    origin = Url.of(location)

    def answer(request: Request) -> Answer:
        if request.header("Host") == origin.host_and_port:
            return Answer(journey.proof_token)
        return Answer.redirect(location)

    internet.site.routes["*"] = answer
    check = internet.check(journey)
    assert check.proof is None
    assert any(f"redirects to {origin.origin}, which proves nothing" in problem for problem in check.problems)


def test_redirect_to_the_same_host_with_www_is_followed(internet: Internet, home: Member) -> None:
    journey = make_journey(home, "http://www.example.com/", is_proven=False)

    def answer(request: Request) -> Answer:
        if request.header("Host") == "example.com":
            return Answer.redirect("http://www.example.com/.well-known/website-scan.txt")
        return Answer(journey.proof_token)

    internet.site.routes[proof.FILE_PATH] = answer
    assert internet.check(journey).proof == proof.Proof(Journey.Proof.FILE, "example.com")


def test_server_on_another_port_proves_only_that_port(internet: Internet, home: Member) -> None:
    journey = make_journey(home, "http://shop.example.com:8080/", is_proven=False)
    internet.site.routes[proof.FILE_PATH] = Answer(journey.proof_token)
    assert internet.check(journey).proof == proof.Proof(Journey.Proof.FILE, "shop.example.com:8080")
    journey.refresh_from_db()
    is_allowed = proof.allowed_addresses(journey)
    assert is_allowed("http://shop.example.com:8080/cart")
    assert not is_allowed("http://shop.example.com/")


def test_journey_may_act_only_below_the_proven_host(journey: Journey) -> None:
    journey.proven_scope = "shop.example.com"
    journey.identity_providers = ["login.example.org"]
    is_allowed = proof.allowed_addresses(journey)
    for allowed in ("http://shop.example.com/", "https://a.shop.example.com:8443/x", "https://login.example.org/"):
        assert is_allowed(allowed), allowed
    for refused in (
        *("https://example.com/", "https://www.example.com/", "https://shop.example.com.evil.org/"),
        *("https://myshop.example.com/", "ftp://shop.example.com/", "javascript:alert(1)", "a.login.example.org", ""),
        "https://a.login.example.org/",
    ):
        assert not is_allowed(refused), refused
    journey.proven_scope = ""
    assert not proof.allowed_addresses(journey)("http://shop.example.com/")
    journey.proven_scope, journey.start_url = "shop.example.com", "https://shop.example.com/"
    assert not proof.allowed_addresses(journey)("http://shop.example.com/")


def test_removed_token_ends_the_proof(internet: Internet, journey: Journey) -> None:
    internet.texts["example.com"] = quoted(f"website-scan={journey.proof_token}")
    assert internet.check(journey).proof is not None
    internet.texts.clear()
    assert internet.check(journey).proof is None
    assert stored(journey) == ("", "", False)


def test_servers_without_answers_do_not_end_the_proof(internet: Internet, journey: Journey) -> None:
    internet.site.routes[proof.FILE_PATH] = Answer(journey.proof_token)
    assert internet.check(journey).proof is not None
    internet.site.routes["*"] = internet.site.routes[proof.FILE_PATH] = lambda _: None
    check = internet.check(journey)
    assert (check.proof, check.is_certain) == (None, False)
    assert stored(journey) == ("file", "example.com", True)


def test_result_is_not_stored_for_a_site_that_has_changed(internet: Internet, journey: Journey) -> None:
    internet.texts["example.com"] = quoted(f"website-scan={journey.proof_token}")
    Journey.objects.filter(id=journey.id).update(start_url="https://victim.example.org/", proof_token="x" * 32)
    assert internet.check(journey).proof is not None
    assert stored(journey) == ("", "", False)


def test_unknown_place_of_log_in_needs_the_same_token(internet: Internet, home: Member) -> None:
    steps = "open /\nallow log-in at login.victim.org, accounts.google.com, id.shop.example.com"
    journey = make_journey(home, START, steps=steps, secrets={}, is_proven=False)
    internet.texts["example.com"] = quoted(f"website-scan={journey.proof_token}")
    check = internet.check(journey)
    assert check.proof is None
    assert check.problems[0].startswith("Place of log-in login.victim.org: The DNS records of victim.org")
    assert stored(journey) == ("", "", False)
    internet.texts["victim.org"] = quoted(f"website-scan={journey.proof_token}")
    assert internet.check(journey).proof == proof.Proof(Journey.Proof.DNS, "example.com")


def test_exempted_network_needs_no_token(internet: Internet, journey: Journey, settings: Settings) -> None:
    loopback = ipaddress.ip_network("127.0.0.0/8")
    for exempted, is_exempt in ((((loopback, 8080),), False), ((loopback,), True), (((loopback, 80),), True)):
        settings.SCAN_JOURNEY_NETWORKS = exempted
        assert (internet.check(journey).proof is not None) is is_exempt, exempted
    assert stored(journey) == ("exempt", "shop.example.com:80", True)


HOSTILE: Sequence[Answer] = (
    Answer("x" * 10_000_000),
    Answer(b"\xff\xfe" * 1_000_000),
    Answer("\n" * 1_000_000),
    Answer("<meta name=website-scan content=x>" * 100_000),
    Answer("<b><i><u><p>" * 100_000),
    Answer("x" * 100, headers={"Content-Length": "99999999999"}),
    Answer(b"\x1f\x8b" + b"\0" * 1000, headers={"Content-Encoding": "gzip"}),
    Answer.redirect("/.well-known/website-scan.txt"),
    Answer.redirect("http://169.254.169.254/latest/meta-data/"),
    Answer(status=200, delay_s=30),
)


@pytest.mark.parametrize("answer", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_answers_prove_nothing_and_are_bounded(internet: Internet, journey: Journey, answer: Answer) -> None:
    internet.texts["example.com"] = quoted(*(f"website-scan={number:0240}" for number in range(200)))
    internet.site.routes["*"] = answer
    check = internet.check(journey)
    assert check.proof is None
    assert all(len(problem) < 500 for problem in check.problems)
    assert len(internet.site.requests) <= 20


def test_silent_name_server_is_reported(internet: Internet, journey: Journey) -> None:
    internet.texts["silence"] = []
    internet.site.routes["/"] = Answer("<p>Hello")
    check = internet.check(journey)
    assert (check.proof, check.is_certain) == (None, False)
