"""Build pages, certificates and handshakes for security tests."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from tests.website_scan.cast import target
from website_scan.net.http.response import Headers, Response, TlsSession
from website_scan.net.targets import Target
from website_scan.net.tls.certificates import Certificate
from website_scan.net.tls.ciphers import TlsVersion
from website_scan.net.tls.trust import Handshake, Trust
from website_scan.page.evidence import Document, Page
from website_scan.page.fetch import parse_document
from website_scan.security.csp import Policies, read_policies
from website_scan.security.evidence import HttpsAnswer, TlsPeer

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
HeaderLines = Sequence[tuple[str, str]]
HTML = ("Content-Type", "text/html; charset=utf-8")


def response(
    url: str, *headers: tuple[str, str], status: int = 200, body: bytes = b"", trust_error: str | None = None
) -> Response:
    tls = TlsSession("TLSv1.3", "TLS_AES_128_GCM_SHA256", trust_error) if url.startswith("https") else None
    return Response(url=url, status=status, headers=Headers(tuple(headers)), body=body, tls=tls)


def page(
    *headers: tuple[str, str],
    html: str = "<!doctype html><title>A page</title>",
    url: str = "https://site.example.com/",
    status: int = 200,
    trust_error: str | None = None,
) -> Page:
    """Return an HTML page.

    A Content-Type header among the arguments replaces the default.
    """
    if not any(name.lower() == "content-type" for name, _ in headers):
        headers = (HTML, *headers)
    address = target(url)
    last = response(address.url, *headers, status=status, body=html.encode(), trust_error=trust_error)
    return Page(requested=address, target=address, hops=(last,))


def bare_page(*headers: tuple[str, str], body: bytes = b"") -> Page:
    """Return a page with exactly these headers."""
    address = target("https://site.example.com/")
    return Page(address, address, (response(address.url, *headers, body=body),))


def document(html_page: Page) -> Document:
    return parse_document(html_page)


def policies(html_page: Page) -> Policies:
    return read_policies(html_page, parse_document(html_page))


def hops(*chain: tuple[str, int]) -> tuple[Response, ...]:
    return tuple(response(url, status=status) for url, status in chain)


LEAF = Certificate(
    subject="CN=site.example.com",
    issuer="CN=An Intermediate",
    not_before=NOW - timedelta(days=30),
    not_after=NOW + timedelta(days=60),
    key_type="EC",
    key_bits=256,
    signature_hash="sha256",
    dns_names=("site.example.com",),
    common_name="site.example.com",
)
INTERMEDIATE = replace(
    LEAF, subject="CN=An Intermediate", issuer="CN=A Root", dns_names=(), key_type="RSA", key_bits=2048
)
ROOT = replace(INTERMEDIATE, subject="CN=A Root", issuer="CN=A Root")


def peer(
    leaf: Certificate = LEAF,
    *issuers: Certificate,
    trust: Trust | None = None,
    host: str = "site.example.com",
) -> TlsPeer:
    chain = (leaf, *(issuers or (INTERMEDIATE, ROOT)))
    return TlsPeer(
        host,
        443,
        Handshake(
            version=TlsVersion.TLS1_3,
            cipher="TLS_AES_128_GCM_SHA256",
            alpn="h2",
            chain=chain,
            path=chain,
            trust=trust or Trust(),
            last_linked=chain[-1],
        ),
    )


NO_PEER = TlsPeer("site.example.com", 443, None, "Connection refused.")


def https_answer(*headers: tuple[str, str], trust_error: str | None = None) -> HttpsAnswer:
    return HttpsAnswer(response("https://site.example.com/", *headers, trust_error=trust_error))


def address(url: str) -> Target:
    return target(url)
