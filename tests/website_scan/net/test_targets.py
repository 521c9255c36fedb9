"""Tests for parsing targets.

The rules are those of the API's `url`.
"""

from __future__ import annotations

from ipaddress import ip_address, ip_network
from urllib.parse import urlsplit

import ada_url
import pytest
import requests
from hypothesis import example, given
from hypothesis import strategies as st
from urllib3.util import parse_url

from website_scan.net.addresses import refusal
from website_scan.net.errors import Blocked
from website_scan.net.policy import Policy
from website_scan.net.targets import MAX_CANONICAL_LENGTH, MAX_LENGTH, InvalidUrl, Target, parse_target

OPEN = Policy()
LOOPBACK = (ip_network("127.0.0.0/8"), ip_network("::1/128"))
EXEMPTING = Policy(allowed_networks=LOOPBACK)


def refusal_class(value: object, policy: Policy = OPEN) -> type[Exception] | None:
    """Return the class of the refusal, or None for an accepted URL."""
    try:
        parse_target(value, policy)
    except (InvalidUrl, Blocked) as refusal:
        return type(refusal)
    return None


@pytest.mark.parametrize(
    ("value", "url", "host", "port", "path"),
    [
        ("https://www.example.com", "https://www.example.com/", "www.example.com", 443, "/"),
        ("http://example.com", "http://example.com/", "example.com", 80, "/"),
        ("HTTPS://Example.COM/Path", "https://example.com/Path", "example.com", 443, "/Path"),
        ("https://example.com:443/", "https://example.com/", "example.com", 443, "/"),
        ("https://example.com:/", "https://example.com/", "example.com", 443, "/"),
        ("https://example.com:08443/", "https://example.com:8443/", "example.com", 8443, "/"),
        ("http://example.com:443/", "http://example.com:443/", "example.com", 443, "/"),
        ("https://example.com/a/../b?q=1#part", "https://example.com/b?q=1", "example.com", 443, "/b?q=1"),
        ("https://example.com/#", "https://example.com/", "example.com", 443, "/"),
        ("https://example.com/?", "https://example.com/?", "example.com", 443, "/?"),
        ("https://example.com?q=ü", "https://example.com/?q=%C3%BC", "example.com", 443, "/?q=%C3%BC"),
        ("https://example.com//a//b", "https://example.com//a//b", "example.com", 443, "//a//b"),
        ("https://example.com./", "https://example.com/", "example.com", 443, "/"),
        ("https://example.com。/", "https://example.com/", "example.com", 443, "/"),
        ("https://example.com\\a", "https://example.com/a", "example.com", 443, "/a"),
        ("https://Bücher.de/", "https://xn--bcher-kva.de/", "xn--bcher-kva.de", 443, "/"),
        ("https://faß.de/", "https://xn--fa-hia.de/", "xn--fa-hia.de", 443, "/"),
        ("https://my_site.example.com/", "https://my_site.example.com/", "my_site.example.com", 443, "/"),
        ("http://93.184.215.14/", "http://93.184.215.14/", "93.184.215.14", 80, "/"),
        ("http://0x5db8d70e/", "http://93.184.215.14/", "93.184.215.14", 80, "/"),
        ("http://[2606:4700::1111]/", "http://[2606:4700::1111]/", "2606:4700::1111", 80, "/"),
        ("https://example.com/ ", "https://example.com/", "example.com", 443, "/"),
        ("https://@example.com/", "https://example.com/", "example.com", 443, "/"),
    ],
)
def test_URL_is_parsed_into_one_canonical_target(value: str, url: str, host: str, port: int, path: str) -> None:
    target = parse_target(value, OPEN)
    assert (target.url, target.host, target.port, target.path) == (url, host, port, path)
    assert target.is_https is url.startswith("https:")
    assert target.url == target.origin + target.path


