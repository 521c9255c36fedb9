"""Evidence of performance scans, except for the page."""

from __future__ import annotations

from dataclasses import dataclass

from website_scan.net.http.response import Headers
from website_scan.page.css import Compound
from website_scan.page.image_headers import ImageHeader
from website_scan.page.references import ResourceKind
from website_scan.performance.caching import LONG_S, CachePolicy, hit_probability
from website_scan.urls import host_of

# Font services that adapt style sheets to the browser. The scanner, an unknown browser, gets old formats and fonts with
# all characters.
ADAPTING_HOSTS = frozenset({"fonts.gstatic.com", "fonts.googleapis.com", "use.typekit.net", "fast.fonts.net"})


@dataclass(frozen=True, slots=True)
class Resource:
    """Sub-resource of a page and the result of its request. Sizes in bytes.

    `status` is the status of the response at the end of the redirects; None without a response, and `error` says why.
    `body` is decoded; of images, fonts and media it has only the beginning.
    """

    url: str  # as the page refers to the resource, without a fragment
    kind: ResourceKind
    # True if a browser loads the resource with the page; False for lazy images and for backgrounds that may be unused.
    eager: bool
    depth: int  # 1: referenced by the document, 2: by a resource that the document loads
    status: int | None
    wire_bytes: int = 0  # bodies as sent, including those of redirects
    body_bytes: int = 0
    own_wire_bytes: int = 0  # body of the last response alone, as sent
    is_cut: bool = False  # the body is incomplete: over a limit, or broken off
    header_bytes: int = 0  # largest headers among the redirects and the final response
    http_version: str = "1.1"  # in the response to this client; browsers may negotiate another
    headers: Headers = Headers()  # noqa: RUF009  (frozen)
    body: bytes = b""
    body_sha256: str = ""
    final_url: str = ""
    redirects: int = 0
    error: str = ""
    picture: ImageHeader | None = None  # header of the file, if the file is an image of a known format
    is_fetched: bool = True  # the scanner requested the resource; if False, headers and body are unknown
    may_exist: bool = False  # the host has no address, but perhaps only for the scanner's name servers
    may_fail: bool = False  # a failure does not break the page: a script or another site's frame made the request

    @property
    def host(self) -> str:
        """Return the host of the resource's URL, before redirects."""
        return host_of(self.url)

    @property
    def media_type(self) -> str:
        """Return the media type in lower case, without parameters; empty without a Content-Type."""
        return (self.headers.get("Content-Type") or "").split(",")[-1].split(";")[0].strip().lower()


@dataclass(frozen=True, slots=True)
class Resources:
    """Sub-resources of a page. `left_out` counts sub-resources that the page loads, but the scanner did not request.

    Without a browser: each URL of the markup once, in the markup's order. With a browser: its requests in their order.
    """

    items: tuple[Resource, ...]
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class FontFace:
    """@font-face rule with a file. `url` is the absolute URL of the source that a browser would choose.

    `is_latin`: the rule's `unicode-range` includes Latin letters. `is_local`: a font that is installed on the machine
    may be used instead of the file. `display` is empty without `font-display`.
    """

    family: str  # in lower case
    url: str
    display: str = ""
    is_latin: bool = True
    is_local: bool = False


@dataclass(frozen=True, slots=True)
class StyleImport:
    """@import of the style sheet `address` by `sheet`: the URL of a style sheet, or of the page for a style element."""

    sheet: str
    address: str


@dataclass(frozen=True, slots=True)
class Styles:
    """Facts from the page's style sheets, including imported style sheets, that checks need.

    `families` are the font families, in lower case, that are first in the font list of a rule that may match an element
    of the document. `icons` are families in a rule that sets `speak`, as generators of icon fonts do. `sized` are
    compound selectors, with names that occur in the document, of rules that set the height of an element or remove it
    from the flow; `Compound()` means any element.
    """

    faces: tuple[FontFace, ...] = ()
    families: frozenset[str] = frozenset()
    icons: frozenset[str] = frozenset()
    imports: tuple[StyleImport, ...] = ()
    sized: frozenset[Compound] = frozenset()


@dataclass(frozen=True, slots=True)
class OriginProtocol:
    """HTTP versions of an https origin. `alpn` is the server's choice of h2 or http/1.1; None without a TLS handshake.

    `h3`: a response of the origin offers HTTP/3 (Alt-Svc).
    """

    origin: str
    static_requests: int
    alpn: str | None
    h3: bool = False
    error: str = ""

    @property
    def is_multiplexed(self) -> bool:
        """Return True if browsers send concurrent requests on one connection to the origin (HTTP/2 or HTTP/3)."""
        return self.h3 or self.alpn == "h2"


@dataclass(frozen=True, slots=True)
class Protocols:
    """Tested https origins: origins with many static files, and origins that close connections."""

    origins: tuple[OriginProtocol, ...] = ()


@dataclass(frozen=True, slots=True)
class Timing:
    """Time to first byte of each request for the document: seconds until the response's headers have arrived."""

    ttfb_s: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class StaticFile:
    """Static file (script, style sheet, image, font, icon) with its cache policy."""

    resource: Resource
    policy: CachePolicy

    @property
    def waste_bytes(self) -> float:
        """Return the bytes that a later visit is expected to load again; none with a lifetime of 30 days or more."""
        lifetime_s = self.policy.lifetime_s or 0
        return 0.0 if lifetime_s >= LONG_S else (1 - hit_probability(lifetime_s)) * self.resource.own_wire_bytes


@dataclass(frozen=True, slots=True)
class StaticFiles:
    """Static files that were loaded: from the page's site (`own`), and from other sites (`foreign`)."""

    own: tuple[StaticFile, ...]
    foreign: tuple[StaticFile, ...]


@dataclass(frozen=True, slots=True)
class Fonts:
    """Web fonts. `faces` are the font faces in use, `files` the font files that the page is sure to load."""

    faces: tuple[FontFace, ...] = ()
    files: tuple[Resource, ...] = ()

    @property
    def unadapted_files(self) -> list[Resource]:
        """Return the font files, except those of services that adapt fonts to the browser."""
        hosts = ((file, host_of(file.final_url or file.url)) for file in self.files)
        return [each for each, host in hosts if host not in ADAPTING_HOSTS]


@dataclass(frozen=True, slots=True)
class DomSize:
    """Number of elements, and depth of the deepest element; the body has depth 0."""

    elements: int
    depth: int
    deepest: str  # tags from the body to the deepest element
