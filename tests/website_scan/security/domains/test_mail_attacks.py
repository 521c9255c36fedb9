"""Tests for the mail probes with hostile name servers and web servers: queries, time and memory are limited."""

from __future__ import annotations

import time
from collections.abc import Callable

import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset
import pytest

from tests.targets.domains.mail_zones import MailDomain, mail_zones
from tests.targets.domains.servers import running_name_servers
from tests.targets.domains.world import providers_of
from tests.targets.name_server import failing, name_server, reply, zone
from tests.website_scan.cast import outcome, target
from tests.website_scan.net.seams import Wires
from tests.website_scan.security.cast import NOW
from website_scan.net import name_servers as name_server_queries
from website_scan.net.client import Network
from website_scan.net.errors import BudgetExceeded, NetError
from website_scan.net.policy import Policy
from website_scan.outcomes import Verdict
from website_scan.page.evidence import Clock
from website_scan.security.checks import mail, mail_delivery, mail_signatures
from website_scan.security.dkim import read_key
from website_scan.security.mta_sts import read_policy
from website_scan.security.probes.mail import mail_records, mail_servers
from website_scan.security.probes.mail_policies import bimi, dkim_keys, dmarc_reports, mta_sts, tls_reporting
from website_scan.security.probes.names import unused_name

DOMAIN = "shop.com"
HOST = target(f"https://www.{DOMAIN}/")
MAX_QUERIES = 40
Zone = Callable[[dns.message.Message], dns.message.Message | None]


def judge(network: Network) -> dict[str, Verdict]:
    """Run all probes and checks of mail."""
    records = mail_records(HOST, network)
    sts = mta_sts(records, network)
    return {
        "mx": mail_delivery.mx(records, mail_servers(records, network)),
        "spf": mail.spf(records),
        "dmarc": mail.dmarc(records),
        "dmarc-reports": mail_signatures.dmarc_reports(records, dmarc_reports(records, network)),
        "dkim": mail_signatures.dkim(records, dkim_keys(records, unused_name(HOST, network, Clock(NOW)), network)),
        "mta-sts": mail_delivery.mta_sts(records, sts),
        "tls-rpt": mail_delivery.tls_rpt(records, sts, tls_reporting(records, network)),
        "bimi": mail_signatures.bimi(records, bimi(records, network)),
    }


def texts(query: dns.message.Message, *records: str) -> dns.message.Message:
    return reply(query, (query.question[0].name.to_text(), *records))


def test_answer_of_the_largest_size_causes_few_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    """A DNS message has at most 64 KiB, so a record has at most about 5,000 includes."""
    record = "v=spf1 " + " ".join(f"include:i{number}.e.com" for number in range(3_000)) + " -all"
    domain = MailDomain(DOMAIN, "many includes", "RFC 7208, 4.6.4", {}, spf=(record,), sts=())
    assert len(record) > 50_000
    world = mail_zones([domain], {})
    with running_name_servers(world, providers_of(world), monkeypatch) as servers, Network(Policy()) as network:
        begin = time.thread_time()
        found = judge(network)
        assert time.thread_time() - begin < 1
    assert outcome(found["spf"]) == "long"
    assert len(servers.queries) <= MAX_QUERIES