@pytest.mark.parametrize(
    "value",
    [
        None, 7, True, b"https://example.com/", ["https://example.com/"], {"url": "https://example.com/"},
        "", "example.com", "//example.com/", "ftp://example.com/", "javascript:alert(1)",
        "file:///etc/passwd", "data:text/html,hi", "httpss://example.com/", " https://example.com/",
        "\ufeffhttps://example.com/", "http:/example.com", "http:example.com", "http:///example.com",
        "http:////example.com", "http:\\\\example.com", "http:/\\example.com", "http://\\example.com",
        "https:", "https://", "http:// /", "https://?q", "https://#part", "https://:443/",
    ],
)  # fmt: skip
def test_text_without_an_http_prefix_is_invalid(value: object) -> None:
    assert refusal_class(value) is InvalidUrl


@pytest.mark.parametrize("control", ["\t", "\n", "\r", "\0", "\x0b", "\x1f", "\x7f", "\x85", "\x9f"])
@pytest.mark.parametrize(
    "form",
    [
        "https://exam{}ple.com/",
        "https://example.com/{}",
        "ht{}tps://example.com/",
        "{}https://example.com/",
        "https://127.0{}.0.1/",
    ],
)
def test_control_characters_are_invalid(form: str, control: str) -> None:
    assert refusal_class(form.format(control)) is InvalidUrl


@pytest.mark.parametrize("value", ["https://ex\ud800ample.com/", "https://example.com/\udfff", "https://\ud83d/"])
def test_lone_surrogates_are_invalid(value: str) -> None:
    assert refusal_class(value) is InvalidUrl


@pytest.mark.parametrize(
    "value",
    [
        "https://user@example.com/", "https://user:password@example.com/", "https://:password@example.com/",
        "https://example.com@93.184.215.14/", "https://example.com%40a@example.org/",
    ],
)  # fmt: skip
def test_credentials_in_a_url_are_invalid(value: str) -> None:
    assert refusal_class(value) is InvalidUrl


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (7, "url must be a string that starts with https:// or http://."),
        ("https://example.com/" + "a" * MAX_LENGTH, "url may have at most 2,048 characters."),
        ("https://example.com/" + "€" * 2000, "url is longer than 8,192 characters when encoded."),
        ("https://example.com/\n", "url must not contain control characters."),
        ("ftp://example.com/", "url must start with https:// or http://, followed by a host name."),
        ("https://[/", "The address can't be understood."),
        ("https://user@example.com/", "The address must not contain a user name or password."),
        ("https://example.com:22/", "Port 22 is not allowed here."),
        ("https://a*b.com/", "The address has no valid host name."),
        ("https://www.evil.com/", "www.evil.com is on the blocklist of this service."),
        ("https://shop.local/", "shop.local is a reserved name, not a public site."),
        (
            "http://localhost/",
            "localhost is this machine, not a public site. To scan a site on your own machine, use the command "
            "website-scan. An operator can allow it with SCAN_ALLOWED_NETWORKS=127.0.0.0/8.",
        ),
        (
            "http://shop.localhost/",
            "shop.localhost is this machine, not a public site. To scan a site on your own machine, use the command "
            "website-scan. An operator can allow it with SCAN_ALLOWED_NETWORKS=127.0.0.0/8.",
        ),
    ],
)
def test_refusal_of_a_URL_names_the_violated_rule(value: object, reason: str) -> None:
    with pytest.raises((InvalidUrl, Blocked)) as refusal:
        parse_target(value, Policy(blocked_domains=("evil.com",)))
    assert str(refusal.value) == reason


def test_reference_with_another_scheme_is_refused() -> None:
    with pytest.raises(InvalidUrl, match=r"^Only https:// and http:// addresses can be scanned\.$"):
        parse_target("https://example.com/", OPEN).join("mailto:ada@example.com")


