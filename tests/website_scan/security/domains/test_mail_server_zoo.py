"""Run the probe and checks of mail servers on a zoo of mail servers on loopback."""

from __future__ import annotations

import pickle
import time
from collections import Counter
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from tests.targets.domains.mail_server_table import DOMAINS, MailDomain
from tests.targets.domains.mail_server_zoo import MailZoo, addresses_of, running_mail_zoo
from tests.targets.domains.servers import NameServers, running_name_servers
from tests.targets.domains.table import GOOD, PROVIDERS
from tests.targets.server import Answer, Certificate, Site
from tests.website_scan.cast import outcome, target
from website_scan.net import mail_servers as smtp_dialogs
from website_scan.net import name_servers as name_server_queries
from website_scan.net.budget import Limits, SharedBudget
from website_scan.net.client import Network
from website_scan.net.errors import BudgetExceeded, TimedOut
from website_scan.net.mail_servers import contact_mail_server
from website_scan.net.policy import Policy
from website_scan.net.smtp import MailState
from website_scan.net.tls import handshake
from website_scan.page.evidence import Clock
from website_scan.security.checks import mail_servers as checks
from website_scan.security.mail_server_evidence import MailDialogs
from website_scan.security.probes.mail import mail_records
from website_scan.security.probes.mail_policies import mta_sts
from website_scan.security.probes.mail_servers import mail_dialogs

NOW = datetime.now(UTC)
BY_NAME = {domain.name: domain for domain in DOMAINS}
POLICY = "version: STSv1\r\nmode: enforce\r\nmx: *.com\r\nmax_age: 604800\r\n"
ROOT6 = "2001:7fe::53"
SLOW = "byte-a-time.com"


class Zoo:
    """The running zoo, with a network for each scan."""

    def __init__(self, mail: MailZoo, servers: NameServers) -> None:
        self.mail = mail
        self.servers = servers

    def network(self, *, is_allowed: bool = True, shared: SharedBudget | None = None) -> Network:
        policy = Policy(
            trust_anchors=self.mail.dns.trust_anchors, ca_bundle=self.mail.ca_file, contacts_mail_servers=is_allowed
        )
        return Network(
            policy,
            dialer=self.servers.dial,
            datagrams=self.servers.dial_datagrams,
            limits=Limits(connect_s=30.0),
            shared=shared,
        )


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Zoo]:
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.setattr(name_server_queries, "RECORD_QUERY_TIMEOUT_S", 30.0)
    names = tuple(f"mta-sts.{domain.name}" for domain in DOMAINS if "mta-sts" in domain.records)
    with (
        Site({"/.well-known/mta-sts.txt": Answer(POLICY)}, certificate=Certificate.VALID, names=names) as site,
        running_mail_zoo(tmp_path_factory.mktemp("mail"), {443: site.port}) as mail,
    ):
        assert site.ca_file is not None
        mail.ca_file.write_bytes(mail.ca_file.read_bytes() + site.ca_file.read_bytes())
        everything = mail.dns.authoritative(*(origin.to_text() for origin in mail.dns.zones))
        behaviours = {address: everything for server in GOOD for address in PROVIDERS[server]}
        behaviours[ROOT6] = everything
        with running_name_servers(mail.dns, behaviours, monkeypatch, mail.dial) as servers:
            yield Zoo(mail, servers)
    monkeypatch.undo()


@pytest.fixture(autouse=True)
def _empty_cache() -> None:
    smtp_dialogs.results.clear()


def gather(domain: MailDomain, network: Network) -> MailDialogs:
    site = target(f"https://www.{domain.name}/")
    sts = mta_sts(mail_records(site, network), network) if network.policy.contacts_mail_servers else None
    return mail_dialogs(site, network, Clock(NOW), sts)


