"""Evidence of a performance scan, besides the page."""

from __future__ import annotations

from dataclasses import dataclass

from website_scan.net.http.response import Headers
from website_scan.page.css import Compound
from website_scan.page.image_headers import ImageHeader
from website_scan.page.references import ResourceKind
from website_scan.performance.caching import LONG_S, CachePolicy, hit_probability
from website_scan.urls import host_of

# Font services that adapt style sheets to the browser; the scanner, which they do not know, gets old formats and whole
# fonts.
ADAPTING_HOSTS = frozenset({"fonts.gstatic.com", "fonts.googleapis.com", "use.typekit.net", "fast.fonts.net"})


@dataclass(frozen=True, slots=True)
class Resource:
    """A sub-resource and the result of its request. Sizes in bytes.

    `status` is that of the response at the end of its redirects; None if there was none, and `error` says why. `body`
    is decoded; for images and the like it is only the beginning.
    """

    url: str  # as referred to, without a fragment
    kind: ResourceKind
    # True if a browser loads it with the page: not a lazy image, nor a background that a style sheet may not use.
    eager: bool
    depth: int  # 1: referenced by the document, 2: by a resource that the document loads
    status: int | None
    wire_bytes: int = 0  # bodies as sent, including those of redirects
    body_bytes: int = 0
    own_wire_bytes: int = 0  # only the last response's body, as sent
    is_cut: bool = False  # the body is incomplete: over a limit, or broken off
    header_bytes: int = 0  # the largest head of its redirects and its final response
    http_version: str = "1.1"  # in the response to this client; browsers may negotiate another
    headers: Headers = Headers()  # noqa: RUF009  (frozen)
    body: bytes = b""
    body_sha256: str = ""
    final_url: str = ""
    redirects: int = 0
    error: str = ""
    picture: ImageHeader | None = None  # the file's own header, if it is an image of a known format
    is_fetched: bool = True  # by the scanner; if False, only the browser's log exists, without headers and body
    may_exist: bool = False  # its host's name has no address, but perhaps only for the scanner
    may_fail: bool = False  # a failure does not break the page: requested by a script or another site's frame

    @property
    def host(self) -> str:
        """Return the host of the URL that refers to it."""
        return host_of(self.url)

    @property
    def media_type(self) -> str:
        """Return the media type in lower case without parameters; empty if none was sent."""
        return (self.headers.get("Content-Type") or "").split(",")[-1].split(";")[0].strip().lower()


@dataclass(frozen=True, slots=True)
class Resources:
    """The page's sub-resources. `left_out` counts those that were not requested although the page loads them.

    From the markup: each URL once, in its order. From a browser: each of its requests, in their order.
    """

    items: tuple[Resource, ...]
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class FontFace:
    """An @font-face rule with a file. `url` is the absolute URL of the source that a browser would choose.

    `is_latin`: its `unicode-range` includes Latin letters. `is_local`: a font of the machine may be used instead of the
    file. `display` is empty if the rule has none.
    """

    family: str  # in lower case
    url: str
    display: str = ""
    is_latin: bool = True
    is_local: bool = False


@dataclass(frozen=True, slots=True)
class StyleImport:
    """An imported style sheet. `sheet` is the URL of the importing one, or of the page for its style elements."""

    sheet: str
    address: str


@dataclass(frozen=True, slots=True)
class Styles:
    """Facts from the page's style sheets, including imported ones, that the checks need.

    `families` are the font families, in lower case, that are first in the font list of a rule that may match an element
    of the document. `icons` are those that a rule also keeps from being read aloud, as generators of icon fonts do.
    `sized` are compounds, with names that occur in the document, for which a rule sets the height or takes the element
    out of the flow; `Compound()` means any element.
    """

    faces: tuple[FontFace, ...] = ()
    families: frozenset[str] = frozenset()
    icons: frozenset[str] = frozenset()
    imports: tuple[StyleImport, ...] = ()
    sized: frozenset[Compound] = frozenset()


@dataclass(frozen=True, slots=True)
class OriginProtocol:
    """HTTP versions of an https origin. `alpn` is its choice of h2 and http/1.1; None if there was no answer.

    `h3`: one of its responses offers HTTP/3 (Alt-Svc).
    """

    origin: str
    static_requests: int
    alpn: str | None
    h3: bool = False
    error: str = ""

    @property
    def is_multiplexed(self) -> bool:
        """Return True if browsers send concurrent requests on one connection."""
        return self.h3 or self.alpn == "h2"


@dataclass(frozen=True, slots=True)
class Protocols:
    """The https origins that were tested: those with many static files, and those that close connections."""

    origins: tuple[OriginProtocol, ...] = ()


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds from each request for the document to the end of the response's headers."""

    ttfb_s: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A file that caches may keep, with its cache policy."""

    resource: Resource
    policy: CachePolicy

    @property
    def waste_bytes(self) -> float:
        """Return the bytes that a later visit is expected to load again; a lifetime of 30 days counts as enough."""
        lifetime_s = self.policy.lifetime_s or 0
        return 0.0 if lifetime_s >= LONG_S else (1 - hit_probability(lifetime_s)) * self.resource.own_wire_bytes


@dataclass(frozen=True, slots=True)
class StaticFiles:
    """The static files that were loaded: those of the page's site, and those of other sites."""

    own: tuple[StaticFile, ...]
    foreign: tuple[StaticFile, ...]


@dataclass(frozen=True, slots=True)
class Fonts:
    """Web fonts. `faces` are those in use, `files` the font files that the page is sure to load."""

    faces: tuple[FontFace, ...] = ()
    files: tuple[Resource, ...] = ()

    @property
    def same_for_all(self) -> list[Resource]:
        """Return the files, except those of services that adapt files to the browser."""
        hosts = ((each, host_of(each.final_url or each.url)) for each in self.files)
        return [each for each, host in hosts if host not in ADAPTING_HOSTS]


@dataclass(frozen=True, slots=True)
class DomSize:
    """Number of elements, and depth of the deepest one below the body, which has depth 0."""

    elements: int
    depth: int
    deepest: str  # tags from the body to the deepest element
