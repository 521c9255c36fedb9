from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.website_scan.cast import message, outcome, rows, severity_of, verdict
from tests.website_scan.security.cast import NO_PEER, NOW, peer, response
from website_scan.findings import LOW
from website_scan.net.dnssec.answers import SignedAnswer
from website_scan.net.http.response import Response
from website_scan.outcomes import Review
from website_scan.page.evidence import Clock
from website_scan.page.registrable_domain import own_domain
from website_scan.security.checks import mail as mail_checks
from website_scan.security.checks import names as checks
from website_scan.security.claimable_services import claimable_services, service_of
from website_scan.security.domain_evidence import (
    Alias,
    Aliases,
    Ipv6Site,
    NameServer,
    NameServers,
    ServerAddress,
    ServerState,
    SiteRecords,
    UnusedName,
)
from website_scan.security.evidence import MailRecords, SecurityTxt

CLOCK = Clock(NOW)
DOMAIN, HOST = "example.com", "www.example.com"
GOOD = "Contact: mailto:security@example.com\nExpires: 2027-01-01T00:00:00Z\n"


@pytest.mark.parametrize(
    ("body", "media_type", "expected", "expected_text"),
    [
        (GOOD, "text/plain; charset=utf-8", "pass", ""),
        (f"-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n# ours\r\n{GOOD}", "text/plain", "pass", ""),
        ("contact: https://example.com/report\nexpires: 2027-01-01t00:00:00+02:00", "TEXT/PLAIN", "pass", ""),
        ("Contact: tel:+49-30-123\nContact: nonsense\nExpires: 2027-01-01T00:00:00.5Z", "text/plain", "pass", ""),
        (GOOD, "application/octet-stream", "media-type", "not as text/plain"),
        (GOOD, "", "media-type", "not as text/plain"),
        ("Expires: 2027-01-01T00:00:00Z", "text/plain", "no-contact", "Contact is missing"),
        ("Contact: security@example.com\nExpires: 2027-01-01T00:00:00Z", "text/plain", "no-contact", "no Contact is"),
        ("Contact: mailto:a@example.com", "text/plain", "no-expiry", "Expires is missing"),
        (f"{GOOD}Expires: 2027-01-01T00:00:00Z", "text/plain", "no-expiry", "more than once"),
        ("Contact: mailto:a@b.c\nExpires: 2026-11-20T00:00:00Z", "text/plain", "expired", "expired on 2026-11-20"),
        ("Contact: mailto:a@example.com\nExpires: next year", "text/plain", "no-expiry", "cannot be read"),
        ("Contact: mailto:a@example.com\nExpires: 2027-02-30T00:00:00Z", "text/plain", "no-expiry", "cannot be read"),
        ("Contact: mailto:a@b.c\nExpires: 0001-01-01T00:00:00+14:00", "text/plain", "expired", "on 0001-01-01"),
        ("Policy: https://example.com/", "text/plain", "invalid", "Contact is missing; Expires is missing"),
        # RFC 9116, section 2.5.2: a file at another address is not trustworthy.
        (f"{GOOD}Canonical: https://elsewhere.example.net/.well-known/security.txt", "text/plain", "canonical",
         "elsewhere.example.net"),
        (f"{GOOD}Canonical: https://example.com/security.txt", "text/plain", "canonical", "not this address"),
        (f"{GOOD}Canonical: HTTPS://Example.com:443/.well-known/security.txt", "text/plain", "pass", ""),
        (f"{GOOD}Canonical: https://a.example/\nCanonical: https://example.com/.well-known/security.txt", "text/plain",
         "pass", ""),
        # RFC 9116, section 3: the charset is UTF-8.
        (GOOD, "text/plain; charset=iso-8859-1", "charset", "charset iso-8859-1, not utf-8"),
        (GOOD, "text/plain; charset=us-ascii", "charset", "us-ascii"),
        (GOOD, 'text/plain; format=flowed; Charset="UTF-8"', "pass", ""),
        # RFC 9116, section 4: a colon and a space.
        (GOOD.replace(": ", ":", 1), "text/plain", "no-space", "Contact has no space"),
        (GOOD.replace("Expires: ", "Expires:\t"), "text/plain", "no-space", "Expires has no space"),
        (f"{GOOD}# https://example.com\nsee https://example.com\nhttps://example.com", "text/plain", "pass", ""),
        (f"{GOOD}X-Note:no space", "text/plain", "pass", ""),
        # RFC 5198, section 2: no byte order mark.
        (f"\ufeff{GOOD}", "text/plain", "byte-order-mark", "byte order mark"),
        # RFC 9116, sections 2.5.1 to 2.5.8.
        (f"{GOOD}Policy: http://example.com/policy", "text/plain", "http-link", "Policy is not an https: address"),
        (f"{GOOD}Contact: http://example.com/", "text/plain", "http-link", "Contact is not an https: address"),
        (f"{GOOD}Encryption: openpgp4fpr:5f2de5521c63a801ab59ccb603d49de44b29100f", "text/plain", "pass", ""),
        (f"{GOOD}Preferred-Languages: en\nPreferred-Languages: fr", "text/plain", "repeated", "Preferred-Languages"),
    ],
)  # fmt: skip
def test_security_txt_check_verdict(body: str, media_type: str, expected: str, expected_text: str) -> None:
    headers = [("Content-Type", media_type)] if media_type else []
    url = "https://example.com/.well-known/security.txt"
    finding = checks.security_txt(SecurityTxt(response(url, *headers, body=body.encode())), CLOCK)
    assert outcome(finding) == expected
    assert verdict(finding) in ("pass", "fail")
    assert expected_text in message(finding)
    assert [row["url"] for row in rows(finding)] == [url]


