"""Run the probes and checks of mail on the mail zoo."""

from __future__ import annotations

import pickle
import socket
import statistics
import time
from collections.abc import Iterator

import pytest
from msgspec import Struct

from tests.targets.domains.mail_models import MAIL_MODELS, MODEL_SERVICES
from tests.targets.domains.mail_table import MAIL_DOMAINS, SERVICES
from tests.targets.domains.mail_zones import STS_PATH, MailDomain, mail_zones
from tests.targets.domains.servers import NameServers, running_name_servers
from tests.targets.domains.table import DOMAINS, MODELS, WEB
from tests.targets.domains.world import providers_of
from tests.targets.server import Answer, Certificate, Request, Site
from tests.website_scan.cast import outcome, target
from tests.website_scan.net.seams import Elsewhere
from tests.website_scan.security.cast import NOW
from website_scan.net import name_servers as name_server_queries
from website_scan.net.budget import Limits
from website_scan.net.client import Network
from website_scan.net.policy import Policy
from website_scan.outcomes import Verdict
from website_scan.page.evidence import Clock
from website_scan.security.checks import mail, mail_delivery, mail_signatures
from website_scan.security.evidence import MailRecords
from website_scan.security.mail_evidence import Bimi, DkimKeys, DmarcReports, MailServers, MtaSts, TlsReporting
from website_scan.security.probes.mail import mail_records, mail_servers
from website_scan.security.probes.mail_policies import bimi, dkim_keys, dmarc_reports, mta_sts, tls_reporting
from website_scan.security.probes.names import unused_name

ALL = (*MAIL_DOMAINS, *MAIL_MODELS)
BY_HOST = {f"mta-sts.{domain.name}": domain for domain in ALL}
MAX_QUERIES = 30
MAX_CPU_S = 0.05


class Gathered(Struct, frozen=True):
    """Evidence of a domain's mail."""

    mail: MailRecords
    servers: MailServers
    keys: DkimKeys
    reports: DmarcReports
    sts: MtaSts
    tls: TlsReporting
    logo: Bimi


class PolicyHost(Struct):
    """Dialer for the host with policies and logos of all domains."""

    site: Site

    def __call__(self, address: str, port: int, timeout_s: float) -> socket.socket:
        if address != WEB:
            raise ConnectionRefusedError
        connection = Elsewhere(socket.AF_INET, socket.SOCK_STREAM)
        connection.settimeout(timeout_s)
        connection.connect((self.site.address, self.site.port))
        connection.claimed = (address, port)
        return connection


def serve_file(request: Request) -> Answer | None:
    host = next(value for name, value in request.headers if name.lower() == "host")
    domain = BY_HOST[host]
    return domain.policy if request.path == STS_PATH else domain.logo


@pytest.fixture(scope="module")
def policy_host() -> Iterator[Site]:
    names = [host for host, domain in BY_HOST.items() if domain.policy is not None or domain.logo is not None]
    with Site({"*": serve_file}, certificate=Certificate.VALID, names=names) as site:
        yield site


@pytest.fixture(scope="module")
def zoo(policy_host: Site) -> Iterator[NameServers]:
    monkeypatch = pytest.MonkeyPatch()
    # On a busy machine, the servers of the zoo may need longer than those of the internet.
    monkeypatch.setattr(name_server_queries, "RECORD_QUERY_TIMEOUT_S", 30.0)
    world = mail_zones(ALL, SERVICES | MODEL_SERVICES)
    with running_name_servers(world, providers_of(world), monkeypatch, PolicyHost(policy_host)) as servers:
        yield servers
    monkeypatch.undo()


def network(servers: NameServers, site: Site) -> Network:
    policy = Policy(ca_bundle=site.ca_file)
    return Network(policy, dialer=servers.dial, datagrams=servers.dial_datagrams, limits=Limits(connect_s=30.0))


def gather(name: str, net: Network) -> Gathered:
    host = target(f"https://www.{name}/")
    records = mail_records(host, net)
    sts = mta_sts(records, net)
    return Gathered(
        records,
        mail_servers(records, net),
        dkim_keys(records, unused_name(host, net, Clock(NOW)), net),
        dmarc_reports(records, net),
        sts,
        tls_reporting(records, net),
        bimi(records, net),
    )


def verdicts(evidence: Gathered) -> dict[str, Verdict]:
    return {
        "mx": mail_delivery.mx(evidence.mail, evidence.servers),
        "spf": mail.spf(evidence.mail),
        "dmarc": mail.dmarc(evidence.mail),
        "dmarc-reports": mail_signatures.dmarc_reports(evidence.mail, evidence.reports),
        "dkim": mail_signatures.dkim(evidence.mail, evidence.keys),
        "mta-sts": mail_delivery.mta_sts(evidence.mail, evidence.sts),
        "tls-rpt": mail_delivery.tls_rpt(evidence.mail, evidence.sts, evidence.tls),
        "bimi": mail_signatures.bimi(evidence.mail, evidence.logo),
    }


@pytest.mark.parametrize("domain", ALL, ids=lambda domain: domain.name)
def test_mail_domain_has_the_outcomes_that_the_rfcs_demand(
    domain: MailDomain, zoo: NameServers, policy_host: Site
) -> None:
    with network(zoo, policy_host) as net:
        outcomes = {name: outcome(finding) for name, finding in verdicts(gather(domain.name, net)).items()}
        assert outcomes == domain.outcomes, f"{domain.because} ({domain.rule})"
        assert net.dns.queries <= MAX_QUERIES


def test_zoo_has_many_domains() -> None:
    names = [domain.name for domain in (*DOMAINS, *MODELS, *ALL)]
    assert len(set(names)) == len(names) >= 150
    assert len(MAIL_MODELS) >= 13
    assert len(MODELS) + len(MAIL_MODELS) >= 30


def test_mail_queries_are_sent_once_and_few(zoo: NameServers, policy_host: Site) -> None:
    counts = []
    for domain in ALL:
        zoo.queries.clear()
        with network(zoo, policy_host) as net:
            gather(domain.name, net)
            counts.append(net.dns.queries)
        # The host of the policy is resolved apart, with the protection of a validating resolver.
        records = [query for query in zoo.queries if not query.startswith("mta-sts.")]
        assert len(set(records)) == len(records), domain.name
    assert statistics.median(counts) <= 14


def test_policy_of_other_host_is_not_requested(zoo: NameServers, policy_host: Site) -> None:
    """RFC 8461, section 3.3: senders do not follow redirects."""
    policy_host.requests.clear()
    with network(zoo, policy_host) as net:
        found = gather("sts-redirect.com", net)
    assert found.sts.policy is not None
    assert [dict(request.headers)["Host"] for request in policy_host.requests] == ["mta-sts.sts-redirect.com"]


def test_audit_can_store_mail_evidence(zoo: NameServers, policy_host: Site) -> None:
    """The visits of an audit share evidence of the domain, which is pickled."""
    with network(zoo, policy_host) as net:
        found = gather("dkim-2048.com", net)
    assert pickle.loads(pickle.dumps(found)) == found


def test_mail_costs_little_processor_time_when_warm(zoo: NameServers, policy_host: Site) -> None:
    times = []
    for _ in range(6):
        with network(zoo, policy_host) as net:
            begin = time.thread_time()
            verdicts(gather("dkim-2048.com", net))
            times.append(time.thread_time() - begin)
    assert min(times[1:]) < MAX_CPU_S
