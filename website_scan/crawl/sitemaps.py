"""Streaming parser for sitemaps and feeds.

XML sitemaps (sitemaps.org), text sitemaps and feeds. The input may be hostile: decompression bombs, entities, unclosed
tags. So it is read in chunks, within limits.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum
from xml.parsers import expat

from msgspec import Struct, field
from msgspec.structs import replace

from website_scan.crawl.gzip_files import CHUNK_BYTES, BrokenGzip, decompress_gzip
from website_scan.crawl.sitemap_entries import NEWS, PLAIN_URL, EntryReader, SitemapEntries, url_key
from website_scan.urls import host_of

MAX_URLS = 50_000  # Maximum of a sitemap or index (sitemaps.org, "Sitemaps XML format").
MAX_BYTES = 52_428_800  # Maximum decompressed size of a sitemap.
# A sitemap has about four elements for each URL, and more for images and languages.
MAX_ELEMENTS = 1_000_000
MAX_TAG_BYTES = 1024 * 1024  # expat reads an incomplete tag again with every chunk.
MAX_URL_LENGTH = 4096  # The protocol's limit is 2,048 characters, and longer URLs are truncated.
MAX_CHILD_SITEMAPS = 500  # Only this many sitemaps of an index are stored, and a sample is read.
EXAMPLES = 5

HTML = re.compile(rb"(?:\s|\xef\xbb\xbf|<!--.{0,2000}?-->)*+<(?:!doctype\s+html|html|head|body)\b", re.I | re.S)
NAMESPACES = re.compile(
    r"https?://(?:www\.)?(?:sitemaps\.org/schemas/sitemap/0\.9|google\.com/schemas/sitemap/0\.\d+)/?"
)
ABSOLUTE = re.compile(r"https?://[^/?#\s]", re.IGNORECASE)


class SitemapKind(StrEnum):
    """Kind of a sitemap file.

    The values are the names of root elements for XML sitemaps.
    """

    PAGES = "urlset"
    INDEX = "sitemapindex"
    TEXT = "text"
    FEED = "feed"


class Sitemap(Struct, frozen=True):
    """Content of a sitemap file.

    If the file can't be read, `fault` is a clause with the reason. `kind` is None if the root element is invalid.
    `count` is the number of URLs, `size_bytes` the decompressed size, both of the part that was read: the whole file if
    `is_whole`. `relative` and `foreign` are the first URLs without scheme and host, and on other hosts.
    """

    kind: SitemapKind | None = None
    fault: str = ""
    is_whole: bool = True
    count: int = 0
    size_bytes: int = 0
    namespace: str = ""
    is_news: bool = False  # True for a news sitemap, which lists articles for two days only.
    contains_page: bool = False
    relative: tuple[str, ...] = ()
    relative_url_count: int = 0
    foreign: tuple[str, ...] = ()
    foreign_url_count: int = 0
    children: tuple[str, ...] = ()  # The first sitemaps listed in an index.
    entries: SitemapEntries = field(default_factory=SitemapEntries)

    @property
    def is_complete(self) -> bool:
        """Return True if the whole file was read and lists all URLs.

        Feeds and news sitemaps do not list all URLs.
        """
        return self.is_whole and not self.fault and self.kind is not SitemapKind.FEED and not self.is_news

    @property
    def has_known_namespace(self) -> bool:
        """Return True if the sitemap has a valid XML namespace.

        Text sitemaps and feeds need none.
        """
        return self.kind not in (SitemapKind.PAGES, SitemapKind.INDEX) or bool(NAMESPACES.fullmatch(self.namespace))


class SitemapFile(Struct, frozen=True):
    """Sitemap file at a URL.

    It has the status of the final response, and the parsed content if the status is a success. `status` is None if
    there was no response; `error` has the reason. `is_conclusive` is False if the response proves nothing about the
    sitemap: a time-out, too many requests, a bot protection.
    """

    url: str
    status: int | None = None
    error: str = ""
    sitemap: Sitemap | None = None
    is_conclusive: bool = True


class Sitemaps(Struct, frozen=True):
    """Sitemaps that robots.txt lists, else those at the usual paths.

    `named` is the number of Sitemap lines in robots.txt. `children` are a sample of the sitemaps that indexes in
    `files` name.
    """

    files: tuple[SitemapFile, ...] = ()
    named: int = 0
    children: tuple[SitemapFile, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Return True if all sitemaps of the site were read completely."""
        files = (*self.files, *self.children)
        complete = [file.sitemap for file in files if file.sitemap is not None and file.sitemap.is_complete]
        child_count = sum(sitemap.count for sitemap in complete if sitemap.kind is SitemapKind.INDEX)
        return self.named <= len(self.files) and len(complete) == len(files) and child_count <= len(self.children)


