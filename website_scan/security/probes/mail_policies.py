"""Probes of DKIM keys, MTA-STS, TLS-RPT, BIMI, and of the receivers of DMARC reports."""

from __future__ import annotations

from website_scan.catalogue import probe
from website_scan.net.client import Network
from website_scan.net.errors import BudgetExceeded, NetError, NotReachable, TimedOut
from website_scan.net.http.request import Request
from website_scan.net.http.response import Response
from website_scan.net.targets import InvalidUrl
from website_scan.page.registrable_domain import is_same_site
from website_scan.security.bimi import is_bimi_record, logo_url
from website_scan.security.dkim import is_key_record, usual_selectors
from website_scan.security.dmarc import is_dmarc_record, report_addresses
from website_scan.security.domain_evidence import UnusedName
from website_scan.security.evidence import MailRecords
from website_scan.security.mail_evidence import Bimi, DkimKeys, DmarcReports, MtaSts, TlsReporting
from website_scan.security.mta_sts import REPORT_VERSION, STS_VERSION, resembles, version_records
from website_scan.security.probes.mail import records_of

MAX_SELECTORS = 3
MAX_REPORT_DOMAINS = 2  # Receivers need not send reports to more addresses (RFC 7489, section 6.2).
MAX_POLICY_BYTES = 64 * 1024  # RFC 8461, section 3.3
MAX_LOGO_BYTES = 128 * 1024
TIMEOUT_S = 5.0


@probe(of_origin=True)
def dkim_keys(mail: MailRecords, unused: UnusedName, network: Network) -> DkimKeys:
    """Look up whether names below `_domainkey` exist (RFC 8020), and the usual selectors of the domain's services."""
    if mail.domain is None or not mail.sends_mail:
        return DkimKeys(mail.domain)
    parent = f"_domainkey.{mail.domain}"
    try:
        code = network.dns.unvalidated_records(parent, "TXT").code
    except NetError:
        return DkimKeys(mail.domain)
    records: dict[str, tuple[str, ...]] = {}
    for selector in usual_selectors(mail.mail_names)[:MAX_SELECTORS]:
        try:
            texts = records_of(f"{selector}.{parent}", "TXT", network)
        except NotReachable:
            continue
        except NetError:
            break
        if keys := tuple(filter(is_key_record, texts)):
            records[selector] = keys
    has_wildcard = unused.answer is None or unused.answer.code == "NOERROR"
    return DkimKeys(mail.domain, code, records, has_wildcard)


@probe(of_origin=True)
def dmarc_reports(mail: MailRecords, network: Network) -> DmarcReports:
    """Look up whether domains elsewhere accept the domain's DMARC reports (RFC 9990, section 4)."""
    if mail.domain is None or len(mail.dmarc) != 1:
        return DmarcReports(mail.domain)
    hosts = [address.host for address in report_addresses(mail.dmarc[0]) if address.host]
    foreign = [host for host in dict.fromkeys(hosts) if not is_same_site(host, mail.domain)]
    return DmarcReports(mail.domain, _consents(mail.domain, foreign[:MAX_REPORT_DOMAINS], network))


def _consents(domain: str, hosts: list[str], network: Network) -> dict[str, bool | None]:
    consents: dict[str, bool | None] = dict.fromkeys(hosts)
    for host in hosts:
        try:
            texts = records_of(f"{domain}._report._dmarc.{host}", "TXT", network)
        except NotReachable:
            continue
        except NetError:
            break
        consents[host] = any(map(is_dmarc_record, texts))
    return consents


@probe(of_origin=True)
def mta_sts(mail: MailRecords, network: Network) -> MtaSts:
    """Look up the MTA-STS record of a domain that receives mail, and request its policy.

    Redirects are not followed, and the certificate has to be valid (RFC 8461, section 3.3).
    """
    texts = _texts(mail, "_mta-sts", network)
    if texts is None:
        return MtaSts(mail.domain)
    records = tuple(text for text in texts if resembles(text, STS_VERSION))
    if len(version_records(records, STS_VERSION)) != 1:
        return MtaSts(mail.domain, records)
    policy, error = _fetch(f"https://mta-sts.{mail.domain}/.well-known/mta-sts.txt", MAX_POLICY_BYTES, network)
    return MtaSts(mail.domain, records, policy, error)


@probe(of_origin=True)
def tls_reporting(mail: MailRecords, network: Network) -> TlsReporting:
    """Look up the TLS-RPT record of a domain that receives mail."""
    texts = _texts(mail, "_smtp._tls", network)
    if texts is None:
        return TlsReporting(mail.domain)
    return TlsReporting(mail.domain, tuple(text for text in texts if resembles(text, REPORT_VERSION)))


@probe(of_origin=True)
def bimi(mail: MailRecords, network: Network) -> Bimi:
    """Look up the BIMI record of a domain with a DMARC record, and request its logo."""
    if mail.domain is None or not mail.dmarc:
        return Bimi(mail.domain)
    try:
        texts = records_of(f"default._bimi.{mail.domain}", "TXT", network)
    except NetError:
        return Bimi(mail.domain)
    records = tuple(filter(is_bimi_record, texts))
    url = logo_url(records[0]) if len(records) == 1 else ""
    if not url.lower().startswith("https://"):
        return Bimi(mail.domain, records)
    logo, error = _fetch(url, MAX_LOGO_BYTES, network)
    return Bimi(mail.domain, records, logo, error)


def _texts(mail: MailRecords, label: str, network: Network) -> tuple[str, ...] | None:
    """Return the TXT records of a name in a domain that receives mail, None if they are not known."""
    if mail.domain is None or not mail.receives_mail:
        return None
    try:
        return records_of(f"{label}.{mail.domain}", "TXT", network)
    except NetError:
        return None


def _fetch(url: str, max_bytes: int, network: Network) -> tuple[Response | None, str]:
    """Return the response, or an empty text or the reason without one.

    Raises TimedOut or BudgetExceeded if the scan has no time or requests left.
    """
    try:
        return network.fetch(Request(url, max_bytes=max_bytes, timeout_s=TIMEOUT_S)), ""
    except BudgetExceeded:
        raise
    except TimedOut as error:
        if network.remaining_s <= 0:
            raise
        return None, str(error)
    except (NetError, InvalidUrl) as error:
        return None, str(error)