def test_security_txt_must_be_utf_8() -> None:
    file = response("https://example.com/", ("Content-Type", "text/plain"), body=f"{GOOD}# Größe".encode("cp1252"))
    assert outcome(checks.security_txt(SecurityTxt(file), CLOCK)) == "charset"


def test_canonical_may_redirect() -> None:
    requested_url = "https://example.com/.well-known/security.txt"
    body = f"{GOOD}Canonical: {requested_url}".encode()
    file = response("https://www.example.net/security.txt", ("Content-Type", "text/plain"), body=body)
    assert outcome(checks.security_txt(SecurityTxt(file, requested_url), CLOCK)) == "pass"
    assert outcome(checks.security_txt(SecurityTxt(file), CLOCK)) == "canonical"


@pytest.mark.parametrize(
    ("canonical", "expected"),
    [
        ("HTTPS://EXAMPLE.COM:443/.well-known/security.txt", "pass"),
        ("https://example.com/.well%2Dknown/security.txt", "pass"),
        ("https://example.com/%2ewell-known/security.txt", "pass"),
        ("https://example.com/.Well-Known/security.txt", "canonical"),
        ("https://example.com/.well-known%2Fsecurity.txt", "canonical"),
    ],
)
def test_canonical_is_compared_as_url(canonical: str, expected: str) -> None:
    """RFC 3986, section 6.2.2.

    Escapes of unreserved characters and the case of scheme and host do not matter.
    """
    requested_url = "https://example.com/.well-known/security.txt"
    file = response(requested_url, ("Content-Type", "text/plain"), body=f"{GOOD}Canonical: {canonical}".encode())
    assert outcome(checks.security_txt(SecurityTxt(file, requested_url), CLOCK)) == expected


def test_missing_security_txt_is_warning() -> None:
    finding = checks.security_txt(SecurityTxt(None), CLOCK)
    assert (verdict(finding), outcome(finding)) == ("warn", "missing")
    assert severity_of(checks.security_txt, finding) == LOW


@pytest.mark.parametrize("body", ["", "ok", "Not found: /.well-known/security.txt"])
def test_security_txt_needs_fields(body: str) -> None:
    file = response("https://api.example.com/", ("Content-Type", "text/plain"), body=body.encode())
    finding = checks.security_txt(SecurityTxt(file), CLOCK)
    assert (verdict(finding), outcome(finding)) == ("warn", "no-fields")


@given(st.text(max_size=200))
def test_security_txt_check_accepts_any_text(text: str) -> None:
    file = response("https://example.com/", body=f"Expires: {text}\n{text}".encode())
    assert verdict(checks.security_txt(SecurityTxt(file), CLOCK)) in ("pass", "fail")