def parse_sitemap(
    content: bytes,
    *,
    is_cut: bool,
    hosts: frozenset[str] = frozenset(),
    pages: frozenset[str] = frozenset(),
    on_url: Callable[[str], object] = lambda _: None,
) -> Sitemap:
    """Parse a sitemap, which may be compressed with gzip.

    Never fails, for any content. `is_cut`: `content` is only the beginning of the file. `hosts` are those that the
    sitemap may name; `pages` are the URLs of a page to search for. `on_url` is called with every URL of a page as
    written, in order; its exceptions end the parsing. Parsing stops when a limit of the protocol is exceeded.
    """
    reader = _UrlCollector(hosts, frozenset(map(url_key, pages)), on_url)
    size_bytes = 0
    fault, is_whole = "", not is_cut
    try:
        pieces = decompress_gzip(content, is_cut)
        first = next(pieces, b"").removeprefix(b"\xef\xbb\xbf").lstrip()
        if HTML.match(first):
            return Sitemap(fault="is an HTML page", size_bytes=len(content), is_whole=is_whole)
        if not first and not is_cut:
            return Sitemap(fault="is empty")
        parser: _XmlParser | _TextParser = _XmlParser(reader) if _is_xml(first) else _TextParser(reader)
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
    except (_UnreadableSitemap, BrokenGzip) as error:
        fault, is_whole = str(error), False
    return replace(reader.build_sitemap(), fault=fault, is_whole=is_whole, size_bytes=size_bytes)


class _UnreadableSitemap(Exception):
    """Raised when a file is not a sitemap.

    The message is a clause with the reason.
    """


class _UrlCollector:
    """Collector of a sitemap's URLs.

    It counts all URLs and stores the first of each kind.
    """

    def __init__(self, hosts: frozenset[str], page_keys: frozenset[str], on_url: Callable[[str], object]) -> None:
        self._hosts = hosts
        self._page_keys = page_keys
        self._on_url = on_url
        self.kind: SitemapKind | None = None
        self.namespace = ""
        self.is_news = False
        self.count = 0
        self.elements = 0
        self._contains_page = False
        self._relative: list[str] = []
        self._relative_url_count = 0
        self._foreign: list[str] = []
        self._foreign_url_count = 0
        self._children: dict[str, None] = {}
        self.entries = EntryReader(page_keys)

    def add_url(self, text: str) -> None:
        self.count += 1
        text = text.strip()
        host = _url_host(text)
        if self.kind is SitemapKind.INDEX:
            if host and len(self._children) < MAX_CHILD_SITEMAPS:
                self._children[text] = None
        else:
            self._on_url(text)
            if host and not self._contains_page:
                self._contains_page = url_key(text) in self._page_keys
        if self.kind is SitemapKind.FEED:
            return  # URLs of a feed may be relative or on other hosts.
        if not host:
            self._relative_url_count += 1
            if len(self._relative) < EXAMPLES:
                self._relative.append(text)
        elif self.kind is not SitemapKind.INDEX and host not in self._hosts:
            self._foreign_url_count += 1
            if len(self._foreign) < EXAMPLES:
                self._foreign.append(text)

    def build_sitemap(self) -> Sitemap:
        return Sitemap(
            kind=self.kind,
            count=self.count,
            namespace=self.namespace,
            is_news=self.is_news,
            contains_page=self._contains_page,
            relative=tuple(self._relative),
            relative_url_count=self._relative_url_count,
            foreign=tuple(self._foreign),
            foreign_url_count=self._foreign_url_count,
            children=tuple(self._children),
            entries=self.entries.result(),
        )


