"""Parser of sitemaps: the XML protocol of sitemaps.org, lists of URLs, and feeds. It counts without building a tree.

The input may be hostile: decompression bombs, entities, unclosed tags. All input is read in pieces and bounded.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from urllib.parse import unquote
from xml.parsers import expat

from website_scan.crawl.gzip_files import PIECE_BYTES, BrokenGzip, decompressed
from website_scan.urls import Url, host_of

MAX_URLS = 50_000  # per sitemap or index (sitemaps.org, "Sitemaps XML format")
MAX_BYTES = 52_428_800  # decompressed
# Per file. A sitemap with the maximum number of URLs has about four elements for each; more with images and languages.
MAX_ELEMENTS = 1_000_000
MAX_TOKEN_BYTES = 1024 * 1024  # per tag, because the parser starts a tag again with every piece
MAX_ADDRESS = 4096  # characters; the protocol's limit is 2,048
MAX_CHILDREN = 500  # per index; the sample is drawn from these
EXAMPLES = 5

HTML = re.compile(rb"(?:\s|\xef\xbb\xbf|<!--.{0,2000}?-->)*+<(?:!doctype\s+html|html|head|body)\b", re.I | re.S)
NEWS = "http://www.google.com/schemas/sitemap-news/0.9"
NAMESPACES = re.compile(
    r"https?://(?:www\.)?(?:sitemaps\.org/schemas/sitemap/0\.9|google\.com/schemas/sitemap/0\.\d+)/?"
)
ABSOLUTE = re.compile(r"https?://[^/?#\s]", re.IGNORECASE)
# URLs that are already in canonical form, and need no parsing.
PLAIN = re.compile(r"https?://([a-z0-9.-]+)/[A-Za-z0-9_~!$&'()*+,;=:@/-]*(?:\.[A-Za-z0-9_-]+)?")


class SitemapKind(StrEnum):
    """Kind of a sitemap file, by its root element if there is one."""

    PAGES = "urlset"
    INDEX = "sitemapindex"
    TEXT = "text"
    FEED = "feed"


@dataclass(frozen=True, slots=True)
class Sitemap:
    """Content of a sitemap file. `fault` is a clause on why it can't be read; then `kind` is None if the root is
    invalid.

    `count` is the number of URLs, `size_bytes` the decompressed size, both of the part that was read: the whole file if
    `is_whole`. `relative` and `foreign` are the first URLs without scheme and host, and on other hosts.
    """

    kind: SitemapKind | None = None
    fault: str = ""
    is_whole: bool = True
    count: int = 0
    size_bytes: int = 0
    namespace: str = ""
    is_recent: bool = False  # a news sitemap, which lists articles for two days
    names_page: bool = False
    relative: tuple[str, ...] = ()
    relative_count: int = 0
    foreign: tuple[str, ...] = ()
    foreign_count: int = 0
    children: tuple[str, ...] = ()  # first sitemaps that an index names

    @property
    def is_complete(self) -> bool:
        """Return True if a URL that is missing here is missing from the list. Feeds and news contain only the latest
        URLs.
        """
        return self.is_whole and not self.fault and self.kind is not SitemapKind.FEED and not self.is_recent

    @property
    def has_known_namespace(self) -> bool:
        """Return True if the file has the sitemap protocol's namespace, or is a list or feed, which need none."""
        return self.kind not in (SitemapKind.PAGES, SitemapKind.INDEX) or bool(NAMESPACES.fullmatch(self.namespace))


@dataclass(frozen=True, slots=True)
class SitemapFile:
    """Final response for a sitemap's URL, after redirects, and its content if the response was a success.

    `status` is None if there was no response; `error` has the reason. `is_conclusive` is False if the response proves
    nothing about the sitemap: a time-out, too many requests, a bot protection.
    """

    url: str
    status: int | None = None
    error: str = ""
    sitemap: Sitemap | None = None
    is_conclusive: bool = True


