"""Checks of a domain's names and addresses in DNS, and of security.txt."""

from __future__ import annotations

import codecs
from collections.abc import Collection
from ipaddress import ip_network
from typing import Annotated, ClassVar

from msgspec.structs import replace

from website_scan.catalogue import Category, check
from website_scan.findings import HIGH, LOW, MEDIUM, NotApplicable
from website_scan.messages import excerpt, some
from website_scan.outcomes import Fail, Fix, Language, Pass, Review, Verdict, Warn, outcome
from website_scan.page.evidence import Clock
from website_scan.places import Column, Place, PlaceUrl
from website_scan.security.claimable_services import service_of
from website_scan.security.dns_places import (
    NO_OWN_DOMAIN,
    AliasRow,
    DnsRecord,
    NameServerRow,
)
from website_scan.security.domain_evidence import (
    Aliases,
    Ipv6Site,
    NameServer,
    NameServers,
    ServerState,
    SiteRecords,
    UnusedName,
)
from website_scan.security.evidence import SecurityTxt, TlsPeer
from website_scan.security.https_records import find_fault, read_https_records
from website_scan.security.security_txt import (
    SECURITY_TXT_FIELD,
    SECURITY_TXT_FIELDS,
    canonical_faults,
    content_faults,
    syntax_faults,
    transport_faults,
)
from website_scan.security.similar_pages import is_similar
from website_scan.values import Address, Count, Excerpt, Values, Word

CATEGORY = Category("Names and addresses", weight=2)

NO_RECORDS = NotApplicable("The name servers of this installation did not answer.")
NO_IPV6_HERE = NotApplicable("Not tested: this installation has no IPv6.")
# A bot protection or a limit for requests may treat the scanner's two addresses differently.
STATUS_OF_PROTECTION = frozenset({401, 403, 429, 503})
SILENT_STATES = frozenset({ServerState.SILENT, ServerState.LAME})


class SecurityTxtFile(Place, frozen=True):
    """Published security.txt file."""

    kind: ClassVar[str] = "security-txt"

    url: PlaceUrl
    fields: Annotated[str, Column("Fields")]


@check(
    "ipv6",
    name="Site is reachable over IPv6",
    outcomes={
        "missing": "No IPv6 address",
        "unreachable": outcome("Site does not answer over IPv6", MEDIUM),
        "different": outcome("Site answers differently over IPv6", MEDIUM, LOW),
    },
    why="Networks without IPv4 of their own reach other sites only through translators, which are slower and may fail.",
    severity=LOW,
    fix=Fix(
        "Enable IPv6 at your hosting service or CDN, and publish AAAA records that lead to the same site.",
        {Language.DNS: "example.com. AAAA 2001:db8::80"},
    ),
    references=("RFC 6540", "RFC 8305"),
)
def ipv6(records: SiteRecords, site: Ipv6Site) -> Verdict:
    if records.domain is None:
        return NO_OWN_DOMAIN
    if records.ipv6 is None:
        return NO_RECORDS
    host, rows = Excerpt(records.host), DnsRecord.from_records("AAAA", records.ipv6.records)
    if not rows:
        return Warn("missing", "{host} has no IPv6 address (AAAA record).", host=host)
    if not site.is_tested:
        return NO_IPV6_HERE if not site.has_ipv6 else NotApplicable("The page was requested with credentials.")
    if site.over_ipv6 is None:
        return Fail(
            "unreachable",
            "{host} has an IPv6 address, but does not answer there: {error}",
            host=host,
            error=Excerpt(site.error, 200),
            details=rows,
        )
    if site.over_ipv4 is None or is_similar(site.over_ipv6, site.over_ipv4):
        return Pass("{host} answers over IPv6 as over IPv4.", host=host, details=rows)
    status, other = Count(site.over_ipv6.status), Count(site.over_ipv4.status)
    if site.over_ipv6.status in STATUS_OF_PROTECTION:
        return Review(
            "different",
            "{host} answers with status {status} over IPv6, and with {other} over IPv4.",
            severity=LOW,
            host=host,
            status=status,
            other=other,
            details=rows,
        )
    if status.value == other.value:
        return Warn("different", "{host} sends another page over IPv6 than over IPv4.", host=host, details=rows)
    return Fail(
        "different",
        "{host} answers with status {status} over IPv6, and with {other} over IPv4.",
        host=host,
        status=status,
        other=other,
        details=rows,
    )