def server(
    name: str, *addresses: str, states: tuple[ServerState, ...] = (), transfers: bool | None = False
) -> NameServer:
    """Return a name server whose addresses answer, unless `states` says otherwise."""
    known = states or (ServerState.ANSWERS,) * len(addresses)
    return NameServer(
        name,
        tuple(ServerAddress(address, state) for address, state in zip(addresses, known, strict=True)),
        transfers=transfers,
    )


def servers(*found: NameServer, total: int | None = None) -> NameServers:
    return NameServers(DOMAIN, found, len(found) if total is None else total)


def site_records(
    ipv6: tuple[str, ...] = ("2001:500:2::c",), https: tuple[str, ...] = (), *, has_answer: bool = True
) -> SiteRecords:
    return SiteRecords(
        DOMAIN,
        HOST,
        ipv4=SignedAnswer(HOST, "A", "NOERROR", ("93.184.215.14",)),
        ipv6=SignedAnswer(HOST, "AAAA", "NOERROR", ipv6) if has_answer else None,
        https=SignedAnswer(HOST, "HTTPS", "NOERROR", https) if has_answer else None,
    )


# Name servers of usual providers, with their documented addresses: a careless check would blame them.
PROVIDERS = {
    "Cloudflare": servers(
        server("ada.ns.cloudflare.com", "108.162.192.58", "172.64.32.58", "173.245.58.58", "2606:4700:50::adf5:3a3a",
               "2803:f800:50::6ca2:c03a", "2a06:98c1:50::ac40:203a"),
        server("bob.ns.cloudflare.com", "108.162.193.104", "172.64.33.104", "173.245.59.104",
               "2606:4700:58::adf5:3b68", "2803:f800:50::6ca2:c168", "2a06:98c1:50::ac40:2168"),
    ),
    "Amazon Route 53": servers(
        server("ns-1.awsdns-00.com", "205.251.192.1", "2600:9000:5300:100::1"),
        server("ns-520.awsdns-01.net", "205.251.194.8", "2600:9000:5302:800::1"),
        server("ns-1025.awsdns-00.org", "205.251.196.1", "2600:9000:5304:100::1"),
        server("ns-1540.awsdns-00.co.uk", "205.251.198.4", "2600:9000:5306:400::1"),
    ),
    "Google Cloud DNS": servers(
        server("ns-cloud-a1.googledomains.com", "216.239.32.106", "2001:4860:4802:32::6a"),
        server("ns-cloud-a2.googledomains.com", "216.239.34.106", "2001:4860:4802:34::6a"),
    ),
    "NS1": servers(
        server("dns1.p01.nsone.net", "198.51.44.1", "2620:4d:4000:6259:7:1:0:1"),
        server("dns2.p01.nsone.net", "198.51.45.1", "2a00:edc0:6259:7:1::2"),
    ),
    "DigitalOcean": servers(
        server("ns1.digitalocean.com", "173.245.58.51", "2400:cb00:2049:1::adf5:3a33"),
        server("ns2.digitalocean.com", "173.245.59.41", "2400:cb00:2049:1::adf5:3b29"),
        server("ns3.digitalocean.com", "198.41.222.173", "2400:cb00:2049:1::c629:dead"),
    ),
    "deSEC": servers(
        server("ns1.desec.io", "45.54.76.1", "2607:f740:e633:deec::2"),
        server("ns2.desec.org", "157.53.224.1", "2607:f740:e00a:deec::2"),
    ),
    "OVHcloud": servers(
        server("dns10.ovh.net", "213.251.188.129", "2001:41d0:1:4a81::1"),
        server("ns10.ovh.net", "213.251.128.129", "2001:41d0:1:1981::1"),
    ),
    "IONOS": servers(
        server("ns1045.ui-dns.de", "217.160.80.45", "2001:8d8:fe:53:0:d9a0:502d:100"),
        server("ns1045.ui-dns.org", "217.160.81.45", "2001:8d8:fe:53:0:d9a0:512d:100"),
        server("ns1045.ui-dns.com", "217.160.82.45", "2001:8d8:fe:53:0:d9a0:522d:100"),
        server("ns1045.ui-dns.biz", "217.160.83.45", "2001:8d8:fe:53:0:d9a0:532d:100"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("provider", PROVIDERS)
def test_name_servers_of_usual_providers_pass(provider: str) -> None:
    found = PROVIDERS[provider]
    for check in (checks.name_servers, checks.name_server_ipv6, checks.lame_delegation, checks.zone_transfer):
        assert verdict(check(found)) == "pass", check


SILENT, LAME, UNTESTED, REFUSED = (
    ServerState.SILENT, ServerState.LAME, ServerState.NOT_TESTED, ServerState.REFUSED,
)  # fmt: skip


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (servers(server("a", "192.0.2.1")), "single"),
        # One name may stand for servers in several networks.
        (servers(server("a", "192.0.2.1", "198.51.100.1")), "pass"),
        (servers(server("a", "192.0.2.1"), server("b", "192.0.2.2")), "same-network"),
        (servers(server("a", "192.0.2.1"), server("b", "192.0.2.1")), "same-network"),
        (servers(server("a", "192.0.2.1", "2001:db8::1"), server("b", "192.0.2.2", "2001:db8::2")), "same-network"),
        # IPv6 addresses of one network do not matter, if those of IPv4 are in two.
        (servers(server("a", "192.0.2.1", "2001:db8::1"), server("b", "198.51.100.2", "2001:db8::2")), "pass"),
        # Others of 13 name servers were not looked up.
        (servers(server("a", "192.0.2.1"), server("b", "192.0.2.2"), total=13), "pass"),
        (servers(NameServer("a", is_resolved=False), server("b", "192.0.2.1")), "n/a"),
        (servers(), "n/a"),
        (NameServers(None), "n/a"),
    ],
)
def test_name_servers_check_verdict(found: NameServers, expected: str) -> None:
    assert outcome(checks.name_servers(found)) == expected


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (servers(server("a", "192.0.2.1"), server("b", "192.0.2.2")), "missing"),
        (servers(server("a", "192.0.2.1", "2001:db8::1"), server("b", "192.0.2.2")), "one"),
        (servers(server("a", "192.0.2.1", "2001:db8::1")), "pass"),
        # More name servers were not looked up, and may have IPv6.
        (servers(server("a", "192.0.2.1"), server("b", "192.0.2.2"), total=13), "pass"),
        (servers(NameServer("a", is_resolved=False)), "n/a"),
        # An installation without IPv6 has tested no address.
        (
            servers(server("a", "2001:db8::1", states=(UNTESTED,)), server("b", "2001:db8:1::1", states=(UNTESTED,))),
            "pass",
        ),
        (servers(server("a", "2001:db8::1"), server("b", "2001:db8:1::1", states=(SILENT,))), "unreachable"),
        (servers(server("a", "2001:db8::1"), server("b", "2001:db8:1::1", states=(REFUSED,))), "pass"),
    ],
)
def test_name_server_ipv6_check_verdict(found: NameServers, expected: str) -> None:
    assert outcome(checks.name_server_ipv6(found)) == expected


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (servers(server("a", "192.0.2.1"), server("b", "192.0.2.2", states=(SILENT,))), "silent"),
        (servers(server("a", "192.0.2.1"), server("b", "192.0.2.2", states=(LAME,))), "lame"),
        (servers(server("a", "192.0.2.1"), server("b")), "no-address"),
        (servers(server("a", "192.0.2.1"), NameServer("b", is_resolved=False)), "pass"),
        (servers(server("a", "192.0.2.1"), server("b", "10.0.0.1", states=(REFUSED,))), "pass"),
        # IPv6 has a check of its own.
        (servers(server("a", "192.0.2.1"), server("b", "2001:db8::1", states=(SILENT,))), "pass"),
        # A firewall of the installation lets no DNS query through.
        (servers(server("a", "192.0.2.1", states=(UNTESTED,)), server("b", "192.0.2.2", states=(UNTESTED,))), "n/a"),
    ],
)
def test_lame_delegation_check_verdict(found: NameServers, expected: str) -> None:
    finding = checks.lame_delegation(found)
    assert outcome(finding) == expected
    assert verdict(finding) in ("pass", "warn", "n/a")


