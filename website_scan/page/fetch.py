"""Probes that fetch the page with all redirect hops and parse its markup like a browser."""

from __future__ import annotations

import codecs
import re

from selectolax.lexbor import LexborHTMLParser

from website_scan.catalogue import probe
from website_scan.findings import ScanType
from website_scan.net.client import Network
from website_scan.net.errors import NetError, TlsFailed
from website_scan.net.http.request import Request, Reuse
from website_scan.net.http.response import Response
from website_scan.net.targets import Target
from website_scan.page.bounded_parser import bounded
from website_scan.page.evidence import Document, Page
from website_scan.page.markup import select
from website_scan.page.references import References, references
from website_scan.result import ScanFailed
from website_scan.urls import Url

PAGE_MAX_BYTES = 8 * 1024 * 1024
PRESCAN_BYTES = 1024  # HTML, "prescan a byte stream to determine its encoding"
ACCEPT = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8", "Accept-Language": "en,*;q=0.5"}

BYTE_ORDER_MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_BE: "utf-16-be", codecs.BOM_UTF16_LE: "utf-16-le"}
# Python's names of encodings whose labels denote another encoding on the web (WHATWG Encoding, "Names and labels").
OTHER_ON_THE_WEB = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
}

# Python's names of the encodings of the web (WHATWG Encoding, section 4.2).
WEB_ENCODINGS = re.compile(
    r"utf-8|utf-16(-[lb]e)?|cp(866|874|932|949|125\d)|iso8859-\d+|koi8-[ru]|mac-(roman|cyrillic)"
    r"|gb18030|big5hkscs|euc_jp|iso2022_jp"
)

# Header fields with which a bot protection marks its own responses.
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
# Text that occurs in refusal pages of DataDome and PerimeterX (HUMAN).
REFUSAL_MARKS = re.compile(rb"captcha-delivery\.com|\bpx-captcha\b|\b_pxAppId\b")
REFUSAL_BYTES = 64 * 1024
# Some protections respond with status 200, and a short page without content of the site.
SHORT_BYTES = 16 * 1024
SHORT_PAGES = {
    "an Imperva incident": re.compile(rb"<iframe\b[^>]{1,300}?\bsrc=[\"']?/_Incapsula_Resource\?", re.IGNORECASE),
    "F5's page “Request Rejected”": re.compile(rb"<title>Request Rejected</title>.{1,2000}support ID is", re.I | re.S),
    "an Anubis challenge": re.compile(rb"<script id=\"anubis_(?:challenge|version)\"", re.IGNORECASE),
}
# Script of Imperva, which ordinary pages contain as well.
IMPERVA_SCRIPT = re.compile(rb"<script\b[^>]{1,300}?\bsrc=[\"']?/_Incapsula_Resource\?[^>]{0,2000}>\s*</script>", re.I)
CONTENT = re.compile(rb"<(?:script|link|img|svg|iframe|form)\b", re.IGNORECASE)
TAG = re.compile(rb"<[^<>]*+>")
TITLE = re.compile(rb"<title[^>]*>([^<]{0,200})", re.IGNORECASE)
COMMENT = re.compile(rb"<!--.*?(-->|\Z)", re.DOTALL)
# Words in declarations of an encoding. Most pages have either none or the declaration of UTF-8 below.
DECLARATION = re.compile(rb"charset|encoding", re.IGNORECASE)
DECLARED_UTF_8 = re.compile(rb"<meta\s[^<>]*?charset=[\"']?utf-8[ /;'\">]", re.IGNORECASE)


class TargetStatus(ScanFailed):
    """Failure because the page has an error status, so that it is not the content of the site."""

    code = "TARGET_STATUS"


class SiteProtected(TargetStatus):
    """Failure because a bot protection or rate limit responded instead of the site."""


class RateLimitedBySite(SiteProtected):
    """Failure because the site refuses further requests (status 429)."""

    def __init__(self) -> None:
        super().__init__("The site answered a further request with status 429, too many requests.")