@dataclass(frozen=True, slots=True)
class Sitemaps:
    """Sitemaps of a site: those that robots.txt names, else those at the usual paths.

    `named` is the number of Sitemap lines in robots.txt. `children` are a sample of the sitemaps that indexes in
    `files` name.
    """

    files: tuple[SitemapFile, ...] = ()
    named: int = 0
    children: tuple[SitemapFile, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Return True if all of the site's sitemaps were read, so that a URL that was not found is not listed."""
        files = (*self.files, *self.children)
        complete = [file.sitemap for file in files if file.sitemap is not None and file.sitemap.is_complete]
        in_indexes = sum(sitemap.count for sitemap in complete if sitemap.kind is SitemapKind.INDEX)
        return self.named <= len(self.files) and len(complete) == len(files) and in_indexes <= len(self.children)


def parse_sitemap(
    content: bytes,
    *,
    is_cut: bool,
    hosts: frozenset[str] = frozenset(),
    pages: frozenset[str] = frozenset(),
    take: Callable[[str], None] = lambda _: None,
) -> Sitemap:
    """Return the content of a sitemap, compressed with gzip or not. Never fails, for any content.

    `is_cut`: `content` is only the beginning of the file. `hosts` are those that the sitemap may name; `pages` are the
    URLs of a page to search for. `take` is called with every URL of a page as written, in order; an exception raised by
    it ends the parsing. Parsing stops when a limit of the protocol is exceeded.
    """
    reader = _Reader(hosts, frozenset(map(address_key, pages)), take)
    size_bytes = 0
    fault, is_whole = "", not is_cut
    try:
        pieces = decompressed(content, is_cut)
        first = next(pieces, b"").removeprefix(b"\xef\xbb\xbf").lstrip()
        if HTML.match(first):
            return Sitemap(fault="is an HTML page", size_bytes=len(content), is_whole=is_whole)
        if not first and not is_cut:
            return Sitemap(fault="is empty")
        parser: _Xml | _Text = _Xml(reader) if _is_xml(first) else _Text(reader)
        size_bytes = len(first)
        parser.feed(first)
        for piece in pieces:
            size_bytes += len(piece)
            if size_bytes > MAX_BYTES or reader.count > MAX_URLS or reader.elements > MAX_ELEMENTS:
                is_whole = False
                break
            parser.feed(piece)
        if is_whole:
            parser.close()
    except (_Unreadable, BrokenGzip) as error:
        fault, is_whole = str(error), False
    return replace(reader.content(), fault=fault, is_whole=is_whole, size_bytes=size_bytes)


def address_key(url: str) -> str:
    """Return a key that is equal for two URLs of the same page: the canonical URL (WHATWG URL) with escapes undone."""
    if PLAIN.fullmatch(url):
        return url
    parsed = Url.parse(url)
    return unquote(parsed.without_fragment) if parsed is not None else url


class _Unreadable(Exception):
    """File that is not a sitemap; the message is a clause with the reason."""


class _Reader:
    """Counter of the URLs of one file, with the first URLs of each kind."""

    def __init__(self, hosts: frozenset[str], page_keys: frozenset[str], take: Callable[[str], None]) -> None:
        self._hosts = hosts
        self._page_keys = page_keys
        self._take = take
        self.kind: SitemapKind | None = None
        self.namespace = ""
        self.is_recent = False
        self.count = 0
        self.elements = 0
        self._names_page = False
        self._relative: list[str] = []
        self._relative_count = 0
        self._foreign: list[str] = []
        self._foreign_count = 0
        self._children: dict[str, None] = {}

    def address(self, text: str) -> None:
        self.count += 1
        text = text.strip()
        host = _host(text)
        if self.kind is SitemapKind.INDEX:
            if host and len(self._children) < MAX_CHILDREN:
                self._children[text] = None
        else:
            self._take(text)
            if host and not self._names_page:
                self._names_page = address_key(text) in self._page_keys
        if self.kind is SitemapKind.FEED:
            return  # a feed's URLs may be relative, and on other hosts
        if not host:
            self._relative_count += 1
            if len(self._relative) < EXAMPLES:
                self._relative.append(text)
        elif self.kind is not SitemapKind.INDEX and host not in self._hosts:
            self._foreign_count += 1
            if len(self._foreign) < EXAMPLES:
                self._foreign.append(text)

    def content(self) -> Sitemap:
        return Sitemap(
            kind=self.kind,
            count=self.count,
            namespace=self.namespace,
            is_recent=self.is_recent,
            names_page=self._names_page,
            relative=tuple(self._relative),
            relative_count=self._relative_count,
            foreign=tuple(self._foreign),
            foreign_count=self._foreign_count,
            children=tuple(self._children),
        )


class _Xml:
    """XML parser of the elements with URLs: `loc` in the root's namespace; links of RSS and Atom."""

    def __init__(self, reader: _Reader) -> None:
        self._reader = reader
        self._fed = 0
        self._path: list[str] = []
        self._text: list[str] | None = None
        self._text_length = 0
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.EntityDeclHandler = self._entity

    def feed(self, piece: bytes) -> None:
        self._parse(piece, is_last=False)
        self._fed += len(piece)
        if self._fed - self._parser.CurrentByteIndex > MAX_TOKEN_BYTES:
            raise _Unreadable("has a tag or comment larger than a megabyte")

    def close(self) -> None:
        self._parse(b"", is_last=True)

    def _parse(self, piece: bytes, *, is_last: bool) -> None:
        try:
            self._parser.Parse(piece, is_last)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            raise _Unreadable(f"is malformed XML (line {error.lineno:,}: {reason})") from None
        except (ValueError, LookupError):
            raise _Unreadable("is in an unknown encoding") from None

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        reader = self._reader
        reader.elements += 1
        namespace, _, local = name.rpartition(" ")
        if not self._path:
            reader.namespace = namespace
            reader.kind = _kind(local)
        if len(self._path) > 100:
            raise _Unreadable("is nested too deeply for a sitemap")
        self._path.append(local)
        if namespace == NEWS:
            reader.is_recent = True
        self._text = None
        if reader.kind is SitemapKind.FEED:
            if local == "link" and self._path[-2] in ("item", "entry"):
                if "href" not in attributes:
                    self._text, self._text_length = [], 0
                elif attributes.get("rel", "alternate") == "alternate":
                    reader.address(attributes["href"])
        elif local == "loc" and namespace == reader.namespace:
            self._text, self._text_length = [], 0

    def _characters(self, text: str) -> None:
        if self._text is not None and self._text_length < MAX_ADDRESS:
            self._text.append(text[:MAX_ADDRESS])
            self._text_length += len(text)

    def _end(self, _: str) -> None:
        self._path.pop()
        if self._text is not None:
            self._reader.address("".join(self._text))
            self._text = None

    def _entity(self, *_: object) -> None:
        raise _Unreadable("declares XML entities, which crawlers do not expand")


class _Text:
    """Parser of a text sitemap: one URL per line, in UTF-8."""

    def __init__(self, reader: _Reader) -> None:
        self._reader = reader
        self._rest = b""

    def feed(self, piece: bytes) -> None:
        *lines, self._rest = re.split(rb"\r\n|\r|\n", self._rest + piece)
        for line in lines:
            self._line(line)
        if len(self._rest) > PIECE_BYTES:
            raise _Unreadable("is neither XML nor a list of URLs")

    def close(self) -> None:
        self._line(self._rest)
        if self._reader.kind is None:
            raise _Unreadable("is neither XML nor a list of URLs")

    def _line(self, line: bytes) -> None:
        if not line.strip():
            return
        text = line.decode("utf-8", "replace")[:MAX_ADDRESS]
        if self._reader.kind is None:
            if not ABSOLUTE.match(text.strip()):
                raise _Unreadable("is neither XML nor a list of URLs")
            self._reader.kind = SitemapKind.TEXT
        self._reader.address(text)


def _kind(root: str) -> SitemapKind:
    match root:
        case "urlset":
            return SitemapKind.PAGES
        case "sitemapindex":
            return SitemapKind.INDEX
        case "rss" | "feed" | "RDF":
            return SitemapKind.FEED
    raise _Unreadable(f"has the root element <{root[:40]}>, which is not a sitemap's")


def _is_xml(first: bytes) -> bool:
    return first[:1] == b"<" or first[:2] in (b"\xff\xfe", b"\xfe\xff")


def _host(address: str) -> str:
    """Return the host of an http(s) URL, IPv6 without brackets; empty for any other text."""
    if plain := PLAIN.fullmatch(address):
        return plain[1]
    return host_of(address) if ABSOLUTE.match(address) else ""