def outcomes(mail: MailDialogs) -> dict[str, str]:
    clock = Clock(NOW)
    return {
        "reachable": outcome(checks.mail_server_reachable(mail)),
        "ipv6": outcome(checks.mail_server_ipv6(mail)),
        "starttls": outcome(checks.mail_server_starttls(mail)),
        "tls": outcome(checks.mail_server_tls(mail)),
        "certificate": outcome(checks.mail_server_certificate(mail, clock)),
        "dnssec": outcome(checks.mail_server_dnssec(mail)),
        "dane": outcome(checks.mail_server_dane(mail, clock)),
    }


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: domain.name)
def test_mail_servers_have_the_outcomes_that_the_rfcs_demand(
    domain: MailDomain, zoo: Zoo, monkeypatch: pytest.MonkeyPatch
) -> None:
    if domain.name == SLOW:
        monkeypatch.setattr(smtp_dialogs, "DIALOG_TIMEOUT_S", 0.5)
    with zoo.network() as network:
        mail = gather(domain, network)
    assert outcomes(mail) == domain.outcomes, f"{domain.because} ({domain.rule}) {mail}"


def test_domains_of_the_zoo_have_different_names() -> None:
    assert len(DOMAINS) >= 50
    assert len(BY_NAME) == len(DOMAINS)


def test_nothing_is_sent_unless_the_operator_allows_it(zoo: Zoo) -> None:
    zoo.mail.dialed.clear()
    zoo.servers.queries.clear()
    with zoo.network(is_allowed=False) as network:
        mail = gather(DOMAINS[0], network)
        assert contact_mail_server(network, "mx1.perfect.com", "93.184.216.1").state is MailState.REFUSED
    assert not mail.is_allowed
    assert set(outcomes(mail).values()) == {"n/a"}
    assert zoo.mail.dialed == []
    assert zoo.servers.queries == []


def test_each_address_gets_one_connection_without_mail(zoo: Zoo) -> None:
    server = zoo.mail.servers[addresses_of(DOMAINS[0], 0)[0]]
    server.lines.clear()
    zoo.mail.dialed.clear()
    with zoo.network() as network:
        gather(DOMAINS[0], network)
    assert Counter(zoo.mail.dialed) == Counter((address, 25) for address in addresses_of(DOMAINS[0], 0))
    deadline = time.monotonic() + 10
    while server.lines.count("QUIT") < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert Counter(server.lines) == {"EHLO [127.0.0.1]": 2, "STARTTLS": 2, "QUIT": 2}


def test_domains_with_the_same_mail_server_share_its_result(zoo: Zoo) -> None:
    zoo.mail.dialed.clear()
    for _ in range(100):
        with zoo.network() as network:
            gather(DOMAINS[0], network)
    assert len(zoo.mail.dialed) == 2


def test_result_is_cached_for_a_short_time_only(zoo: Zoo, monkeypatch: pytest.MonkeyPatch) -> None:
    zoo.mail.dialed.clear()
    monkeypatch.setattr(smtp_dialogs, "RESULT_LIFETIME_S", 0.0)
    for _ in range(2):
        with zoo.network() as network:
            gather(DOMAINS[0], network)
    assert len(zoo.mail.dialed) == 4


@pytest.mark.parametrize("name", ["private.com", "metadata.com"])
def test_private_mail_servers_get_no_connection(name: str, zoo: Zoo) -> None:
    zoo.mail.dialed.clear()
    with zoo.network() as network:
        gather(BY_NAME[name], network)
    assert zoo.mail.dialed == []