def test_URL_length_is_limited() -> None:
    base = "https://example.com/"
    assert refusal_class(base + "a" * (MAX_LENGTH - len(base))) is None
    assert refusal_class(base + "a" * (MAX_LENGTH - len(base) + 1)) is InvalidUrl
    assert refusal_class(base + "é" * 1000) is None
    assert refusal_class(base + "\U0001f600" * 1000) is InvalidUrl
    longest = base + "€" * ((MAX_CANONICAL_LENGTH - len(base)) // len("%E2%82%AC"))
    assert len(parse_target(longest, OPEN).url) == MAX_CANONICAL_LENGTH
    assert refusal_class(longest + "a") is InvalidUrl


@pytest.mark.parametrize(
    "host",
    [
        ".", "..", "...", "a..example.com", ".example.com", "example.com..", "a" * 64 + ".com",
        ".".join(["a" * 63] * 4) + ".com", "exa mple.com", "exa%20mple.com", "example.com%00.org",
        "exa<mple.com", "exa;mple.com", "exa*mple.com", "exa'mple.com", "exa,mple.com", "exa$mple.com",
        "%zz.com", "xn--\u00fc.com", "[::1", "::1", "[::1%25lo]", "[fe80::1%eth0]", "[1.2.3.4]", "[g::1]",
        "1.2.3.4.5", "256.1.1.1", "0x100000000", "1.2.3.09", "example.com:port", "example.com:-1",
        "example.com:65536", "example.com:80:80", "\u00ad", "a\u200b\u200b.\u00ad.com",
        # Rules of UTS 46: misplaced joiners, direction marks, labels that violate the Bidi rule, symbols that hide
        # syntax.
        "a\u200d.com", "a\u200c.com", "\u202eexample.com", "\u2066example.com", "\u05d0a.com", "a\u05d0.com",
        "1\u05d0.com", "\u2100.com", "\u2488com", "\u2474.com", "example\uff0fcom", "example\uff1a80.com",
        "example\uff20evil.com", "example\uff05com", "\uff3b::1\uff3d", "\u0301example.com", "\u0661\u0662\u0667.0.0.1",
        "\u06f1\u06f2\u06f7.0.0.1", "\ufffdexample.com", "\u0000.com", "ex\u2028ample.com",
        "\u3000example.com", "ex\u2003ample.com", "\u00e4" * 60 + ".com",
    ],
)  # fmt: skip
def test_invalid_host_name_is_refused(host: str) -> None:
    assert refusal_class(f"https://{host}/") is InvalidUrl


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "127.1", "127.0.1", "2130706433", "017700000001", "0x7f000001", "0x7F.0x0.0x0.0x1",
        "0177.0.0.1", "127.0.0.1.", "\uff11\uff12\uff17.0.0.1", "127。0。0。1", "%31%32%37.0.0.1",
        "①②⑦.0.0.1", "\U0001d7cf\U0001d7d0\U0001d7d5.0.0.1", "127\uff0e0\uff610\u30021", "127.0.0.1..",
        "1\u00ad27.0.0.1", "127.0.0x1", "0x7F.1", "127.0.1.", "%EF%BC%91%32%37.1", "00000000177.0.0.1",
        "0x0000007f000001", "[::FFFF:127.1.2.3]", "[0:0:0:0:0:ffff:7f00:0001]", "\uff10x7f.1", "4294967295",
        "localhost\u3002",
        "0", "0.0.0.0", "0x.0x.0", "10.0.0.1", "0xa000001", "192.168.1.1", "172.16.0.1", "169.254.169.254",
        "0xa9fea9fe", "2852039166", "025177524776", "100.64.0.1", "192.0.2.1", "198.18.0.1", "224.0.0.1",
        "255.255.255.255", "[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",
        "[::127.0.0.1]", "[64:ff9b::10.0.0.1]", "[2002:7f00:1::]", "[fe80::1]", "[fc00::1]",
        "[fd00:ec2::254]", "[ff02::1]", "[2001:db8::1]", "[2001:0:7f00:1::]",
    ],
)  # fmt: skip
def test_private_address_is_blocked_in_any_spelling(host: str) -> None:
    for url in (f"http://{host}/", f"https://{host}:8443/x", f"http://{host}:22/"):
        assert refusal_class(url) is Blocked