def raise_if_rate_limited(response: Response) -> None:
    """Raise `RateLimitedBySite` for a status 429, so that the probe stops sending requests."""
    if response.status == 429:
        raise RateLimitedBySite


@probe(essential=True)
def fetch_page(target: Target, network: Network) -> Page:
    """Return the page after all redirects, even with an untrusted certificate, as browsers offer.

    Raises `SiteProtected`, or a `NetError`. If TLS fails altogether, returns the same host's page over plain HTTP.
    """
    hops = _load(target, network)
    _refuse_what_is_not_the_site(hops[-1])
    final = target.join(hops[-1].url)
    credentials = network.credentials
    is_keyed = credentials is not None and credentials.origin == final.origin
    return Page(requested=target, target=final, hops=hops, is_keyed=is_keyed)


def _load(target: Target, network: Network) -> tuple[Response, ...]:
    try:
        return _follow(target, network)
    except TlsFailed as failure:
        if not target.is_https:
            raise
        try:
            return _follow(plain_twin(target), network)
        except NetError:
            raise failure from None


def _follow(target: Target, network: Network) -> tuple[Response, ...]:
    # Cache the response for other probes, because a link on another page may lead to this URL.
    return network.follow(
        Request(
            target,
            headers=ACCEPT,
            max_bytes=PAGE_MAX_BYTES,
            verify=False,
            with_credentials=True,
            reuse=Reuse.FOR_OTHERS,
        )
    )


def plain_twin(target: Target) -> Target:
    """Return the same URL over plain HTTP: port 80 instead of 443, other ports unchanged."""
    return target.join(f"http://{authority(target.host, target.port, 443)}{target.path}")


def authority(host: str, port: int, default_port: int) -> str:
    """Return `host[:port]` for a URL; the port only if it differs from the default."""
    name = f"[{host}]" if ":" in host else host
    return name if port == default_port else f"{name}:{port}"


def _refuse_what_is_not_the_site(response: Response) -> None:
    protection = "The site's protection answered, not the site"
    if response.status == 429:
        raise SiteProtected(f"{protection}: too many requests (status 429).")
    if sign := challenge_sign(response):
        raise SiteProtected(f"{protection}: {sign} (status {response.status}).")


def refusal_of(response: Response, scan_type: ScanType) -> TargetStatus | None:
    """Return the failure for an error status; None if there is a page to judge. SEO scans judge error pages, too."""
    if response.status < 400 or response.status in (401, 403) or scan_type is ScanType.SEO:
        return None
    reason = f" {response.reason}" if response.reason else ""
    return TargetStatus(f"The page answers with status {response.status}{reason}, so there is no page to judge.")


def challenge_sign(response: Response) -> str | None:
    """Return the evidence that a bot protection sent this response; None without clear evidence.

    A title counts only together with a refusal status, because sites also write about protections.
    """
    for name, values in CHALLENGE_HEADERS.items():
        value = (response.headers.get(name) or "").strip().lower()
        if value in values:
            return f"{name}: {value}"
    if sign := _short_page(response.body):
        return sign
    if response.status not in CHALLENGE_STATUSES:
        return None
    # Behind DataDome, every response has this field. A 403 with it is rarely the site's own.
    if response.status == 403 and "X-DataDome" in response.headers:
        return "a refusal by DataDome"
    if mark := REFUSAL_MARKS.search(response.body, 0, REFUSAL_BYTES):
        return f"a page with {mark[0].decode()}"
    match = TITLE.search(response.body[: PRESCAN_BYTES * 8])
    title = match[1].decode("utf-8", "replace").strip() if match else ""
    if CHALLENGE_TITLES.match(title):
        return f"a page titled “{title}”"
    if title == "Access Denied" and (response.headers.get("Server") or "").startswith("AkamaiGHost"):
        return "an Akamai page titled “Access Denied”"
    return None


