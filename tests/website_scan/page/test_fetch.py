from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.website_scan.cast import target
from tests.website_scan.net.loopback import loopback_network
from tests.website_scan.net.tls_servers import LOOPBACK, http_answer, serve
from website_scan.findings import ScanType
from website_scan.net.client import Network
from website_scan.net.errors import NetError, NotReachable, TlsFailed, TooManyRedirects
from website_scan.net.http.request import Request
from website_scan.net.http.response import Headers, Response
from website_scan.page.bounded_parser import DEPTH_SAMPLE_INTERVAL, MAX_TREE_DEPTH
from website_scan.page.evidence import Page
from website_scan.page.fetch import (
    SiteProtected,
    TargetStatus,
    detect_challenge,
    fetch_page,
    parse_document,
    plain_http_target,
    refusal_of,
)


@pytest.fixture
def network() -> Iterator[Network]:
    with loopback_network() as network:
        yield network


def response(*headers: tuple[str, str], status: int = 200, body: bytes = b"") -> Response:
    return Response("https://site.example.com/", status, Headers(headers), body)


def page(body: bytes | str, content_type: str | None = "text/html", url: str = "https://site.example.com/a/b") -> Page:
    headers = (("Content-Type", content_type),) if content_type else ()
    raw = body if isinstance(body, bytes) else body.encode()
    address = target(url)
    return Page(address, address, (Response(url, 200, Headers(headers), raw),))


@pytest.mark.parametrize("status", [200, 204, 304, 401, 403])
def test_page_with_an_accepted_status_is_read(network: Network, status: int) -> None:
    with serve(http_answer(b"<p>Hello", status=status)) as port:
        fetched = fetch_page(target(f"http://{LOOPBACK}:{port}/x?y"), network)
    assert fetched.response.status == status
    assert fetched.target.path == "/x?y"


@pytest.mark.parametrize("status", [400, 404, 410, 500, 502, 503])
@pytest.mark.parametrize("scan_type", [ScanType.SECURITY, ScanType.PERFORMANCE, ScanType.ACCESSIBILITY])
def test_error_status_is_refused_as_TARGET_STATUS(network: Network, status: int, scan_type: ScanType) -> None:
    with serve(http_answer(b"<p>Gone", status=status)) as port:
        address = target(f"http://{LOOPBACK}:{port}/")
        refusal = refusal_of(fetch_page(address, network).response, scan_type)
    assert isinstance(refusal, TargetStatus)
    assert str(status) in str(refusal)
    assert refusal.code == "TARGET_STATUS"


def test_SEO_scan_accepts_an_error_status(network: Network) -> None:
    with serve(http_answer(b"<p>Gone", status=404)) as port:
        fetched = fetch_page(target(f"http://{LOOPBACK}:{port}/"), network)
    assert fetched.response.status == 404
    assert refusal_of(fetched.response, ScanType.SEO) is None


def test_status_429_fails_every_scan_type(network: Network) -> None:
    with serve(http_answer(b"slow down", status=429)) as port:
        address = target(f"http://{LOOPBACK}:{port}/")
        with pytest.raises(SiteProtected, match="protection answered, not the site") as refusal:
            fetch_page(address, network)
    assert refusal.value.code == "TARGET_STATUS"


IMPERVA_TAG = b'<script type="text/javascript" src="/_Incapsula_Resource?SWJIYLWA=719d34d31c8e3a6e"></script>'
IMPERVA = (
    b'<html style="height:100%"><head><META NAME="ROBOTS" CONTENT="NOINDEX, NOFOLLOW">' + IMPERVA_TAG + b"</head>"
    b'<body style="margin:0px;height:100%"><iframe id="main-iframe" src="/_Incapsula_Resource?CWUDNSAI=9&amp;xinfo=1" '
    b'frameborder=0 width="100%">Request unsuccessful. Incapsula incident ID: 1-2</iframe></body></html>'
)
IMPERVA_SCRIPT = b'<html><head><META NAME="robots" CONTENT="noindex,nofollow">' + IMPERVA_TAG + b"<body></body></html>"
ANUBIS = (
    b"<!doctype html><html><head><title>Making sure you&#39;re not a bot!</title>"
    b'<script id="anubis_version" type="application/json">"v1.21"</script>'
)