@check(
    "name-server-ipv6",
    name="Name servers are reachable over IPv6",
    outcomes={
        "missing": "Name servers have no IPv6 address",
        "one": "Only one name server has an IPv6 address",
        "unreachable": "Name server does not answer over IPv6",
    },
    why="Resolvers without IPv4 can look up the domain only at name servers with an IPv6 address.",
    severity=LOW,
    fix="Ask your DNS provider to enable IPv6 for the domain's name servers, or use a provider that has it.",
    references=("RFC 3901",),
)
def name_server_ipv6(servers: NameServers) -> Verdict:
    if servers.domain is None:
        return NO_OWN_DOMAIN
    resolved = [server for server in servers.servers if server.is_resolved]
    if not resolved:
        return NO_RECORDS
    domain, rows = Excerpt(servers.domain), NameServerRow.of(servers.servers)
    with_ipv6 = [server for server in resolved if any(address.is_ipv6 for address in server.addresses)]
    is_complete = len(resolved) == servers.total
    if not with_ipv6 and is_complete:
        return Warn("missing", "No name server of {domain} has an IPv6 address.", domain=domain, details=rows)
    silent = _servers_with(servers, SILENT_STATES, is_ipv6=True)
    if silent:
        return Warn(
            "unreachable",
            "{servers} of {domain} {servers:does|do} not answer over IPv6.",
            servers=Count(len(silent), "name server"),
            domain=domain,
            places=NameServerRow.of(silent),
        )
    if len(with_ipv6) == 1 and is_complete and servers.total > 1:
        return Warn("one", "Only one name server of {domain} has an IPv6 address.", domain=domain, details=rows)
    return Pass(
        "{servers} of {domain} {servers:has|have} an IPv6 address.",
        servers=Count(len(with_ipv6), "name server"),
        domain=domain,
        details=rows,
    )


@check(
    "name-servers",
    name="Name servers are in different networks",
    outcomes={
        "single": outcome("Only one name server", MEDIUM),
        "same-network": "All name servers are in one network",
    },
    why="If the only name server or its network fails, nobody can reach the site, nor any other service of the domain.",
    severity=MEDIUM,
    fix="Use at least two name servers in different networks, as most DNS providers do by default.",
    judged="The check compares networks of the size /24 for IPv4 and /48 for IPv6, which are announced separately. "
    "A network that is announced at many sites (anycast) is reliable, too, so one network is only a warning.",
    references=("RFC 1034, section 4.1", "RFC 2182, section 5", "RFC 3258"),
)
def name_servers(servers: NameServers) -> Verdict:
    if servers.domain is None:
        return NO_OWN_DOMAIN
    addresses = {address.address for address in servers.addresses}
    if not addresses or not all(server.is_resolved for server in servers.servers):
        return NO_RECORDS
    domain, rows = Excerpt(servers.domain), NameServerRow.of(servers.servers)
    networks = {_network(address) for address in addresses}
    families = {":" in address for address in addresses}
    has_one_network = len(networks) == len(families)
    if servers.total == 1 and has_one_network:
        return Fail("single", "{domain} has only one name server.", domain=domain, details=rows)
    if has_one_network and servers.total == len(servers.servers):
        return Warn(
            "same-network",
            "The {servers} of {domain} are in the same network: {networks}.",
            severity=None,
            servers=Count(servers.total, "name server"),
            domain=domain,
            networks=Values([Excerpt(network) for network in sorted(networks)]),
            details=rows,
        )
    return Pass(
        "{domain} has {servers} in {networks}.",
        domain=domain,
        servers=Count(servers.total, "name server"),
        networks=Count(len(networks), "network"),
        details=rows,
    )