@pytest.mark.parametrize(
    "host",
    [
        "localhost", "LOCALHOST", "localhost.", "\uff4cocalhost", "%6cocalhost", "www.localhost",
        "a.b.localhost", "printer.local", "metadata.google.internal", "internal", "site.test",
        "www.example", "no.invalid", "abc.onion", "router.home.arpa", "home.arpa", "nas.lan", "intranet",
        "com", "kubernetes", "LOCAL.",
    ],
)  # fmt: skip
def test_reserved_name_is_blocked_regardless_of_DNS(host: str) -> None:
    for url in (f"http://{host}/", f"https://{host}:22/"):
        assert refusal_class(url) is Blocked
    if "localhost" not in host.lower().replace("\uff4c", "l").replace("%6c", "l"):
        assert refusal_class(f"http://{host}/", EXEMPTING) is Blocked


@pytest.mark.parametrize(
    "host",
    ["example.com", "www.example.org", "localhost.example.com", "mylocal", "notlocalhost.com", "test.com"],
)
def test_name_like_a_reserved_name_is_accepted(host: str) -> None:
    assert refusal_class(f"https://{host}/") is (None if "." in host else Blocked)


@pytest.mark.parametrize("host", ["localhost", "shop.localhost"])
def test_exempted_localhost_is_accepted(host: str) -> None:
    """Regression test: subdomains of localhost were refused although the operator had exempted loopback addresses."""
    for networks in (LOOPBACK, LOOPBACK[:1], LOOPBACK[1:]):
        target = parse_target(f"http://{host}:5000/", Policy(allowed_networks=networks))
        assert (target.host, target.port) == (host, 5000)
    assert refusal_class(f"http://{host}/", Policy(allowed_networks=(ip_network("10.0.0.0/8"),))) is Blocked


@pytest.mark.parametrize(
    ("host", "allowed", "denied", "reason"),
    [
        ("10.0.0.1", (), (), ": 10.0.0.1 is private (RFC 1918)"),
        ("[fd00::1]", (), (), ": fd00::1 is not global unicast (RFC 4291)"),
        ("93.184.215.14", (), ("93.184.0.0/16",), ""),
        ("10.0.0.1", ("10.0.0.0/8",), ("10.0.0.1/32",), ""),
    ],
)
def test_refusal_does_not_reveal_denied_networks(
    host: str, allowed: tuple[str, ...], denied: tuple[str, ...], reason: str
) -> None:
    policy = Policy(allowed_networks=tuple(map(ip_network, allowed)), denied_networks=tuple(map(ip_network, denied)))
    with pytest.raises(Blocked) as refusal:
        parse_target(f"http://{host}/", policy)
    assert str(refusal.value) == f"The target is not publicly accessible{reason}."


def test_target_has_no_fragment() -> None:
    target = parse_target("https://example.com/page#part", OPEN)
    assert (target.url, target.address.fragment) == ("https://example.com/page", "")


@pytest.mark.parametrize(
    ("entry", "host"),
    [
        ("evil.com", "evil.com"),
        ("evil.com", "www.EVIL.com"),
        ("evil.com", "evil.com."),
        ("EVIL.Com", "a.b.evil.com"),
        (".evil.com", "evil.com"),
        ("*.evil.com", "www.evil.com"),
        (" evil.com. ", "evil.com"),
        ("bücher.de", "xn--bcher-kva.de"),
        ("bücher.de", "www.bücher.de"),
        ("xn--bcher-kva.de", "BÜCHER.de"),
        ("93.184.215.14", "93.184.215.14"),
        ("93.184.215.14", "0x5db8d70e"),
        ("2606:4700::1111", "[2606:4700:0:0::1111]"),
        ("2606:4700:0:0::1111", "[2606:4700::1111]"),
    ],
)
def test_subdomain_of_a_blocked_domain_is_blocked(entry: str, host: str) -> None:
    policy = Policy(blocked_domains=("other.org", entry), allowed_networks=LOOPBACK)
    for url in (f"https://{host}/", f"https://{host}:22/"):
        assert refusal_class(url, policy) is Blocked