class _XmlParser:
    """Parser of XML sitemaps and feeds.

    URLs are in `loc` elements of the root's namespace, or RSS and Atom links.
    """

    def __init__(self, reader: _UrlCollector) -> None:
        self._reader = reader
        self._fed = 0
        self._path: list[str] = []
        self._text: list[str] | None = None
        self._text_length = 0
        self._is_url = False
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._on_element_start
        self._parser.EndElementHandler = self._on_element_end
        self._parser.CharacterDataHandler = self._on_text
        self._parser.EntityDeclHandler = self._refuse_entity

    def feed(self, piece: bytes) -> None:
        self._parse(piece, is_last=False)
        self._fed += len(piece)
        if self._fed - self._parser.CurrentByteIndex > MAX_TAG_BYTES:
            raise _UnreadableSitemap("has a tag or comment larger than a megabyte")

    def close(self) -> None:
        self._parse(b"", is_last=True)

    def _parse(self, piece: bytes, *, is_last: bool) -> None:
        try:
            self._parser.Parse(piece, is_last)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            raise _UnreadableSitemap(f"is malformed XML (line {error.lineno:,}: {reason})") from None
        except (ValueError, LookupError):
            raise _UnreadableSitemap("is in an unknown encoding") from None

    def _on_element_start(self, name: str, attributes: dict[str, str]) -> None:
        reader = self._reader
        reader.elements += 1
        namespace, _, local = name.rpartition(" ")
        if not self._path:
            reader.namespace = namespace
            reader.kind = _kind_of_root(local)
        if len(self._path) > 100:
            raise _UnreadableSitemap("is nested too deeply for a sitemap")
        reader.entries.start(namespace, local, attributes, len(self._path), self._parser.CurrentLineNumber)
        self._path.append(local)
        if namespace == NEWS:
            reader.is_news = True
        self._text, self._text_length, self._is_url = [], 0, False
        if reader.kind is SitemapKind.FEED:
            if local == "link" and self._path[-2] in ("item", "entry"):
                if "href" not in attributes:
                    self._is_url = True
                elif attributes.get("rel", "alternate") == "alternate":
                    reader.add_url(attributes["href"])
        elif local == "loc" and namespace == reader.namespace:
            self._is_url = True

    def _on_text(self, text: str) -> None:
        if self._text is not None and self._text_length < MAX_URL_LENGTH:
            self._text.append(text[:MAX_URL_LENGTH])
            self._text_length += len(text)

    def _on_element_end(self, _: str) -> None:
        self._path.pop()
        text = None if self._text is None else "".join(self._text)
        if text is not None and self._is_url:
            self._reader.add_url(text)
        self._reader.entries.end(text)
        self._text = None

    def _refuse_entity(self, *_: object) -> None:
        raise _UnreadableSitemap("declares XML entities, which crawlers do not expand")


class _TextParser:
    """Parser of text sitemaps, which have one URL per line, in UTF-8."""

    def __init__(self, reader: _UrlCollector) -> None:
        self._reader = reader
        self._rest = b""

    def feed(self, piece: bytes) -> None:
        *lines, self._rest = re.split(rb"\r\n|\r|\n", self._rest + piece)
        for line in lines:
            self._parse_line(line)
        if len(self._rest) > CHUNK_BYTES:
            raise _UnreadableSitemap("is neither XML nor a list of URLs")

    def close(self) -> None:
        self._parse_line(self._rest)
        if self._reader.kind is None:
            raise _UnreadableSitemap("is neither XML nor a list of URLs")

    def _parse_line(self, line: bytes) -> None:
        if not line.strip():
            return
        text = line.decode("utf-8", "replace")[:MAX_URL_LENGTH]
        if self._reader.kind is None:
            if not ABSOLUTE.match(text.strip()):
                raise _UnreadableSitemap("is neither XML nor a list of URLs")
            self._reader.kind = SitemapKind.TEXT
        self._reader.add_url(text)


def _kind_of_root(root: str) -> SitemapKind:
    match root:
        case "urlset":
            return SitemapKind.PAGES
        case "sitemapindex":
            return SitemapKind.INDEX
        case "rss" | "feed" | "RDF":
            return SitemapKind.FEED
    raise _UnreadableSitemap(f"has the root element <{root[:40]}>, which is not a sitemap's")


def _is_xml(first: bytes) -> bool:
    return first[:1] == b"<" or first[:2] in (b"\xff\xfe", b"\xfe\xff")


def _url_host(address: str) -> str:
    """Return the host of an http(s) URL, without the brackets of IPv6.

    Empty for any other text.
    """
    if plain := PLAIN_URL.fullmatch(address):
        return plain[1]
    return host_of(address) if ABSOLUTE.match(address) else ""