@check(
    "lame-delegation",
    name="All name servers answer for the domain",
    outcomes={
        "silent": "Name server does not answer",
        "lame": "Name server does not serve the domain",
        "no-address": "Name server has no address",
    },
    why="Each look-up that reaches such a server takes seconds longer, and fails if the other servers fail, too.",
    severity=MEDIUM,
    fix="Remove the server from the domain's NS records at your registrar, or configure the zone on the server.",
    references=("RFC 1912, section 2.8", "RFC 9499, section 7"),
)
def lame_delegation(servers: NameServers) -> Verdict:
    if servers.domain is None:
        return NO_OWN_DOMAIN
    domain = Excerpt(servers.domain)
    nameless = [server for server in servers.servers if server.is_resolved and not server.addresses]
    lame = _servers_with(servers, {ServerState.LAME}, is_ipv6=None)
    silent = _servers_with(servers, {ServerState.SILENT}, is_ipv6=False)
    for name, faulty, summary in (
        ("no-address", nameless, "{servers} of {domain} {servers:has|have} no address."),
        ("lame", lame, "{servers} of {domain} {servers:does|do} not serve the domain."),
        ("silent", silent, "{servers} of {domain} {servers:does|do} not answer."),
    ):
        if faulty:
            count = Count(len(faulty), "name server")
            return Warn(name, summary, servers=count, domain=domain, places=NameServerRow.of(faulty))
    answering = _servers_with(servers, {ServerState.ANSWERS}, is_ipv6=None)
    if not answering:
        return NotApplicable("This installation cannot query the name servers of other domains.")
    return Pass(
        "{servers} of {domain} {servers:answers|answer}.",
        servers=Count(len(answering), "name server"),
        domain=domain,
        details=NameServerRow.of(servers.servers),
    )


@check(
    "zone-transfer",
    name="Zone transfer is restricted",
    outcomes={"open": "Anybody can transfer the zone"},
    why="A zone transfer lists all names of the domain, also those of internal and test systems, in one query.",
    severity=MEDIUM,
    fix="Allow transfers only to your secondary name servers: `allow-transfer` in BIND, `acl` in Knot DNS, "
    "`provide-xfr` in NSD, `allow-axfr-ips` in PowerDNS.",
    references=("RFC 5936, section 5", "CWE-200"),
)
def zone_transfer(servers: NameServers) -> Verdict:
    if servers.domain is None:
        return NO_OWN_DOMAIN
    tested = [server for server in servers.servers if server.transfers is not None]
    open_servers = [server for server in tested if server.transfers]
    domain = Excerpt(servers.domain)
    if open_servers:
        return Fail(
            "open",
            "{servers} of {domain} {servers:transfers|transfer} the zone to anybody.",
            servers=Count(len(open_servers), "name server"),
            domain=domain,
            places=[NameServerRow(excerpt(server.name, 255)) for server in open_servers],
        )
    if not tested:
        return NotApplicable("This installation cannot query the name servers of other domains.")
    return Pass(
        "{servers} of {domain} {servers:refuses|refuse} to transfer the zone.",
        servers=Count(len(tested), "name server"),
        domain=domain,
    )