@pytest.mark.parametrize(
    "challenge",
    [
        response(("CF-Mitigated", "challenge"), status=403),
        response(("cf-mitigated", "challenge"), status=503),
        response(("x-amzn-waf-action", "challenge"), status=202),
        response(("x-vercel-mitigated", "challenge"), status=429),
        response(status=503, body=b"<html><head><title>Just a moment...</title>"),
        response(status=403, body=b"<title>Attention Required! | Cloudflare</title>"),
        response(status=403, body=b"<title>DDoS-Guard</title>"),
        response(("Server", "AkamaiGHost"), status=403, body=b"<TITLE>Access Denied</TITLE>"),
        response(("X-DataDome", "protected"), status=403, body=b"<title>shop.example.com</title>"),
        response(status=403, body=b"<script>var dd={'host':'geo.captcha-delivery.com'}</script>"),
        response(status=405, body=b'{"url":"https://geo.captcha-delivery.com/captcha/?cid=1"}'),
        response(status=403, body=b"<style>" + b"a{}" * 9000 + b'</style><div id="px-captcha"></div>'),
        response(status=403, body=b"<script>window._pxAppId = 'PX1';</script>"),
        response(status=200, body=IMPERVA),
        response(status=200, body=IMPERVA_SCRIPT),
        response(status=200, body=b"<title>Request Rejected</title>The URL was rejected. Your support ID is: 1"),
        response(status=200, body=ANUBIS),
        response(("SG-Captcha", "challenge"), status=202),
    ],
)
def test_bot_challenge_is_recognised(challenge: Response) -> None:
    assert detect_challenge(challenge)


@pytest.mark.parametrize(
    "ordinary",
    [
        response(body=b"<title>Just a moment...</title>"),  # An article may have this title, too.
        # The site itself, not a bot protection, refuses the request.
        response(status=403, body=b"<title>Access Denied</title>"),
        response(status=403, body=b"<title>403 Forbidden</title>"),
        response(status=403, body=b"<title>How we mitigate: just a moment...</title>"),
        response(("Server", "cloudflare"), ("CF-RAY", "1"), status=403, body=b"<title>Log in</title>"),
        response(("cf-mitigated", "none")),
        # DataDome adds this header to all responses of a protected site.
        response(("X-DataDome", "protected"), body=b"<h1>Our shop</h1>"),
        response(("X-DataDome", "protected"), status=401),
        response(body=b"<h1>How px-captcha and captcha-delivery.com work</h1>"),
        response(body=b"<h1>Our shop</h1><p>Welcome." + IMPERVA_TAG),  # Imperva inserts this tag into ordinary pages.
        response(body=IMPERVA_TAG + b"<h1>Our shop</h1>" + b"<p>Welcome." * 2000),
        response(body=b"<p>Incapsula sends &lt;iframe src=/_Incapsula_Resource?a=1>: incident ID 1"),
        response(body=b"<title>Request Rejected</title><p>What to do when a pull request was rejected"),
        response(body=b"<p>Anubis writes &lt;script id=anubis_challenge>"),
    ],
)
def test_page_about_bot_challenges_is_accepted(ordinary: Response) -> None:
    assert detect_challenge(ordinary) is None


def test_redirects_are_followed_and_listed_as_hops(network: Network) -> None:
    with (
        serve(http_answer(b"<p>Here")) as port,
        serve(http_answer(b"", status=301, headers=f"Location: http://{LOOPBACK}:{port}/there\r\n")) as first,
    ):
        fetched = fetch_page(target(f"http://{LOOPBACK}:{first}/"), network)
    assert [hop.status for hop in fetched.hops] == [301, 200]
    assert (fetched.requested.port, fetched.target.port, fetched.target.path) == (first, port, "/there")


def test_redirect_loop_raises_TooManyRedirects(network: Network) -> None:
    with serve(http_answer(b"", status=302, headers="Location: /\r\n")) as port:
        address = target(f"http://{LOOPBACK}:{port}/")
        with pytest.raises(TooManyRedirects):
            fetch_page(address, network)


def test_page_is_fetched_over_HTTP_if_TLS_fails(network: Network) -> None:
    with serve(http_answer(b"<p>Plain")) as port:
        fetched = fetch_page(target(f"https://{LOOPBACK}:{port}/x"), network)
    assert not fetched.target.is_https
    assert fetched.requested.is_https
    assert fetched.response.body == b"<p>Plain"


def test_TLS_error_is_raised_if_HTTP_fails_as_well(network: Network) -> None:
    with serve(lambda connection: connection.sendall(b"SSH-2.0-x\r\n")) as port:
        address = target(f"https://{LOOPBACK}:{port}/")
        with pytest.raises(TlsFailed):
            fetch_page(address, network)


