"""Probes that fetch the page and parse its markup.

They follow its redirects and parse as a browser does.
"""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser

from website_scan.catalogue import probe
from website_scan.findings import ScanType
from website_scan.net.client import Network
from website_scan.net.errors import NetError, TlsFailed
from website_scan.net.http.request import Request, Reuse
from website_scan.net.http.response import Response
from website_scan.net.targets import Target
from website_scan.page.bounded_parser import limit_markup
from website_scan.page.encodings import decode
from website_scan.page.evidence import Document, Page
from website_scan.page.markup import select
from website_scan.page.references import References, references
from website_scan.result import ScanFailed
from website_scan.urls import Url

MAX_PAGE_BYTES = 8 * 1024 * 1024
MAX_TITLE_POSITION = 8 * 1024
ACCEPT = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8", "Accept-Language": "en,*;q=0.5"}

# Header fields and values that mark responses of bot protections.
CHALLENGE_HEADERS = {
    "cf-mitigated": ("challenge", "block"),
    "x-vercel-mitigated": ("challenge", "deny"),
    "x-amzn-waf-action": ("challenge", "captcha"),
    "sg-captcha": ("challenge",),
}
CHALLENGE_STATUSES = frozenset({401, 403, 405, 429, 503})
CHALLENGE_TITLES = re.compile(
    r"just a moment\.\.\.|attention required! \| cloudflare|ddos-guard|pardon our interruption"
    r"|sucuri website firewall|checking your browser|human verification|verifying you are human"
    r"|are you a robot\?|security check(point)?",
    re.IGNORECASE,
)
# Texts in the refusal pages of the bot protections DataDome and PerimeterX (HUMAN).
REFUSAL_PAGE_MARKS = re.compile(rb"captcha-delivery\.com|\bpx-captcha\b|\b_pxAppId\b")
MAX_REFUSAL_PAGE_BYTES = 64 * 1024
# Some bot protections respond with status 200 and a short page without content of the site.
MAX_SHORT_PAGE_BYTES = 16 * 1024
SHORT_CHALLENGE_PAGES = {
    "an Imperva incident": re.compile(rb"<iframe\b[^>]{1,300}?\bsrc=[\"']?/_Incapsula_Resource\?", re.IGNORECASE),
    "F5's page “Request Rejected”": re.compile(rb"<title>Request Rejected</title>.{1,2000}support ID is", re.I | re.S),
    "an Anubis challenge": re.compile(rb"<script id=\"anubis_(?:challenge|version)\"", re.IGNORECASE),
}
# The script of the bot protection Imperva is also part of ordinary pages.
IMPERVA_SCRIPT = re.compile(rb"<script\b[^>]{1,300}?\bsrc=[\"']?/_Incapsula_Resource\?[^>]{0,2000}>\s*</script>", re.I)
CONTENT = re.compile(rb"<(?:script|link|img|svg|iframe|form)\b", re.IGNORECASE)
TAG = re.compile(rb"<[^<>]*+>")
TITLE = re.compile(rb"<title[^>]*>([^<]{0,200})", re.IGNORECASE)


class TargetStatus(ScanFailed):
    """Raised when the page has an error status, so that the scan fails."""

    code = "TARGET_STATUS"


class SiteProtected(TargetStatus):
    """Raised when bot protection or a rate limit stops the scan.

    It responds instead of the site.
    """


class RateLimitedBySite(SiteProtected):
    """Raised when the site refuses further requests of a probe (status 429)."""

    def __init__(self) -> None:
        super().__init__("The site answered a further request with status 429, too many requests.")


def raise_if_rate_limited(response: Response) -> None:
    """Raise `RateLimitedBySite` for status 429.

    The probe then sends no more requests.
    """
    if response.status == 429:
        raise RateLimitedBySite


@probe(essential=True)
def fetch_page(target: Target, network: Network) -> Page:
    """Fetch the page, following redirects.

    An untrusted certificate is accepted, as users can do in browsers.

    Raises `SiteProtected`, or a `NetError`. If TLS fails altogether, returns the same host's page over plain HTTP.
    """
    hops = _fetch_hops(target, network)
    _refuse_challenge(hops[-1])
    final = target.join(hops[-1].url)
    credentials = network.credentials
    has_credentials = credentials is not None and credentials.origin == final.origin
    return Page(requested=target, target=final, hops=hops, has_credentials=has_credentials)


def _fetch_hops(target: Target, network: Network) -> tuple[Response, ...]:
    try:
        return _follow_redirects(target, network)
    except TlsFailed as failure:
        if not target.is_https:
            raise
        try:
            return _follow_redirects(plain_http_target(target), network)
        except NetError:
            raise failure from None