@check(
    "https-record",
    name="HTTPS record agrees with the server",
    outcomes={
        "protocols": "HTTPS record names protocols that the server does not speak",
        "alias-loop": "HTTPS record points to its own name",
        "unavailable": "HTTPS record says that the site is not available",
        "mixed": "HTTPS records contradict each other",
        "mandatory": "HTTPS record requires parameters that it does not have",
        "port": "HTTPS record names another port",
    },
    why="Browsers connect as the HTTPS record says before they try anything else, so a wrong record delays visitors.",
    severity=MEDIUM,
    fix=Fix(
        "Publish what your server really offers, or delete the record: browsers do without it.",
        {Language.DNS: 'example.com. HTTPS 1 . alpn="h2"'},
    ),
    references=("RFC 9460", "RFC 9848"),
)
def https_record(records: SiteRecords, peer: TlsPeer) -> Verdict:
    if records.domain is None:
        return NO_OWN_DOMAIN
    if records.https is None:
        return NO_RECORDS
    parsed = read_https_records(records.https.records)
    if not parsed:
        return NotApplicable("The host has no HTTPS record.")
    host, rows = Excerpt(records.host), DnsRecord.from_records("HTTPS", records.https.records)
    fault = find_fault(parsed, records.host, peer)
    if fault is not None and fault.value:
        value = Word(excerpt(fault.value, 100))
        return Warn(fault.outcome, fault.summary, host=host, value=value, details=rows)
    if fault is not None:
        return Warn(fault.outcome, fault.summary, host=host, details=rows)
    return Pass(
        "{host} has {records}, with which the server agrees.",
        host=host,
        records=Count(len(parsed), "HTTPS record"),
        details=rows,
    )


@check(
    "dangling-alias",
    name="No alias leads to a name that is free",
    outcomes={
        "free-domain": "Alias leads to a domain that anybody can register",
        "free-name": "Alias leads to a name that anybody can claim",
        "unused-name": "Alias leads to a service that does not know it",
        "missing": outcome("Alias leads to a name that does not exist", LOW),
    },
    why="Whoever registers the name can publish pages, read cookies and obtain certificates in your domain's name.",
    consequence="Strangers can put a page of their own on your web address, and use it to deceive your customers.",
    severity=HIGH,
    fix="Delete the CNAME record, or create the site at the service again. In future, delete DNS records before the "
    "site that they lead to.",
    judged="The host, the domain, www and names on the page are looked up. The file "
    "`website_scan/security/claimable_services.toml` lists the services at which anybody can claim a name.",
    references=("OWASP WSTG-CONF-10", "CWE-350"),
)
def dangling_alias(aliases: Aliases) -> Verdict:
    if aliases.domain is None:
        return NO_OWN_DOMAIN
    free_domains = [alias for alias in aliases.aliases if alias.free_domain]
    if free_domains:
        return Fail(
            "free-domain",
            "{name} is an alias of a name in {free}, which has no owner or no name servers.",
            name=Excerpt(free_domains[0].name),
            free=Excerpt(free_domains[0].free_domain),
            places=AliasRow.of(free_domains),
        )
    missing = [alias for alias in aliases.aliases if alias.is_target_missing]
    services = {alias.name: service_of(alias.targets[-1]) for alias in aliases.aliases}
    free = [alias for alias in missing if (service := services[alias.name]) and service.missing_is_free]
    if free:
        return Fail(
            "free-name",
            "{name} is an alias of a name at {service} that does not exist.",
            name=Excerpt(free[0].name),
            service=Word(free[0].service),
            places=AliasRow.of(free),
        )
    if unused := [alias for alias in aliases.aliases if alias.says_unused]:
        unused.sort(key=lambda alias: bool((service := services[alias.name]) and service.may_be_reserved))
        first = services[unused[0].name]
        kind = Warn if first is not None and first.may_be_reserved else Fail
        return kind(
            "unused-name",
            "{name} is an alias of a name at {service}, which answers that nobody uses it.",
            name=Excerpt(unused[0].name),
            service=Word(unused[0].service),
            places=AliasRow.of(unused),
        )
    if missing:
        return Warn(
            "missing",
            "{names} of the domain {names:is an alias|are aliases} of names that do not exist.",
            names=Count(len(missing), "name"),
            places=AliasRow.of(missing),
        )
    return Pass(
        "{names} of the domain {names:was|were} looked up, {aliases} among them.",
        names=Count(aliases.names, "name"),
        aliases=Count(len(aliases.aliases), "alias", "aliases"),
        details=AliasRow.of(aliases.aliases),
    )