class Refusing:
    """Network that records requests and never responds."""

    def __init__(self, error: Callable[[str], NetError]) -> None:
        self.error = error
        self.asked: list[str] = []

    def follow(self, request: Request) -> tuple[Response, ...]:
        self.asked.append(request.target.url)
        raise self.error("no")


def test_port_80_replaces_443_only_if_TLS_fails() -> None:
    failing, closed = Refusing(TlsFailed), Refusing(NotReachable)
    for network in (failing, closed):
        with pytest.raises(NetError):
            fetch_page(target("https://site.example.com/a?b"), cast(Network, network))
    assert failing.asked == ["https://site.example.com/a?b", "http://site.example.com/a?b"]
    assert closed.asked == ["https://site.example.com/a?b"]


@pytest.mark.parametrize(
    ("url", "twin"),
    [
        ("https://site.example.com/a?b=c", "http://site.example.com/a?b=c"),
        ("https://site.example.com:8443/", "http://site.example.com:8443/"),
        ("https://[2606:4700::1111]/", "http://[2606:4700::1111]/"),
    ],
)
def test_plain_http_url_keeps_host_port_and_path(url: str, twin: str) -> None:
    assert plain_http_target(target(url)).url == twin


@given(st.binary(max_size=200), st.text(alphabet="abcdefghijklmnopqrstuvwxyz0123456789-_ ;='\"", max_size=30))
def test_arbitrary_bytes_can_be_decoded(body: bytes, charset: str) -> None:
    parse_document(page(body, f"text/html; charset={charset}"))
    parse_document(page(b"<meta charset='" + charset.encode() + b"'>" + body))


@pytest.mark.parametrize(
    ("html", "base"),
    [
        ("<p>", "https://site.example.com/a/b"),
        ("<base href=/c/>", "https://site.example.com/c/"),
        ("<base target=_top><base href=//cdn.example.com/x><base href=/no>", "https://cdn.example.com/x"),
        # The scanner resolves URLs against this base, but never requests it.
        ("<base href=http://static.test/>", "http://static.test/"),
        ("<base href=data:text/html,x>", "https://site.example.com/a/b"),
        ("<base href='https://'>", "https://site.example.com/a/b"),
        ("<!-- <base href=/c/> -->", "https://site.example.com/a/b"),
        ("<base href='http://h.example.com:8080/q?r'>", "http://h.example.com:8080/q?r"),
    ],
)
def test_base_URL_is_that_of_the_first_base_element(html: str, base: str) -> None:
    base_url = parse_document(page(f"<!doctype html><head>{html}</head>")).base
    assert base_url.url == base
    if "8080" in base:
        assert (base_url.host, base_url.port, base_url.path) == ("h.example.com", 8080, "/q?r")


def test_document_that_is_not_HTML_has_an_empty_tree() -> None:
    parsed = parse_document(page('{"a": "<p>"}', "application/json"))
    assert parsed.text == '{"a": "<p>"}'
    assert parsed.tree.css("p") == []
    assert parse_document(page(b"\x89PNG", "image/png")).text == ""


def test_markup_without_a_media_type_is_sniffed() -> None:
    assert parse_document(page("<!doctype html><p>", None)).tree.css("p")


def test_noscript_is_parsed_as_text() -> None:
    html = "<head><noscript><img src=p.gif></noscript><link rel=canonical href=/a></head>"
    tree = parse_document(page(html)).tree
    assert tree.css("img") == []
    assert tree.css("head > link")


def test_too_deeply_nested_page_is_cut_off() -> None:
    html = "<div>" * (MAX_TREE_DEPTH + DEPTH_SAMPLE_INTERVAL) + "<p id=deep>"
    assert parse_document(page(html)).tree.css("#deep") == []


@pytest.mark.parametrize(
    "html",
    [
        "<p>Some text<br><img src=a><li>" * 5_000,
        "<div><span>x</span></div>" * 5_000,
        "<script>if (i<a || j<div) x = '<div><div>'</script>" * 5_000,
        "<!-- <div> -->" * 5_000,
        "<table>" + "<tr><td>x" * 5_000 + "</table>",
    ],
)
def test_long_page_is_not_cut_off(html: str) -> None:
    assert parse_document(page(f"<body>{html}<p id=end>")).tree.css("#end")