@pytest.mark.parametrize("host", ["notevil.com", "evil.com.org", "evil.co", "example.com"])
def test_blocklisted_domain_blocks_no_other_domain(host: str) -> None:
    assert refusal_class(f"https://{host}/", Policy(blocked_domains=("evil.com", "", ".", "not a domain"))) is None


def test_exemption_does_not_unblock_a_domain() -> None:
    policy = Policy(blocked_domains=("127.0.0.1", "localhost"), allowed_networks=LOOPBACK)
    assert refusal_class("http://127.0.0.1/", policy) is Blocked
    assert refusal_class("http://localhost/", policy) is Blocked


@pytest.mark.parametrize("port", [80, 443, 8080, 8443])
def test_allowed_ports_are_accepted_with_both_schemes(port: int) -> None:
    for scheme in ("http", "https"):
        assert parse_target(f"{scheme}://example.com:{port}/", OPEN).port == port


@pytest.mark.parametrize("port", [0, 1, 21, 22, 25, 81, 3306, 6379, 8081, 65535])
def test_other_ports_need_an_exemption(port: int) -> None:
    for host in ("example.com", "93.184.215.14", "[2606:4700::1111]"):
        assert refusal_class(f"http://{host}:{port}/") is InvalidUrl
    for host in ("127.0.0.1", "[::1]", "[::ffff:127.0.0.1]"):
        assert refusal_class(f"http://{host}:{port}/") is Blocked
        assert refusal_class(f"http://{host}:{port}/", EXEMPTING) is (None if port else InvalidUrl)
    assert refusal_class(f"http://93.184.215.14:{port}/", EXEMPTING) is InvalidUrl


@pytest.mark.parametrize(("network", "host"), [("10.0.0.5/32", "10.0.0.5"), ("fd00::1/128", "[fd00::1]")])
def test_exempted_address_needs_the_exempted_port(network: str, host: str) -> None:
    policy = Policy(allowed_networks=((ip_network(network), 3000),))
    assert refusal_class(f"http://{host}:3000/", policy) is None
    for port in (0, 22, 80, 3001, 8080):
        assert refusal_class(f"http://{host}:{port}/", policy) is Blocked
        assert refusal_class(f"http://93.184.215.14:{port}/", policy) is (None if port in (80, 8080) else InvalidUrl)
    assert refusal_class("http://93.184.215.14:3000/", policy) is InvalidUrl
    assert refusal_class("http://example.com:3001/", policy) is InvalidUrl


def test_localhost_needs_the_exempted_port() -> None:
    policy = Policy(allowed_networks=((ip_network("127.0.0.0/8"), 3000),))
    assert refusal_class("http://localhost:3000/", policy) is None
    assert refusal_class("http://localhost:8080/", policy) is Blocked


@pytest.mark.parametrize(
    ("reference", "url"),
    [
        ("", "https://example.com/dir/page?q"),
        ("other", "https://example.com/dir/other"),
        ("/root#part", "https://example.com/root"),
        ("?x=1", "https://example.com/dir/page?x=1"),
        ("//cdn.example.org/a.js", "https://cdn.example.org/a.js"),
        ("\\\\cdn.example.org\\a.js", "https://cdn.example.org/a.js"),
        ("ht\ntp://example.org/", "http://example.org/"),
        ("http:example.org", "http://example.org/"),
        ("https:next", "https://example.com/dir/next"),
        ("a" * 3000, "https://example.com/dir/" + "a" * 3000),
    ],
)
def test_reference_is_resolved_like_in_a_browser(reference: str, url: str) -> None:
    joined = parse_target("https://example.com/dir/page?q", OPEN).join(reference)
    assert joined.url == url
    assert joined.url == joined.origin + joined.path