@check(
    "wildcard-alias",
    name="No wildcard leads to a shared service",
    outcomes={"claimable": "Wildcard leads to a service where anybody can claim names"},
    why="Other customers of the service can add any name of your domain that you do not use to a site of theirs.",
    severity=MEDIUM,
    fix="Replace the wildcard record by records for the names that you use.",
    references=("GitHub Pages, custom domains", "RFC 4592"),
)
def wildcard_alias(unused: UnusedName) -> Verdict:
    if unused.domain is None:
        return NO_OWN_DOMAIN
    if unused.answer is None:
        return NO_RECORDS
    domain = Excerpt(unused.domain)
    if not unused.answer.aliases and not unused.answer.records:
        return Pass("{domain} has no wildcard record for addresses.", domain=domain)
    targets = unused.answer.aliases
    service = service_of(targets[-1]) if targets else None
    if service is None or not service.wildcard_is_free:
        return Pass("The wildcard record of {domain} leads to no service where anybody can claim names.", domain=domain)
    return Fail(
        "claimable",
        "Every name of {domain} that has no record of its own leads to {service}.",
        domain=domain,
        service=Word(service.name),
        places=[AliasRow(f"*.{unused.domain}", excerpt(targets[-1], 255), service.name)],
    )


@check(
    "security-txt",
    name="security.txt is published",
    outcomes={
        "missing": "No security.txt",
        "no-fields": "security.txt has no fields",
        "media-type": "security.txt has the wrong media type",
        "no-contact": "security.txt has no valid contact",
        "no-expiry": "security.txt has no valid expiry date",
        "expired": "security.txt has expired",
        "canonical": "security.txt belongs to another address",
        "charset": "security.txt is not sent as UTF-8",
        "no-space": "security.txt lacks a space after a colon",
        "byte-order-mark": "security.txt begins with a byte order mark",
        "http-link": "security.txt has a link without HTTPS",
        "repeated": "security.txt repeats a field",
        "invalid": "security.txt is invalid",
    },
    why="People who find a vulnerability need a contact, to report it before others exploit it.",
    severity=LOW,
    fix="Serve `/.well-known/security.txt` as `text/plain` with the lines `Contact: mailto:security@example.com` and "
    "`Expires: 2030-01-01T00:00:00Z`, where the time is less than a year away.",
    references=("RFC 9116",),
)
def security_txt(file: SecurityTxt, clock: Clock) -> Verdict:
    if file.response is None:
        return Warn("missing", "There is no /.well-known/security.txt.")
    text = file.response.body.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace")
    fields = [
        (match[1].lower(), match[2])
        for line in text.splitlines()[:500]
        if (match := SECURITY_TXT_FIELD.match(line)) and not match[2].startswith("//")
    ]
    names = {name for name, _ in fields}
    if not names & SECURITY_TXT_FIELDS:
        # Some hosts, such as APIs, answer all paths with the same content.
        return Warn("no-fields", "/.well-known/security.txt has none of the fields of such a file.")
    values = [(name, value.strip()) for name, value in fields]
    faults = [
        *transport_faults(file.response),
        *content_faults(values, clock.now),
        *syntax_faults(fields),
        *canonical_faults(file, values),
    ]
    place = SecurityTxtFile(excerpt(file.response.url), some(sorted(names)))
    if faults:
        return Fail(
            faults[0][0] if len(faults) == 1 else "invalid",
            "{url} is invalid: {faults}.",
            url=Address(file.response.url),
            faults=Values([clause for _, clause in faults], "; "),
            places=[place],
        )
    contacts = Count(sum(name == "contact" for name, _ in fields), "contact")
    return Pass("security.txt names {contacts}.", contacts=contacts, details=[place])


def _servers_with(servers: NameServers, states: Collection[ServerState], *, is_ipv6: bool | None) -> list[NameServer]:
    """Return the name servers with an address in one of these states, each with only its first such address.

    `is_ipv6` is None for addresses of both families.
    """
    found = []
    for server in servers.servers:
        for address in server.addresses:
            if address.state in states and is_ipv6 in (None, address.is_ipv6):
                found.append(replace(server, addresses=(address,)))
                break
    return found


def _network(address: str) -> str:
    return str(ip_network(f"{address}/{48 if ':' in address else 24}", strict=False))
