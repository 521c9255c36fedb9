"""Evidence: what probes bring and checks read. Frozen, typed, without behaviour beyond convenient names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser

from scans.engine.robots import Robots
from scans.engine.sitemaps import Sitemap
from scans.net.response import Headers, Response
from scans.net.tls import Handshake
from scans.net.tls_ciphers import TlsVersion
from scans.targets import Target


@dataclass(frozen=True, slots=True)
class Clock:
    """The scan's time, so that no check reads the clock: aware, UTC."""

    now: datetime


@dataclass(frozen=True, slots=True)
class Page:
    """The page that was asked for: every hop of the redirects, the last of which is the page itself."""

    requested: Target
    target: Target  # where the redirects ended
    hops: tuple[Response, ...]

    @property
    def response(self) -> Response:
        """The final response."""
        return self.hops[-1]

    @property
    def headers(self) -> Headers:
        """The final response's headers."""
        return self.hops[-1].headers

    @property
    def media_type(self) -> str:
        """The final response's media type in lower case without parameters; empty when none was sent.

        Of several, the last counts (Fetch, "extract a MIME type").
        """
        values = (self.headers.get("Content-Type") or "").split(",")
        return values[-1].split(";")[0].strip().lower()

    @property
    def is_html(self) -> bool:
        """Whether a browser would show it as HTML; a missing type is sniffed."""
        if self.media_type:
            return self.media_type in ("text/html", "application/xhtml+xml")
        return self.response.body.lstrip()[:1] == b"<"


@dataclass(frozen=True, slots=True)
class Document:
    """The page's markup, parsed as browsers with scripts do (HTML5), and the base URL of its references."""

    tree: LexborHTMLParser
    text: str  # the decoded source
    encoding: str
    base: Target


# What the transport and header checks of a security scan read.


@dataclass(frozen=True, slots=True)
class PlainHttp:
    """What the host answers over plain HTTP when asked for the page.

    `url` is None where no port for plain HTTP is known. No `hops` and an `error`: nothing answers there.
    Hops and a `next_url`: nothing came from the address that the last hop leads to; `error` says why.
    """

    url: str | None
    hops: tuple[Response, ...] = ()
    error: str = ""
    next_url: str = ""


@dataclass(frozen=True, slots=True)
class TlsPeer:
    """Who answers over TLS. `handshake` is None where nobody does, and `error` says what came instead.

    `is_silent`: nothing came at all in the time, so that asking again only costs more of it.
    """

    host: str
    port: int
    handshake: Handshake | None
    error: str = ""
    is_silent: bool = False


@dataclass(frozen=True, slots=True)
class TlsSupport:
    """What the server takes when it is offered: protocol versions, and the cipher suite it chose for each.

    `weak_ciphers` holds one suite for each kind of weakness. Names are IANA's. All is empty without TLS.
    """

    versions: Mapping[TlsVersion, str]
    weak_ciphers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HttpsAnswer:
    """The host's response over HTTPS: the page's own, or of its twin when the page came over plain HTTP.

    None where nothing answers over TLS.
    """

    response: Response | None


@dataclass(frozen=True, slots=True)
class CorsAnswer:
    """What a request with this `Origin` got: the Access-Control-Allow-… field lines, unchanged."""

    origin: str
    allow_origin: tuple[str, ...]
    allow_credentials: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cors:
    """The page asked for from foreign origins: a random one, then `null`."""

    answers: tuple[CorsAnswer, ...]


@dataclass(frozen=True, slots=True)
class SecondLook:
    """The page asked for once more; None where nothing on it could tell two visits apart."""

    page: Page | None = None
    document: Document | None = None


@dataclass(frozen=True, slots=True)
class Script:
    """A script that the page loads, and its beginning where it was read."""

    url: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class PageScripts:
    """The first scripts that the page's markup loads."""

    scripts: tuple[Script, ...]


@dataclass(frozen=True, slots=True)
class Authorities:
    """The CAA records that hold for the host: those of the first name from it upwards that has any.

    `domain` is None where the name is not the owner's own; then nothing else is known either.
    """

    domain: str | None
    name: str = ""
    records: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Signatures:
    """Whether the domain is signed: validated by the resolver, or with DS at its parent and DNSKEY of its own."""

    domain: str | None
    is_authenticated: bool = False
    ds: tuple[str, ...] = ()
    dnskey: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MailPolicy:
    """What the domain says of its mail: MX records, and the TXT records of SPF and DMARC."""

    domain: str | None
    mx: tuple[str, ...] = ()
    spf: tuple[str, ...] = ()
    dmarc: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SecurityTxt:
    """The file at /.well-known/security.txt of the host, else of its domain; None where none of them has one."""

    response: Response | None


# What the exposure and disclosure checks of a security scan read.


@dataclass(frozen=True, slots=True)
class MissingPaths:
    """What the site answers for paths that cannot exist: two of random names, then one that is also malformed.

    The third is left out where nothing came.
    """

    answers: tuple[Response, ...]


@dataclass(frozen=True, slots=True)
class PathAnswer:
    """What came from a path where a sensitive file may lie; the body is not kept. No redirect was followed.

    `is_exposed`: it came with status 200, proved by its content to be such a file, and unlike what the site
    answers for files that do not exist. `excerpt` then names what proved it, masked, without any value.
    `status` is None where nothing came, or nothing to compare it with; `error` says why.
    """

    path: str
    status: int | None
    media_type: str = ""
    size_bytes: int = 0
    is_exposed: bool = False
    excerpt: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Exposure:
    """The paths that were asked for, by the check ID of their family."""

    families: Mapping[str, tuple[PathAnswer, ...]]