def _short_page(body: bytes) -> str | None:
    """Return the name of a known short page that a protection sends with any status, including 200; None if unknown."""
    if len(body) > SHORT_BYTES:
        return None
    for name, mark in SHORT_PAGES.items():
        if mark.search(body):
            return name
    rest, count = IMPERVA_SCRIPT.subn(b"", body)
    is_bare = CONTENT.search(rest) is None and not TAG.sub(b"", rest).strip()
    return "an Imperva challenge" if count and is_bare else None


@probe()
def parse_document(page: Page) -> Document:
    """Return the page's markup, parsed like in a browser that runs scripts; only its beginning if it costs too much.

    For a page that is not HTML, the tree is empty, and `text` is the source if it is text.
    """
    textual = page.is_html or _is_text(page.media_type)
    text, encoding = decode(page.response) if textual else ("", "")
    tree = LexborHTMLParser(bounded(text) if page.is_html else "", scripting=True)
    return Document(tree=tree, text=text, encoding=encoding, base=_base(tree, page.target))


@probe()
def page_references(document: Document) -> References:
    return References(references(document))


def decode(response: Response) -> tuple[str, str]:
    """Return the text of the body, and the encoding's name.

    The encoding is that of the byte order mark, of Content-Type, of the markup's declaration, or UTF-8, in this order
    (HTML, "determining the character encoding"); a body that is not valid UTF-8 is windows-1252.
    """
    body, mark_encoding = _without_mark(response.body)
    content_type = response.headers.get("Content-Type") or ""
    match = re.search(r"""charset\s*=\s*["']?([^\s"';,]+)""", content_type, re.IGNORECASE)
    encoding = _web_encoding(mark_encoding) or _web_encoding(match[1] if match else "") or _declared_encoding(body)
    if encoding is not None:
        return body.decode(encoding, "replace"), encoding
    try:
        # A truncated body may end inside a character.
        return codecs.getincrementaldecoder("utf-8")().decode(body, final=not response.truncated), "utf-8"
    except UnicodeDecodeError:
        return body.decode("cp1252", "replace"), "cp1252"


def _without_mark(body: bytes) -> tuple[bytes, str]:
    """Return the body without its byte order mark, and the encoding of the mark; empty without a mark."""
    first = next((mark for mark in BYTE_ORDER_MARKS if body.startswith(mark)), b"")
    return body.removeprefix(first), BYTE_ORDER_MARKS.get(first, "")


def _declared_encoding(body: bytes) -> str | None:
    beginning = COMMENT.sub(b"", body[:PRESCAN_BYTES])
    declarations = len(DECLARATION.findall(beginning))
    if declarations == 0:
        return None
    if declarations == 1 and DECLARED_UTF_8.search(beginning):
        return "utf-8"
    from bs4.dammit import EncodingDetector  # slow to import (60 ms), and needed by few pages

    label = EncodingDetector.find_declared_encoding(beginning, is_html=True)
    encoding = _web_encoding(label or "")
    # The declaration was readable as ASCII, so the page is not UTF-16.
    return "utf-8" if encoding is not None and encoding.startswith("utf-16") else encoding


def _web_encoding(label: str) -> str | None:
    try:
        name = codecs.lookup(label).name
    except (LookupError, ValueError):
        return None
    name = OTHER_ON_THE_WEB.get(name, name)
    return name if WEB_ENCODINGS.fullmatch(name) else None


def _is_text(media_type: str) -> bool:
    return media_type.startswith("text/") or media_type.endswith(("json", "xml", "javascript"))


def _base(tree: LexborHTMLParser, address: Target) -> Target:
    """Return the first `<base href>` (HTML, "document base URL"), unless it is not http(s); else the page's URL."""
    for node in select(tree, "base[href]")[:1]:
        url = Url.parse(node.attributes["href"] or "", address.url)
        if url is not None and url.is_http:
            # The base needs no check itself, because every URL joined to it is checked.
            return Target(url, address.policy)
    return address