@pytest.mark.parametrize(
    ("transfers", "expected"),
    [((False, False), "pass"), ((False, True), "open"), ((None, False), "pass"), ((None,), "n/a")],
)
def test_zone_transfer_check_verdict(transfers: tuple[bool | None, ...], expected: str) -> None:
    found = servers(*(server(f"ns{number}", "192.0.2.1", transfers=answer) for number, answer in enumerate(transfers)))
    assert outcome(checks.zone_transfer(found)) == expected


PAGE = b"<!doctype html><title>Shop</title><h1>Shop</h1>" + b"<p>Shoes" * 20


def _answer(status: int = 200, body: bytes = PAGE, media_type: str = "text/html") -> Response:
    return response(f"https://{HOST}/", ("Content-Type", media_type), status=status, body=body)


@pytest.mark.parametrize(
    ("records", "site", "expected"),
    [
        (site_records(()), Ipv6Site(is_tested=False), "missing"),
        (site_records(), Ipv6Site(is_tested=False, has_ipv6=False), "n/a"),
        (site_records(), Ipv6Site(is_tested=False), "n/a"),
        (site_records(has_answer=False), Ipv6Site(is_tested=False), "n/a"),
        (SiteRecords(None), Ipv6Site(is_tested=False), "n/a"),
        (site_records(), Ipv6Site(is_tested=True, error="It refuses connections."), "unreachable"),
        (site_records(), Ipv6Site(is_tested=True, over_ipv6=_answer(), over_ipv4=_answer()), "pass"),
        # Over IPv4, the second request failed, so nothing can be compared.
        (site_records(), Ipv6Site(is_tested=True, over_ipv6=_answer(404)), "pass"),
        (site_records(), Ipv6Site(is_tested=True, over_ipv6=_answer(404), over_ipv4=_answer()), "different"),
        (site_records(), Ipv6Site(is_tested=True, over_ipv6=_answer(403), over_ipv4=_answer()), "different"),
        (
            site_records(),
            Ipv6Site(is_tested=True, over_ipv6=_answer(body=b"<title>Welcome to nginx!</title>"), over_ipv4=_answer()),
            "different",
        ),
        # News and advertisements change between two requests.
        (
            site_records(),
            Ipv6Site(is_tested=True, over_ipv6=_answer(body=PAGE + b"<p>News" * 9), over_ipv4=_answer()),
            "pass",
        ),
        (
            site_records(),
            Ipv6Site(
                is_tested=True,
                over_ipv6=_answer(body=PAGE.replace(b"<title>Shop", b"<title>Schuhe")),
                over_ipv4=_answer(),
            ),
            "pass",
        ),
    ],
)
def test_ipv6_check_verdict(records: SiteRecords, site: Ipv6Site, expected: str) -> None:
    assert outcome(checks.ipv6(records, site)) == expected


