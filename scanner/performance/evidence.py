"""What a performance scan reads beside the page."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from scanner.net.http.response import Headers
from scanner.page.css import Compound
from scanner.page.image_headers import ImageHeader
from scanner.page.references import ResourceKind
from scanner.performance.caching import LONG_S, CachePolicy, hit_probability

# They send each browser other style sheets; to us, whom they do not know, old formats and whole fonts.
ADAPTING_HOSTS = frozenset({"fonts.gstatic.com", "fonts.googleapis.com", "use.typekit.net", "fast.fonts.net"})


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
    depth: int  # 1: the document refers to it, 2: something that was loaded for it does
    status: int | None
    wire_bytes: int = 0  # bodies as they were sent, those of redirects too
    body_bytes: int = 0
    own_wire_bytes: int = 0  # the last response's body alone, as it was sent
    is_cut: bool = False  # more came, or should have come, than is counted here
    header_bytes: int = 0  # the largest head among the redirects' and its own
    http_version: str = "1.1"  # that our client was answered with; browsers may agree on another
    headers: Headers = Headers()  # noqa: RUF009  (frozen)
    body: bytes = b""
    body_sha256: str = ""
    final_url: str = ""
    redirects: int = 0
    error: str = ""
    picture: ImageHeader | None = None  # what the file itself says, if it is an image of a known format
    is_fetched: bool = True  # by ourselves; otherwise there is the browser's log alone, so no headers and no body
    may_fail: bool = False  # the page is not broken without it: a script, or another site's frame, asked for it

    @property
    def host(self) -> str:
        """The host that it is referred to on."""
        return urlsplit(self.url).hostname or ""

    @property
    def media_type(self) -> str:
        """The media type that it came with, in lower case without parameters; empty when there is none."""
        return (self.headers.get("Content-Type") or "").split(",")[-1].split(";")[0].strip().lower()


@dataclass(frozen=True, slots=True)
class Resources:
    """The page's sub-resources; `left_out` were not asked for.

    Of the markup each address once, in its order; with a browser each request that it made, in that order.
    """

    items: tuple[Resource, ...]
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class FontFace:
    """An @font-face rule with a file. `url` is absolute, of the source that a browser would choose.

    `is_latin`: it holds for Latin letters, as far as its `unicode-range` says. `is_local`: a font of the
    machine may stand in for the file. `display` is empty where it says nothing.
    """

    family: str  # in lower case
    url: str
    display: str = ""
    is_latin: bool = True
    is_local: bool = False


@dataclass(frozen=True, slots=True)
class StyleImport:
    """A style sheet that waits for another one: `sheet` holds the @import, and is the page for its own styles."""

    sheet: str
    address: str


@dataclass(frozen=True, slots=True)
class Styles:
    """What the page's style sheets, and those that they import, say that checks want to know.

    `families` are the font families, in lower case, that come first where a rule, that an element of the
    document may match, names fonts. `sized` are the elements, of names that there are in the
    document, for which a rule sets the height or takes them out of the flow; `Compound()` means any.
    """

    faces: tuple[FontFace, ...] = ()
    families: frozenset[str] = frozenset()
    imports: tuple[StyleImport, ...] = ()
    sized: frozenset[Compound] = frozenset()


@dataclass(frozen=True, slots=True)
class OriginProtocol:
    """What an https origin speaks. `alpn` is what it chose of h2 and http/1.1, None where nothing was told.

    `h3`: one of its responses offers HTTP/3 (Alt-Svc).
    """

    origin: str
    static_requests: int
    alpn: str | None
    h3: bool = False
    error: str = ""

    @property
    def is_multiplexed(self) -> bool:
        """Whether browsers send requests side by side on one connection."""
        return self.h3 or self.alpn == "h2"


@dataclass(frozen=True, slots=True)
class Protocols:
    """The https origins that were asked: those with many static files, and those that close connections."""

    origins: tuple[OriginProtocol, ...] = ()


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds from the request for the document to the end of its response's headers, once for each try."""

    ttfb_s: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A file that caches may keep, and what they may do with it."""

    resource: Resource
    policy: CachePolicy

    @property
    def waste_bytes(self) -> float:
        """What of it a later visit is expected to load again; 30 days are taken to be enough."""
        lifetime_s = self.policy.lifetime_s or 0
        return 0.0 if lifetime_s >= LONG_S else (1 - hit_probability(lifetime_s)) * self.resource.own_wire_bytes


@dataclass(frozen=True, slots=True)
class StaticFiles:
    """The static files that came: those of the page's site, and those of others."""

    own: tuple[StaticFile, ...]
    foreign: tuple[StaticFile, ...]


@dataclass(frozen=True, slots=True)
class Fonts:
    """`faces` are those in use, `files` the font files that the page is sure to load."""

    faces: tuple[FontFace, ...] = ()
    files: tuple[Resource, ...] = ()

    @property
    def same_for_all(self) -> list[Resource]:
        """The files without those of services that send each browser another one."""
        hosts = ((each, urlsplit(each.final_url or each.url).hostname or "") for each in self.files)
        return [each for each, host in hosts if host not in ADAPTING_HOSTS]


@dataclass(frozen=True, slots=True)
class DomSize:
    """Elements in all, and how deep the deepest stands below the body, whose own depth is 0."""

    elements: int
    depth: int
    deepest: str  # tags from the body to it, "body > div > …"