@dataclass(frozen=True, slots=True)
class AssetDirectories:
    """What the folders answer that the page's own assets lie in, as far as anything came."""

    answers: tuple[Response, ...]


# What an SEO scan reads beside the page.


@dataclass(frozen=True, slots=True)
class RobotsFile:
    """The robots.txt of the page's origin. `robots` is empty unless the file came with a status of success.

    No `response` and an `error`: none came. `redirected_away`: more redirects than crawlers follow.
    """

    url: str
    response: Response | None
    robots: Robots
    error: str = ""
    redirected_away: bool = False

    @property
    def is_unreachable(self) -> bool:
        """Whether crawlers have to take it that everything is forbidden (RFC 9309, section 2.3.1.4).

        Google takes 429 for a server error, too.
        """
        if self.response is None:
            return not self.redirected_away
        return self.response.status >= 500 or self.response.status == 429


@dataclass(frozen=True, slots=True)
class CanonicalAnswer:
    """What the address answers that the page names as canonical; no redirect was followed.

    `url` is None where there is none, or no single one, or it is the page's own. No `page` and an `error`:
    nothing came from there.
    """

    url: str | None = None
    page: Page | None = None
    document: Document | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class AlternateAnswer:
    """What another language version answers; no redirect was followed. No `page` and an `error`: nothing came."""

    url: str
    page: Page | None = None
    document: Document | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class AlternateAnswers:
    """The language versions that were looked at, the page itself not among them."""

    answers: tuple[AlternateAnswer, ...]


@dataclass(frozen=True, slots=True)
class ShareImage:
    """The status of the picture for sharing; None where there is none, or nothing came, and `error` says why."""

    status: int | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class SitemapFile:
    """What came from a sitemap's address, its redirects followed, and what it holds if that was a success.

    `status` is None where nothing came, and `error` says why. `is_told`: the answer says something of the sitemap;
    a time-out, too many requests and a protection say nothing.
    """

    url: str
    status: int | None = None
    error: str = ""
    sitemap: Sitemap | None = None
    is_told: bool = True


@dataclass(frozen=True, slots=True)
class Sitemaps:
    """The site's sitemaps: those that robots.txt names, else those found in the usual places.

    `named` counts the Sitemap lines of robots.txt. `children` are a sample of what the indexes among `files` name.
    """

    files: tuple[SitemapFile, ...] = ()
    named: int = 0
    children: tuple[SitemapFile, ...] = ()


@dataclass(frozen=True, slots=True)
class LinkAnswer:
    """What came from where a link leads. `is_broken` is None where that proves nothing.

    `status` is that of the end of its redirects; None where nothing came, and `error` says why.
    """

    url: str
    is_internal: bool
    status: int | None
    is_broken: bool | None
    error: str = ""


@dataclass(frozen=True, slots=True)
class LinkAnswers:
    """The links that were looked at, and how many might have been; `stopped` says why some of them were left."""

    answers: tuple[LinkAnswer, ...] = ()
    internal: int = 0
    external: int = 0
    stopped: str = ""


# What a browser brings. Checks that need it are planned where there is one.


@dataclass(frozen=True, slots=True)
class TapTarget:
    """A link or control as it was laid out. `is_crowded`: another one lies within 24 pixels of its centre."""

    selector: str
    width_px: float
    height_px: float
    is_crowded: bool


@dataclass(frozen=True, slots=True)
class Rendered:
    """The page after its scripts have run, on a phone's screen: its tree, and letters by their size in pixels."""

    document: Document
    letters_by_px: Mapping[float, int]
    targets: tuple[TapTarget, ...] = ()


# What a performance scan reads beside the page.


class ResourceKind(StrEnum):
    """What a page loads a resource as."""

    SCRIPT = "script"
    STYLESHEET = "stylesheet"
    IMAGE = "image"
    FONT = "font"
    MEDIA = "media"
    ICON = "icon"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Resource:
    """A sub-resource and what came when it was asked for. Sizes in bytes.

    `status` is that of the end of its redirects; None where nothing came, and `error` says why. `body` is
    decoded, and only its beginning for images and the like.
    """

    url: str  # as referred to, without a fragment
    kind: ResourceKind
    # Whether a browser loads it with the page: no lazy image, no background that a style sheet may not use.
    eager: bool
    depth: int  # 1: the document refers to it, 2: a style sheet of it does
    status: int | None
    wire_bytes: int = 0  # bodies as they were sent, those of redirects too
    body_bytes: int = 0
    header_bytes: int = 0
    headers: Headers = Headers()  # noqa: RUF009  (frozen)
    body: bytes = b""
    body_sha256: str = ""
    final_url: str = ""
    redirects: int = 0
    error: str = ""

    @property
    def host(self) -> str:
        """The host that it is referred to on."""
        return urlsplit(self.url).hostname or ""


@dataclass(frozen=True, slots=True)
class Resources:
    """The page's sub-resources, each address once, in the order of the markup; `left_out` were not asked for."""

    items: tuple[Resource, ...]
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds from the request for the document to the end of its response's headers, once for each try."""

    ttfb_s: tuple[float, ...]