def test_bot_protection_over_ipv6_needs_review() -> None:
    site = Ipv6Site(is_tested=True, over_ipv6=_answer(403), over_ipv4=_answer())
    finding = checks.ipv6(site_records(), site)
    assert isinstance(finding, Review)
    assert severity_of(checks.ipv6, finding) == LOW


@pytest.mark.parametrize(
    ("records", "alpn", "expected"),
    [
        ((), "h2", "n/a"),
        (('1 . alpn="h2,h3"',), "h2", "pass"),
        # Clients also try HTTP/1.1, unless the record has no-default-alpn.
        (('1 . alpn="h3"',), "http/1.1", "pass"),
        (('1 . alpn="h2"',), "http/1.1", "protocols"),
        (('1 . alpn="h2"',), "", "protocols"),
        (('1 cdn.example.net. alpn="h2"',), "", "pass"),
        (("1 .",), "h2", "pass"),
        (('2 . alpn="h2"', '1 cdn.example.net. alpn="h2"'), "", "pass"),
        (('1 . mandatory="alpn"',), "h2", "mandatory"),
        (('1 . mandatory="alpn" alpn="h2"',), "h2", "pass"),
        (('1 . port="443"',), "h2", "pass"),
        (('1 . port="8443"',), "h2", "port"),
        (("0 .",), "h2", "unavailable"),
        ((f"0 {HOST}.",), "h2", "alias-loop"),
        (("0 cdn.example.net.",), "h2", "pass"),
        (("0 cdn.example.net.", "1 ."), "h2", "mixed"),
        (("unreadable",), "h2", "n/a"),
    ],
)
def test_https_record_check_verdict(records: tuple[str, ...], alpn: str, expected: str) -> None:
    known = peer()
    assert known.handshake is not None
    server_peer = replace(known, handshake=replace(known.handshake, alpn=alpn))
    assert outcome(checks.https_record(site_records(https=records), server_peer)) == expected