class AddressBudget:
    """Budget of three connections to an address, as the service has over all domains and accounts."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def request(self, host: str, port: int, addresses: Collection[str]) -> None:
        assert port == 25
        for address in addresses:
            self.counts[address] += 1
            if self.counts[address] > 3:
                raise BudgetExceeded(f"{host} has had enough connections.")


def test_a_thousand_names_of_one_victim_reach_its_budget(zoo: Zoo) -> None:
    """An attacker owns the domains, and all their MX records have names with the address of the victim."""
    victim = addresses_of(DOMAINS[0], 0)[0]
    budget = AddressBudget()
    zoo.mail.dialed.clear()
    with zoo.network(shared=budget) as network:
        states = Counter(
            contact_mail_server(network, f"mx.attacker{number}.com", victim).state for number in range(1000)
        )
    assert states == {MailState.ENCRYPTS: 3, MailState.REFUSED: 997}
    assert len(zoo.mail.dialed) == 3


def test_server_over_budget_is_not_judged(zoo: Zoo) -> None:
    budget = AddressBudget()
    budget.counts.update(dict.fromkeys(addresses_of(DOMAINS[0], 0), 3))
    with zoo.network(shared=budget) as network:
        found = outcomes(gather(DOMAINS[0], network))
    assert {name for name, result in found.items() if result not in ("pass", "n/a")} == set()


def test_slow_server_ends_at_the_deadline(zoo: Zoo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smtp_dialogs, "DIALOG_TIMEOUT_S", 0.5)
    begin = time.monotonic()
    with zoo.network() as network:
        dialog = contact_mail_server(network, f"mx1.{SLOW}", addresses_of(BY_NAME[SLOW], 0)[0])
    assert dialog.state is MailState.SLOW
    assert time.monotonic() - begin < 5


def test_end_of_the_scan_is_no_result(zoo: Zoo) -> None:
    """The connection that the scan ends must not look like one that the server has closed."""
    server, address = f"mx1.{SLOW}", addresses_of(BY_NAME[SLOW], 0)[0]
    with zoo.network() as network, ThreadPoolExecutor(1) as pool:
        zoo.mail.dialed.clear()
        pending = pool.submit(contact_mail_server, network, server, address)
        deadline = time.monotonic() + 10
        while not zoo.mail.dialed and time.monotonic() < deadline:
            time.sleep(0.01)
        network.close()
        with pytest.raises(TimedOut):
            pending.result()
    assert smtp_dialogs.results.find((network.policy, server, address)) is None


def test_handshake_that_takes_too_long_is_no_fault(zoo: Zoo, monkeypatch: pytest.MonkeyPatch) -> None:
    def stall(*_: object, **__: object) -> None:
        raise TimedOut("The TLS handshake took too long.")

    monkeypatch.setattr(handshake, "upgrade", stall)
    with zoo.network() as network:
        mail = gather(DOMAINS[0], network)
    assert {dialog.state for dialog in mail.servers[0].dialogs} == {MailState.SLOW}


def test_name_servers_without_signatures_are_no_fault_of_the_domain(zoo: Zoo) -> None:
    with zoo.network() as network:
        policy = replace(network.policy, trust_anchors=("1 13 2 " + "ab" * 32,))
    with Network(policy, dialer=zoo.servers.dial, datagrams=zoo.servers.dial_datagrams) as network:
        found = outcomes(gather(DOMAINS[0], network))
    assert (found["dnssec"], found["dane"], found["starttls"]) == ("n/a", "n/a", "pass")


def test_ipv6_of_an_installation_without_ipv6_is_not_judged(zoo: Zoo, monkeypatch: pytest.MonkeyPatch) -> None:
    address = addresses_of(DOMAINS[0], 0)[1]
    monkeypatch.setattr(zoo.mail, "servers", {**zoo.mail.servers, address: None})
    monkeypatch.setattr(zoo.servers, "behaviours", {**zoo.servers.behaviours, ROOT6: lambda _query, _over_tcp: []})
    with zoo.network() as network:
        mail = gather(DOMAINS[0], network)
    assert mail.servers[0].dialogs[1].state is MailState.NOT_TESTED
    assert outcomes(mail)["ipv6"] == "n/a"


def test_no_question_is_asked_twice(zoo: Zoo) -> None:
    zoo.servers.queries.clear()
    with zoo.network() as network:
        gather(DOMAINS[0], network)
        gather(DOMAINS[0], network)
    asked = Counter(zoo.servers.queries)
    assert max(asked.values()) == 1
    assert sum(asked.values()) <= 30


def test_mx_records_of_an_unsigned_domain_are_shared_with_other_probes(zoo: Zoo) -> None:
    zoo.servers.queries.clear()
    with zoo.network() as network:
        gather(BY_NAME["unsigned.com"], network)
    assert zoo.servers.queries.count("unsigned.com. MX") == 1


def test_audit_can_store_the_evidence(zoo: Zoo) -> None:
    with zoo.network() as network:
        mail = gather(DOMAINS[0], network)
    assert pickle.loads(pickle.dumps(mail)) == mail


def test_operators_blocklist_counts_for_mail_servers(zoo: Zoo) -> None:
    zoo.mail.dialed.clear()
    with zoo.network() as network:
        policy = replace(network.policy, blocked_domains=("perfect.com",))
    with Network(policy, dialer=zoo.servers.dial) as network:
        dialog = contact_mail_server(network, "mx1.perfect.com", addresses_of(DOMAINS[0], 0)[0])
    assert dialog.state is MailState.REFUSED
    assert zoo.mail.dialed == []