@pytest.mark.parametrize(
    ("reference", "kind"),
    [
        ("http://127.0.0.1/", Blocked),
        ("//localhost/", Blocked),
        ("/\\169.254.169.254/latest", Blocked),
        ("http://2130706433/", Blocked),
        ("ftp://example.com/", InvalidUrl),
        ("javascript:alert(1)", InvalidUrl),
        ("data:,x", InvalidUrl),
        ("https://user:password@example.com/", InvalidUrl),
        ("https://example.com:22/", InvalidUrl),
        ("http://", InvalidUrl),
        ("http://./", InvalidUrl),
        ("/\ud800", InvalidUrl),
    ],
)
def test_reference_is_checked_like_any_other_URL(reference: str, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        parse_target("https://example.com/", OPEN).join(reference)


PIECES = st.sampled_from(
    [
        "http://", "https://", "HTTP://", "example.com", "127.0.0.1", "localhost", "[::1]",
        "[::ffff:10.0.0.1]", "a", "@", ":", "80", "8080", "443", "/", "//", "\\", "?", "#", "%", "%2f",
        "%00", "%40", ".", "..", ";", "&", "=", "0x7f", "1", "0177", "。", "\uff0f", "\uff1a", "\uff20", "?",
        "☃", "ü", "ß", "\u00ad", "\u202e", "xn--", "_", "-", "[", "]", "|", "^", "`", "{", "}", "'", '"',
        "<", ">", " ", "*", "+", "$", "!", "~",
    ]
)  # fmt: skip
URLS = st.one_of(
    st.lists(PIECES, max_size=8).map(lambda pieces: "http://" + "".join(pieces)),
    st.lists(PIECES, max_size=6).map(lambda pieces: "https://example.com" + "".join(pieces)),
    st.text(max_size=30).map(lambda text: "https://" + text),
    st.text(max_size=30).map(lambda text: "https://example.com/" + text),
)


@given(URLS)
@example("http://example.com\\@127.0.0.1/")
@example("http://example.com:80\\@127.0.0.1:8080/")
@example("http://example.com#@127.0.0.1/")
@example("http://example.com?@127.0.0.1/")
@example("http://./")
@example("http://[::ffff:5db8:d70e]//x?//y")
def test_every_parser_finds_the_host_of_a_canonical_URL(value: str) -> None:
    for policy in (OPEN, EXEMPTING):
        try:
            target = parse_target(value, policy)
        except (InvalidUrl, Blocked):
            continue
        assert_parsers_agree(target)
        assert parse_target(target.url, policy) == target
        if policy is OPEN:
            _looks_public(target)


def assert_parsers_agree(target: Target) -> None:
    standard = urlsplit(target.url)
    pooled = parse_url(target.url)
    prepared = requests.Request("GET", target.url).prepare().url or ""
    requests_url = parse_url(prepared)
    whatwg = ada_url.URL(target.url)
    for host in (standard.hostname, pooled.host, requests_url.host, whatwg.hostname):
        assert (host or "").strip("[]") == target.host
    default = 443 if target.is_https else 80
    for port in (standard.port, pooled.port, requests_url.port, int(whatwg.port or default)):
        assert (port or default) == target.port
    for scheme in (standard.scheme, pooled.scheme, requests_url.scheme):
        assert scheme == target.scheme
    assert target.url == target.origin + target.path
    assert target.url.isascii()
    assert not any(character.isspace() or character == "#" for character in target.url)


def _looks_public(target: Target) -> None:
    try:
        address = ip_address(target.host)
    except ValueError:
        assert "." in target.host
    else:
        assert refusal(address) is None


@given(st.text(max_size=60), st.text(max_size=60))
def test_arbitrary_string_is_parsed_or_refused(value: str, reference: str) -> None:
    for policy in (OPEN, EXEMPTING):
        refusal_class(value, policy)
        refusal_class("http://" + value, policy)
        try:
            parse_target("https://example.com/a", policy).join(reference)
        except (InvalidUrl, Blocked):
            pass


def test_host_name_has_at_most_253_characters() -> None:
    labels = ["a" * 63] * 3
    longest = ".".join([*labels, "b" * 58, "de"])
    assert len(longest) == 253
    assert parse_target(f"https://{longest}/", Policy()).host == longest
    too_long = ".".join([*labels, "b" * 59, "de"])
    with pytest.raises(InvalidUrl, match="no valid host name"):
        parse_target(f"https://{too_long}/", Policy())