def test_tree_of_includes_ends_at_ten_look_ups(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(query: dns.message.Message) -> dns.message.Message | None:
        question = query.question[0]
        if question.rdtype != dns.rdatatype.TXT:
            return reply(query)
        name = question.name.to_text(omit_final_dot=True)
        return texts(query, f'"v=spf1 include:1.{name} " "include:2.{name} " "include:3.{name} -all"')

    with name_server(answer, monkeypatch) as queries, Network(Policy()) as network:
        assert outcome(judge(network)["spf"]) == "lookups"
    assert len(queries) <= MAX_QUERIES


def test_hundred_mail_servers_and_report_addresses_cause_few_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    addresses = ",".join(f"mailto:a@r{number}.com" for number in range(100))
    records: dict[str, dict[str, tuple[str, ...]]] = {
        DOMAIN: {
            "MX": tuple(f"{number} mx{number}.evil.com." for number in range(100)),
            "TXT": ('"v=spf1 mx include:google.com include:fastmail.com include:icloud.com -all"',),
        },
        f"_dmarc.{DOMAIN}": {
            "TXT": (" ".join(f'"{part}"' for part in _parts(f"v=DMARC1; p=reject; rua={addresses}")),)
        },
    }
    with name_server(zone(records), monkeypatch) as queries, Network(Policy()) as network:
        judge(network)
    assert len(queries) <= MAX_QUERIES


def test_alias_loops_are_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(query: dns.message.Message) -> dns.message.Message | None:
        name = query.question[0].name.to_text()
        response = reply(query)
        for _ in range(2):
            response.answer.append(dns.rrset.from_text(name, 60, "IN", "CNAME", f"a.{name}"))
            response.answer.append(dns.rrset.from_text(f"a.{name}", 60, "IN", "CNAME", name))
        return response

    with name_server(answer, monkeypatch) as queries, Network(Policy()) as network, pytest.raises(NetError):
        judge(network)
    assert len(queries) <= MAX_QUERIES


def test_slow_name_server_ends_further_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only names of the domain answer; all others are silent until the query's time limit."""
    monkeypatch.setattr(name_server_queries, "RECORD_QUERY_TIMEOUT_S", 0.3)
    known = zone(
        {
            DOMAIN: {
                "MX": tuple(f"{number} mx{number}.slow.com." for number in range(5)),
                "TXT": ('"v=spf1 include:a.slow.com include:b.slow.com include:google.com mx:c.slow.com -all"',),
            },
            f"_dmarc.{DOMAIN}": {"TXT": ('"v=DMARC1; p=reject; rua=mailto:a@slow.com,mailto:a@slow.net"',)},
        }
    )

    def answer(query: dns.message.Message) -> dns.message.Message | None:
        name = query.question[0].name.to_text(omit_final_dot=True)
        return known(query) if name in (DOMAIN, f"_dmarc.{DOMAIN}") else None

    begin = time.monotonic()
    with name_server(answer, monkeypatch), Network(Policy()) as network:
        found = judge(network)
    # One query each for SPF, mail servers, reports, the random name, keys, MTA-STS, TLS-RPT and BIMI is too slow.
    assert time.monotonic() - begin < 8 * 0.3 + 5
    assert outcome(found["spf"]) == "pass"
    assert {outcome(found[name]) for name in ("mx", "dkim", "mta-sts", "tls-rpt", "bimi")} == {"n/a"}


def test_refusing_name_server_blames_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    known = zone({DOMAIN: {"MX": ("10 mx.evil.com.",), "TXT": ('"v=spf1 mx a:x.evil.com -all"',)}})

    def answer(query: dns.message.Message) -> dns.message.Message | None:
        name = query.question[0].name.to_text(omit_final_dot=True)
        return known(query) if name in (DOMAIN, f"_dmarc.{DOMAIN}") else failing(dns.rcode.SERVFAIL)(query)

    with name_server(answer, monkeypatch), Network(Policy()) as network:
        found = judge(network)
    assert outcome(found["spf"]) == "pass"
    assert {outcome(found[name]) for name in ("mx", "dkim", "mta-sts", "tls-rpt", "bimi")} == {"n/a"}


def test_policy_at_private_address_is_not_requested(monkeypatch: pytest.MonkeyPatch) -> None:
    wires = Wires({})
    records = {
        DOMAIN: {"MX": ("10 mx.evil.com.",)},
        f"_mta-sts.{DOMAIN}": {"TXT": ('"v=STSv1; id=1"',)},
        f"mta-sts.{DOMAIN}": {"A": ("169.254.169.254",)},
        f"_dmarc.{DOMAIN}": {"TXT": ('"v=DMARC1; p=reject"',)},
        f"default._bimi.{DOMAIN}": {"TXT": ('"v=BIMI1; l=https://10.0.0.1/logo.svg"',)},
    }
    with name_server(zone(records), monkeypatch), Network(Policy(), dialer=wires) as network:
        found = judge(network)
    assert outcome(found["mta-sts"]) == "unavailable"
    assert outcome(found["bimi"]) == "logo"
    assert wires.dialed == []


def test_exhausted_budget_ends_the_probe(monkeypatch: pytest.MonkeyPatch) -> None:
    with name_server(zone({}), monkeypatch), Network(Policy()) as network:
        for _ in range(80):
            network.dns._meter.dns_query()
        with pytest.raises(BudgetExceeded):
            mail_records(HOST, network)


@pytest.mark.parametrize(
    "body",
    [
        b"a" * 60_000,
        b"mx: a\n" * 10_000,
        b"\xff\xfe" * 30_000,
        b"version: STSv1\n" + b"max_age: 9\n" * 400,
        b":" * 60_000,
    ],
)
def test_hostile_policy_is_read_in_little_time(body: bytes) -> None:
    begin = time.process_time()
    assert read_policy(body).fault
    assert time.process_time() - begin < 0.2


@pytest.mark.parametrize(
    "record", ["p=" + "A" * 4000, ";" * 4000 + "p=A", "p=" + "A;p=" * 1000, "k=" * 2000 + ";p=AAAA"]
)
def test_hostile_key_is_read_in_little_time(record: str) -> None:
    begin = time.process_time()
    assert read_key("a", record).fault
    assert time.process_time() - begin < 0.2


def _parts(text: str) -> list[str]:
    return [text[start : start + 250] for start in range(0, len(text), 250)]
