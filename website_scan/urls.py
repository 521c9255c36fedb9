"""Immutable, canonical URLs, parsed as browsers do (WHATWG URL).

Only this module uses the URL parser, so no two parts of a scan can disagree about a host. The parts are cut from the
canonical text. URLs that are not fetched, such as DATABASE_URL or the text of a stored report, are for `written_urls`.
"""

from __future__ import annotations

import functools
import re

import ada_url
from msgspec import Struct

DEFAULT_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21}
# Long URLs are not cached, because URLs in hostile pages may be megabytes long.
MAX_CACHED_URLS, MAX_CACHED_URL_CHARACTERS = 4096, 500

# Characters that mean the same with and without an escape (RFC 3986, section 2.3).
UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
# An escape, or a character that RFC 3986 allows only as an escape.
_ESCAPE_OR_INVALID = re.compile(r"""%([0-9A-Fa-f]{2})|["<>\\^`{|}\[\]]""")

_PARTS = re.compile(
    r"(?P<scheme>[^:]+):"
    # Without a host, "/." precedes a path that begins with two slashes (WHATWG URL, section 4.5).
    r"(?://(?:(?P<user>[^/?#@]*)@)?(?P<host>\[[^\]]*\]|[^/?#:]*)(?::(?P<port>[0-9]+))?|/\.(?=//))?"
    r"(?P<path>[^?#]*)(?:\?(?P<query>[^#]*))?(?:\#(?P<fragment>.*))?",
    re.DOTALL,
)


class Url(Struct, frozen=True):
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
        """Parse a URL, or a reference on the page `base`.

        Returns None for an invalid URL.
        """
        try:
            return cls.of(text, base)
        except ValueError:
            return None

    @classmethod
    def of(cls, text: str, base: str | None = None) -> Url:
        """Parse a URL, or a reference on the page `base`.

        Raises ValueError for an invalid URL.
        """
        if len(text) > MAX_CACHED_URL_CHARACTERS:
            return _url(text, base)
        return _cached_url(text, base)

    @property
    def is_http(self) -> bool:
        """Return True if the scheme is http or https."""
        return self.scheme in ("http", "https")

    @property
    def hostname(self) -> str:
        """Return the host as written in a URL, with IPv6 in brackets."""
        return f"[{self.host}]" if ":" in self.host else self.host

    @property
    def host_and_port(self) -> str:
        """Return the host with a port that is not the scheme's default.

        An IPv6 address is in brackets.
        """
        has_default_port = self.port is None or self.port == DEFAULT_PORTS.get(self.scheme)
        return self.hostname if has_default_port else f"{self.hostname}:{self.port}"

    @property
    def origin(self) -> str:
        """Return the origin of a URL, such as https://example.com:8443.

        It is "null" if the scheme has no origins (WHATWG URL, section 4.7).
        """
        if self.scheme in DEFAULT_PORTS:
            return f"{self.scheme}://{self.host_and_port}"
        inner = Url.parse(self.path) if self.scheme == "blob" else None
        return inner.origin if inner is not None and inner.is_http else "null"

    @property
    def path_and_query(self) -> str:
        """Return path and query, with `?` between them unless the query is empty."""
        return f"{self.path}?{self.query}" if self.query else self.path

    @property
    def without_fragment(self) -> str:
        """Return the canonical URL without its fragment, as HTTP clients request it."""
        return self.href.partition("#")[0]

    def with_host(self, host: str) -> Url:
        """Replace the host of a URL.

        Raises ValueError if the new host is invalid.
        """
        url = ada_url.URL(self.href)
        url.hostname = host
        return Url.of(url.href)


def normal_form(text: str) -> str:
    """Normalize an http(s) URL.

    Equivalent URLs have the same result, without fragment (RFC 3986, section 6.2.2).

    Escapes have upper-case digits, unreserved characters have no escapes, and characters that a URI may not contain
    have them. The parser has already normalised case, port and dot segments. Reserved characters stay as they are,
    because `/` and `%2F` are different. Invalid URLs are returned unchanged.
    """
    url = Url.parse(text)
    if url is None or not url.is_http:
        return text
    start = url.href.partition("#")[0]
    if "%" not in start and _ESCAPE_OR_INVALID.search(start) is None:
        return start
    # Brackets of an IPv6 host are not escaped.
    authority, slash, rest = start[len(url.scheme) + 3 :].partition("/")
    return f"{url.scheme}://{authority}{slash}{_ESCAPE_OR_INVALID.sub(_normalise_match, rest)}"


def are_equivalent(url: str, other: str) -> bool:
    """Return True if two URLs are the same in `normal_form`."""
    return url == other or normal_form(url) == normal_form(other)


def host_of(text: str) -> str:
    """Return the host of a URL.

    An IPv6 address has no brackets. Empty for an invalid URL, or for a URL without host.
    """
    url = Url.parse(text)
    return url.host if url is not None else ""


def host_and_port_of(text: str) -> str:
    """Return the host of a URL, with a port that is not the default.

    Empty for an invalid URL.
    """
    url = Url.parse(text)
    return url.host_and_port if url is not None else ""


def origin_of(text: str) -> str:
    """Return the origin of a URL; empty for an invalid URL."""
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


def _normalise_match(match: re.Match[str]) -> str:
    if match[1] is None:
        return f"%{ord(match[0]):02X}"
    character = chr(int(match[1], 16))
    return character if character in UNRESERVED else match[0].upper()


_cached_url = functools.lru_cache(MAX_CACHED_URLS)(_url)
