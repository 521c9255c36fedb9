"""Evidence that performance scans gather."""

from __future__ import annotations

from msgspec import Struct

from website_scan.net.http.response import Headers
from website_scan.page.css import Compound
from website_scan.page.image_headers import ImageHeader
from website_scan.page.references import ResourceKind
from website_scan.performance.caching import LONG_LIFETIME_S, CachePolicy, cache_hit_probability
from website_scan.urls import host_of

# Some font services adapt style sheets to the browser, and give an unknown browser old formats.
ADAPTIVE_FONT_HOSTS = frozenset({"fonts.gstatic.com", "fonts.googleapis.com", "use.typekit.net", "fast.fonts.net"})


class Resource(Struct, frozen=True):
    """Sub-resource of a page and the response to its request.

    `status` is the status of the response at the end of the redirects; None without a response, and `error` says why.
    `body` is decoded; of images, fonts and media it has only the beginning.
    """

    url: str  # URL in the page, before redirects and without a fragment.
    kind: ResourceKind
    # False for lazy images and for backgrounds that may be unused.
    eager: bool
    depth: int  # 1 if the document refers to the resource, 2 if another resource refers to it.
    status: int | None
    wire_bytes: int = 0  # Transferred size of all bodies, including redirects.
    body_bytes: int = 0
    last_response_wire_bytes: int = 0  # Transferred size of the last body alone.
    is_cut: bool = False  # The body is incomplete, because of a limit or a broken connection.
    header_bytes: int = 0  # Size of the largest headers among the redirects and the final response.
    http_version: str = "1.1"  # Browsers may negotiate another HTTP version than the scanner.
    headers: Headers = Headers()
    body: bytes = b""
    body_sha256: str = ""
    final_url: str = ""
    redirects: int = 0
    error: str = ""
    picture: ImageHeader | None = None  # Format and dimensions of an image in a known format.
    is_fetched: bool = True  # If False, the scanner has not requested the resource, and headers and body are unknown.
    may_exist: bool = False  # The host has no address, but perhaps only for the scanner's name servers.
    # A request by another site's script or frame does not break the page if it fails.
    may_fail: bool = False

    @property
    def host(self) -> str:
        """Return the host of the resource's URL before redirects."""
        return host_of(self.url)

    @property
    def media_type(self) -> str:
        """Return the media type in lower case, without parameters.

        Empty if the header is missing.
        """
        return (self.headers.get("Content-Type") or "").split(",")[-1].split(";")[0].strip().lower()


class Resources(Struct, frozen=True):
    """Sub-resources of a page.

    `left_out` is the number of sub-resources that the scanner did not request.

    Without a browser: each URL of the markup once, in the markup's order. With a browser: its requests in their order.
    """

    items: tuple[Resource, ...]
    left_out: int = 0


class FontFace(Struct, frozen=True):
    """CSS @font-face rule with a file.

    `url` is the absolute URL of the source that a browser would choose.

    `has_latin_letters`: the rule's `unicode-range` includes Latin letters. `is_local`: a font that is installed on the
    machine may be used instead of the file. `display` is empty without `font-display`.
    """

    family: str
    url: str
    display: str = ""
    has_latin_letters: bool = True
    is_local: bool = False


class StyleImport(Struct, frozen=True):
    """CSS @import of `address`.

    `sheet` is the URL of the importing style sheet, or of the page for a style element.
    """

    sheet: str
    address: str


class Styles(Struct, frozen=True):
    """Facts about the page's style sheets for checks.

    Imported style sheets are included.

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


class OriginProtocol(Struct, frozen=True):
    """HTTP versions that an https origin supports.

    `alpn` is the server's choice of h2 or http/1.1, or None without a TLS handshake. `h3`: a response of the origin
    offers HTTP/3 (Alt-Svc).
    """

    origin: str
    static_requests: int
    alpn: str | None
    h3: bool = False
    error: str = ""

    @property
    def is_multiplexed(self) -> bool:
        """Return True if the origin uses HTTP/2 or HTTP/3.

        Then browsers send concurrent requests over one connection.
        """
        return self.h3 or self.alpn == "h2"


class Protocols(Struct, frozen=True):
    """HTTP versions of the page's important https origins.

    They have many static files or close connections.
    """

    origins: tuple[OriginProtocol, ...] = ()


class Timing(Struct, frozen=True):
    """Time to first byte of each request for the document.

    It is the time in seconds until the headers of the response arrived.
    """

    ttfb_s: tuple[float, ...]


class StaticFile(Struct, frozen=True):
    """Static file, such as a script, with its cache policy."""

    resource: Resource
    policy: CachePolicy

    @property
    def waste_bytes(self) -> float:
        """Return the number of bytes that a later visit is expected to load again.

        It is 0 if the lifetime is at least 30 days.
        """
        lifetime_s = self.policy.lifetime_s or 0
        return (
            0.0
            if lifetime_s >= LONG_LIFETIME_S
            else (1 - cache_hit_probability(lifetime_s)) * self.resource.last_response_wire_bytes
        )


class StaticFiles(Struct, frozen=True):
    """Loaded static files of a page.

    `own` are files of the page's site, `foreign` those of other sites.
    """

    own: tuple[StaticFile, ...]
    foreign: tuple[StaticFile, ...]


class Fonts(Struct, frozen=True):
    """Web fonts of a page.

    `faces` are the font faces in use, `files` are the font files that the page certainly loads.
    """

    faces: tuple[FontFace, ...] = ()
    files: tuple[Resource, ...] = ()

    @property
    def unadapted_files(self) -> list[Resource]:
        """Return the font files without adapted fonts.

        Some services adapt fonts to the browser.
        """
        hosts = ((file, host_of(file.final_url or file.url)) for file in self.files)
        return [each for each, host in hosts if host not in ADAPTIVE_FONT_HOSTS]


class DomSize(Struct, frozen=True):
    """Number of elements in the document, and depth of the deepest element.

    The body has depth 0.
    """

    elements: int
    depth: int
    deepest: str  # Tags on the path from the body to the deepest element.
