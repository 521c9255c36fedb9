"""URLs as browsers parse them (WHATWG URL): parsed once into an immutable, canonical value.

Only this module uses the URL parser, so no two parts of a scan can disagree about a host. The parts are cut from the
canonical text. URLs that are not fetched, such as DATABASE_URL or the text of a stored report, are for `written_urls`.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

import ada_url

DEFAULT_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21}
# URLs in hostile pages may be megabytes long, and must not fill the cache.
CACHED_URLS, CACHED_CHARACTERS = 4096, 500

_PARTS = re.compile(
    r"(?P<scheme>[^:]+):"
    # A path that begins with two slashes follows "/." if there is no host (WHATWG URL, section 4.5).
    r"(?://(?:(?P<user>[^/?#@]*)@)?(?P<host>\[[^\]]*\]|[^/?#:]*)(?::(?P<port>[0-9]+))?|/\.(?=//))?"
    r"(?P<path>[^?#]*)(?:\?(?P<query>[^#]*))?(?:\#(?P<fragment>.*))?",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Url:
    """Absolute URL of any scheme in canonical form.

    `scheme` has no colon. `host` has no port, IPv6 has no brackets; it is ASCII if the scheme is one of the web's, and
    empty if the URL has none. `port` is the scheme's default if the URL has none; None if the scheme has no default.
    `query` and `fragment` are without `?` and `#`; empty if only the mark is present.
    """

    href: str
    scheme: str
    host: str
    port: int | None
    path: str
    query: str
    fragment: str
    has_credentials: bool

    @classmethod
    def parse(cls, text: str, base: str | None = None) -> Url | None:
        """Return the URL of a text, or of a reference on the page `base`; None if the text is not a URL."""
        try:
            return cls.of(text, base)
        except ValueError:
            return None

    @classmethod
    def of(cls, text: str, base: str | None = None) -> Url:
        """Return the URL of a text, or of a reference on the page `base`. Raises ValueError if it is not a URL."""
        if len(text) > CACHED_CHARACTERS:
            return _url(text, base)
        return _cached_url(text, base)

    @property
    def is_http(self) -> bool:
        """Return True if the scheme is http or https."""
        return self.scheme in ("http", "https")

    @property
    def hostname(self) -> str:
        """Return the host as in the URL: IPv6 in brackets."""
        return f"[{self.host}]" if ":" in self.host else self.host

    @property
    def host_and_port(self) -> str:
        """Return the host, IPv6 in brackets, with the port if it is not the scheme's default."""
        is_default = self.port is None or self.port == DEFAULT_PORTS.get(self.scheme)
        return self.hostname if is_default else f"{self.hostname}:{self.port}"

    @property
    def origin(self) -> str:
        """Return `scheme://host[:port]`; "null" if the scheme has no origins (WHATWG URL, section 4.7)."""
        if self.scheme in DEFAULT_PORTS:
            return f"{self.scheme}://{self.host_and_port}"
        inner = Url.parse(self.path) if self.scheme == "blob" else None
        return inner.origin if inner is not None and inner.is_http else "null"

    @property
    def path_and_query(self) -> str:
        """Return the path, with `?` and the query unless the query is empty."""
        return f"{self.path}?{self.query}" if self.query else self.path

    @property
    def without_fragment(self) -> str:
        """Return the canonical URL without its fragment, as a client requests it."""
        return self.href.partition("#")[0]

    def with_host(self, host: str) -> Url:
        """Return the URL with another host. Raises ValueError if the host is invalid."""
        url = ada_url.URL(self.href)
        url.hostname = host
        return Url.of(url.href)


def host_of(text: str) -> str:
    """Return the host of a URL, IPv6 without brackets; empty if it has no host, or is not a URL."""
    url = Url.parse(text)
    return url.host if url is not None else ""


def host_and_port_of(text: str) -> str:
    """Return the host of a URL with the port unless it is the scheme's default; empty if it is not a URL."""
    url = Url.parse(text)
    return url.host_and_port if url is not None else ""


def origin_of(text: str) -> str:
    """Return the origin of a URL; empty if it is not a URL."""
    url = Url.parse(text)
    return url.origin if url is not None else ""


def _url(text: str, base: str | None) -> Url:
    href = ada_url.normalize_url(text) if base is None else ada_url.join_url(base, text)
    match = _PARTS.fullmatch(href)
    assert match is not None, href
    scheme, user, host, port, path, query, fragment = match.groups(default="")
    return Url(
        href,
        scheme,
        host.removeprefix("[").removesuffix("]"),
        int(port) if port else DEFAULT_PORTS.get(scheme),
        path,
        query,
        fragment,
        bool(user),
    )


_cached_url = functools.lru_cache(CACHED_URLS)(_url)