def _follow_redirects(target: Target, network: Network) -> tuple[Response, ...]:
    # The response is cached for other probes, because another page may link to this URL.
    return network.follow(
        Request(
            target,
            headers=ACCEPT,
            max_bytes=MAX_PAGE_BYTES,
            verify=False,
            with_credentials=True,
            reuse=Reuse.STORE_ONLY,
        )
    )


def plain_http_target(target: Target) -> Target:
    """Return an HTTPS URL's plain HTTP version.

    Port 443 becomes 80, other ports are unchanged.
    """
    return target.join(f"http://{authority(target.host, target.port, 443)}{target.path}")


def authority(host: str, port: int, default_port: int) -> str:
    """Return `host[:port]` for a URL.

    The port is omitted if it is the default.
    """
    name = f"[{host}]" if ":" in host else host
    return name if port == default_port else f"{name}:{port}"


def _refuse_challenge(response: Response) -> None:
    protection = "The site's protection answered, not the site"
    if response.status == 429:
        raise SiteProtected(f"{protection}: too many requests (status 429).")
    if sign := detect_challenge(response):
        raise SiteProtected(f"{protection}: {sign} (status {response.status}).")


def refusal_of(response: Response, scan_type: ScanType) -> TargetStatus | None:
    """Return the failure for an error status.

    None if the page can be judged. SEO scans judge error pages, too.
    """
    if response.status < 400 or response.status in (401, 403) or scan_type is ScanType.SEO:
        return None
    reason = f" {response.reason}" if response.reason else ""
    return TargetStatus(f"The page answers with status {response.status}{reason}, so there is no page to judge.")


def detect_challenge(response: Response) -> str | None:
    """Return a description of the bot protection behind a response.

    None without clear evidence.

    A title counts only together with a refusal status, because sites also write about protections.
    """
    for name, values in CHALLENGE_HEADERS.items():
        value = (response.headers.get(name) or "").strip().lower()
        if value in values:
            return f"{name}: {value}"
    if sign := _find_short_challenge(response.body):
        return sign
    if response.status not in CHALLENGE_STATUSES:
        return None
    # DataDome adds this header to all responses, but sites rarely send status 403 themselves.
    if response.status == 403 and "X-DataDome" in response.headers:
        return "a refusal by DataDome"
    if mark := REFUSAL_PAGE_MARKS.search(response.body, 0, MAX_REFUSAL_PAGE_BYTES):
        return f"a page with {mark[0].decode()}"
    match = TITLE.search(response.body[:MAX_TITLE_POSITION])
    title = match[1].decode("utf-8", "replace").strip() if match else ""
    if CHALLENGE_TITLES.match(title):
        return f"a page titled “{title}”"
    if title == "Access Denied" and (response.headers.get("Server") or "").startswith("AkamaiGHost"):
        return "an Akamai page titled “Access Denied”"
    return None


def _find_short_challenge(body: bytes) -> str | None:
    """Return the name of a bot protection's short page.

    Its status may be 200. None if it is another page.
    """
    if len(body) > MAX_SHORT_PAGE_BYTES:
        return None
    for name, mark in SHORT_CHALLENGE_PAGES.items():
        if mark.search(body):
            return name
    rest, count = IMPERVA_SCRIPT.subn(b"", body)
    has_no_content = CONTENT.search(rest) is None and not TAG.sub(b"", rest).strip()
    return "an Imperva challenge" if count and has_no_content else None


@probe()
def parse_document(page: Page) -> Document:
    """Parse the page's markup like a browser that runs scripts.

    Markup that is too expensive to parse is truncated.

    For a page that is not HTML, the tree is empty, and `text` is the source if it is text.
    """
    textual = page.is_html or _is_text_type(page.media_type)
    text, encoding = decode(page.response) if textual else ("", "")
    tree = LexborHTMLParser(limit_markup(text) if page.is_html else "", scripting=True)
    return Document(tree=tree, text=text, encoding=encoding, base=_base_url(tree, page.target))


@probe()
def page_references(document: Document) -> References:
    return References(references(document))


def _is_text_type(media_type: str) -> bool:
    return media_type.startswith("text/") or media_type.endswith(("json", "xml", "javascript"))


def _base_url(tree: LexborHTMLParser, address: Target) -> Target:
    """Return the document base URL.

    This is the first `<base href>` if it is http(s), or else the page's URL.
    """
    for node in select(tree, "base[href]")[:1]:
        url = Url.parse(node.attributes["href"] or "", address.url)
        if url is not None and url.is_http:
            # The base URL is not checked, because every URL that is joined to it is checked.
            return Target(url, address.policy)
    return address