def test_https_record_of_silent_server_is_not_compared() -> None:
    assert outcome(checks.https_record(site_records(https=('1 . alpn="h2"',)), NO_PEER)) == "pass"
    assert outcome(checks.https_record(site_records(has_answer=False), NO_PEER)) == "n/a"


@given(st.text(max_size=100))
def test_https_record_check_accepts_any_text(text: str) -> None:
    assert verdict(checks.https_record(site_records(https=(f"1 . {text}", text)), peer())) in ("pass", "warn", "n/a")


AZURE = "shop.azurewebsites.net"


@pytest.mark.parametrize(
    ("alias", "expected_verdict", "expected"),
    [
        (Alias("shop.example.com", (AZURE,), "Azure App Service"), "pass", "pass"),
        (Alias("shop.example.com", (AZURE,), "Azure App Service", is_target_missing=True), "fail", "free-name"),
        # The name of a disabled profile does not resolve, but nobody else can register it.
        (Alias("shop.example.com", ("shop.trafficmanager.net",), is_target_missing=True), "warn", "missing"),
        # CloudFront verifies the domain.
        (Alias("shop.example.com", ("d1.cloudfront.net",), is_target_missing=True), "warn", "missing"),
        (
            Alias("shop.example.com", ("old.example.net",), is_target_missing=True, free_domain="example.net"),
            "fail",
            "free-domain",
        ),
        (Alias("shop.example.com", ("b.s3.amazonaws.com",), "Amazon S3", says_unused=True), "fail", "unused-name"),
        # The owner may have verified the domain at GitHub.
        (Alias("docs.example.com", ("x.github.io",), "GitHub Pages", says_unused=True), "warn", "unused-name"),
    ],
)
def test_dangling_alias_check_verdict(alias: Alias, expected_verdict: str, expected: str) -> None:
    finding = checks.dangling_alias(Aliases(DOMAIN, (alias,), 3))
    assert (verdict(finding), outcome(finding)) == (expected_verdict, expected)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (SignedAnswer("x.example.com", "A", "NXDOMAIN"), "pass"),
        (SignedAnswer("x.example.com", "A", "NOERROR"), "pass"),
        (SignedAnswer("x.example.com", "A", "NOERROR", ("192.0.2.1",)), "pass"),
        (SignedAnswer("x.example.com", "A", "NOERROR", ("192.0.2.1",), ("www.example.com",)), "pass"),
        (SignedAnswer("x.example.com", "A", "NOERROR", ("192.0.2.1",), ("me.github.io",)), "claimable"),
        (SignedAnswer("x.example.com", "A", "NOERROR", ("192.0.2.1",), (AZURE,)), "pass"),
        (None, "n/a"),
    ],
)
def test_wildcard_alias_check_verdict(answer: SignedAnswer | None, expected: str) -> None:
    assert outcome(checks.wildcard_alias(UnusedName(DOMAIN, answer))) == expected


def test_claimable_services_have_sources() -> None:
    for service in claimable_services():
        assert service.source.startswith("https://")
        assert service.missing_is_free or service.unused_text
        assert not service.hosts(service.suffixes[0]), "the service itself is no customer"
        assert service_of(f"name.{service.suffixes[0]}.") == service
    assert service_of("notgithub.io") is None


def test_name_checks_need_own_domain() -> None:
    for finding in (
        checks.ipv6(SiteRecords(None), Ipv6Site(is_tested=False)),
        checks.name_servers(NameServers(None)),
        checks.name_server_ipv6(NameServers(None)),
        checks.lame_delegation(NameServers(None)),
        checks.zone_transfer(NameServers(None)),
        checks.https_record(SiteRecords(None), NO_PEER),
        checks.dangling_alias(Aliases(None)),
        checks.wildcard_alias(UnusedName(None)),
        mail_checks.spf(MailRecords(None)),
        mail_checks.dmarc(MailRecords(None)),
    ):
        assert verdict(finding) == "n/a"


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("www.example.co.uk", "example.co.uk"),
        ("example.com", "example.com"),
        ("somebody.github.io", None),
        ("co.uk", None),
        ("127.0.0.1", None),
        ("::1", None),
        ("localhost", None),
    ],
)
def test_own_domain_is_registrable(host: str, expected: str | None) -> None:
    assert own_domain(host) == expected
