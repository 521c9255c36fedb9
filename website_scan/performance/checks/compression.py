"""Checks of compression, minification and unused code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, ClassVar

from msgspec import Struct

from website_scan.browser.evidence import BrowserLoad, Coverage, LoadedRequest
from website_scan.catalogue import Category, States, check
from website_scan.findings import HIGH, LOW, MEDIUM, NotApplicable, Server
from website_scan.messages import KIB, cut, document_thresholds, excerpt, size
from website_scan.outcomes import Fail, Fix, Pass, Verdict, Warn, judge_by_limits
from website_scan.page.evidence import Page
from website_scan.page.image_headers import ImageFormat
from website_scan.page.references import ResourceKind
from website_scan.page.registrable_domain import is_same_site
from website_scan.performance.compression import (
    MAX_SCANNED_BYTES,
    MODERN_CODINGS,
    content_codings,
    count_css_waste_bytes,
    count_javascript_waste_bytes,
    measure_gzip_saving,
)
from website_scan.performance.evidence import Resource, Resources
from website_scan.places import Column, Place, PlaceUrl, WireBytes
from website_scan.values import Bytes, Count, Share, Values, Word

CATEGORY = Category("Compression and minification", weight=8, html=True)

MAX_WASTED_BYTES_TO_PASS, MAX_WASTED_BYTES_TO_WARN = 20 * KIB, 200 * KIB
# Compression does not speed up a file that fits into one packet.
PACKET_BYTES = 1_400
# The scanner compresses at most this number of bytes to measure the saving, in total and per file.
MAX_GZIP_BYTES, MAX_GZIP_BYTES_PER_FILE = 4 * 1024 * KIB, 1024 * KIB
MIN_WASTE_BYTES = 2 * KIB
# Limit for the total size of scripts, or of style sheets, whose comments and whitespace are counted.
MAX_WASTE_SCAN_BYTES = 3 * 1024 * KIB
MAX_CSS_WASTE_PERCENT, MAX_JS_WASTE_PERCENT = 5, 10
MAX_UNUSED_CSS_BYTES, MAX_UNUSED_JS_BYTES = 10 * KIB, 20 * KIB
# Percentage that a content coding must save on an image or font to be useful.
MIN_WORTHWHILE_PERCENT = 5
TEXT_MEDIA_TYPES = ("text/", "application/json", "application/javascript", "application/xml", "image/svg+xml")
COMPRESSED_FONT_SIGNATURES = (b"wOF2", b"wOFF")


class UncompressedText(Place, frozen=True):
    """Text file that is sent uncompressed."""

    kind: ClassVar[str] = "uncompressed-text"

    url: PlaceUrl
    bytes: Annotated[int, Column("Size", "number", "bytes")]
    gzip_would_save_bytes: Annotated[int, Column("gzip would save", "number", "bytes")]


class TwiceCompressed(Place, frozen=True):
    """Image or font with a needless content coding.

    The file format is already compressed.
    """

    kind: ClassVar[str] = "twice-compressed"

    url: PlaceUrl
    bytes: Annotated[int, Column("Size", "number", "bytes")]
    sent_bytes: Annotated[int, Column("Sent", "number", "bytes")]


class UnminifiedFile(Place, frozen=True):
    """File with removable whitespace and comments.

    Their share of the file's bytes is stored.
    """

    kind: ClassVar[str] = "unminified-file"

    url: PlaceUrl
    share_percent: Annotated[int, Column("Share", "number", "%")]
    wasted_bytes: Annotated[int, Column("Could save", "number", "bytes")]

    @property
    def label(self) -> str:
        return f"{cut(self.url, 120)} ({self.share_percent}%)"


class UnusedCode(Place, frozen=True):
    """Script or style sheet with code that the page does not use."""

    kind: ClassVar[str] = "unused-code"

    url: PlaceUrl
    wire_bytes: WireBytes
    unused_bytes: Annotated[int, Column("Unused", "number", "bytes")]
    unused_percent: Annotated[int, Column("Share unused", "number", "%")]

    @property
    def label(self) -> str:
        return f"{cut(self.url, 120)} ({self.unused_percent}%)"


class _TextFile(Struct, frozen=True):
    """Decoded text file, with its transferred size and its content codings."""

    url: str
    host: str
    body: bytes
    wire_bytes: int
    codings: frozenset[str]


class _UnusedCode(Struct, frozen=True):
    """Script or style sheet with its number of unused bytes.

    It also has its transferred size.
    """

    url: str
    wire_bytes: int
    unused_bytes: float

    @property
    def share(self) -> float:
        """Return the unused share of the file's bytes, 0 to 1."""
        return self.unused_bytes / self.wire_bytes


@check(
    "text-compressed",
    name="Text is compressed",
    outcomes={"uncompressed": "Text is sent uncompressed", "document": "Page is sent uncompressed"},
    why="Uncompressed text takes longer to arrive, most of all on slow connections.",
    consequence="The page takes longer to load than necessary, most of all on slow phone connections.",
    judged=document_thresholds(size(MAX_WASTED_BYTES_TO_PASS), size(MAX_WASTED_BYTES_TO_WARN))
    + " The saving is what gzip saves on the bytes received.",
    severity=HIGH,
    fix=Fix(
        "Compress text on the server.",
        {
            Server.NGINX: "gzip on; gzip_types text/css application/javascript application/json image/svg+xml;",
            Server.APACHE: "AddOutputFilterByType DEFLATE text/html text/css application/javascript application/json "
            "image/svg+xml",
            Server.IIS: '<urlCompression doStaticCompression="true" doDynamicCompression="true"/>',
        },
    ),
    references=("Lighthouse: uses-text-compression", "RFC 9110, section 8.4"),
)
def text_compressed(page: Page, resources: Resources) -> Verdict:
    """Judge by the bytes that gzip saves.

    The check compresses the text files itself.
    """
    remaining = MAX_GZIP_BYTES
    savings: list[tuple[int, _TextFile]] = []
    for text in _text_files(page, resources):
        if text.codings or len(text.body) < PACKET_BYTES or remaining <= 0:
            continue
        sample = text.body[: min(remaining, MAX_GZIP_BYTES_PER_FILE)]
        remaining -= len(sample)
        savings.append((measure_gzip_saving(sample), text))
    if not savings:
        return Pass("All text that is large enough to matter is compressed.")
    savings.sort(key=lambda pair: -pair[0])
    total = sum(saving for saving, _ in savings)
    places = [UncompressedText(excerpt(text.url), len(text.body), saving) for saving, text in savings]
    if any(text.url == page.target.url for _, text in savings):
        document = Bytes(len(page.response.body))
        saving = Bytes(total)
        if len(savings) == 1:
            summary = "The document is sent uncompressed ({document}; gzip would save {saving})."
            return Fail("document", summary, places=places, document=document, saving=saving)
        return Fail(
            "document",
            "The document ({document}) and {others} are sent uncompressed (gzip would save {saving} in all).",
            places=places,
            document=document,
            others=Count(len(savings) - 1, "other text file"),
            saving=saving,
        )
    return judge_by_limits(
        "uncompressed",
        "{files} {files:is|are} sent uncompressed; gzip would save {saving}",
        total,
        (MAX_WASTED_BYTES_TO_PASS, MAX_WASTED_BYTES_TO_WARN),
        files=Count(len(savings), "text file"),
        limit=Bytes(MAX_WASTED_BYTES_TO_PASS),
        saving=Bytes(total),
        places=places,
    )


@check(
    "modern-encoding",
    name="Brotli or Zstandard compression",
    outcomes={
        "gzip-only": "Text is compressed with gzip only",
        "old-coding": "Text is compressed with {codings} only",
    },
    why="Brotli and Zstandard compress text better than gzip.",
    judged="Files of other sites do not count, nor do those over plain HTTP, where browsers accept gzip only, nor "
    "those that fit into one packet as they are.",
    severity=LOW,
    fix=Fix(
        "Offer Brotli or Zstandard beside gzip.",
        {
            Server.NGINX: "brotli on; # with the module ngx_brotli",
            Server.APACHE: "AddOutputFilterByType BROTLI_COMPRESS text/html text/css application/javascript",
            Server.IIS: "# Install IIS Compression, which adds Brotli",
        },
    ),
    references=("RFC 7932", "RFC 8878", "MDN: Content-Encoding"),
)
def modern_encoding(page: Page, resources: Resources) -> Verdict:
    """Judge only the site's https files.

    Browsers accept Brotli and Zstandard only over https.
    """
    own = [
        text
        for text in _text_files(page, resources)
        if text.codings and text.url.startswith("https:") and is_same_site(text.host, page.target.host)
    ]
    if not own:
        return NotApplicable("No text of the site was sent compressed over HTTPS.")
    modern = [text for text in own if text.codings & MODERN_CODINGS]
    if modern:
        used = sorted(set().union(*(text.codings & MODERN_CODINGS for text in modern)))
        return Pass(
            "{files} {files:is|are} sent with {codings}.",
            files=Share(len(modern), len(own), "compressed file"),
            codings=Values([Word(coding) for coding in used]),
        )
    large = [text for text in own if text.wire_bytes >= PACKET_BYTES]
    if not large:
        return Pass("Each compressed file fits into one packet, so better compression would make no difference.")
    used = sorted(set().union(*(text.codings for text in large)))
    return Warn(
        "gzip-only" if used == ["gzip"] else "old-coding",
        "{files} ({weight}) {files:is|are} sent with {codings} only, although the scanner accepts newer encodings.",
        files=Count(len(large), "text file"),
        weight=Bytes(sum(text.wire_bytes for text in large)),
        codings=Values([Word(coding) for coding in used], " and "),
    )


@check(
    "needless-encoding",
    name="Images and fonts are not compressed twice",
    outcomes={"compressed-again": "Files are compressed twice"},
    why="Compressing images and fonts again costs CPU time on the server and the phone, and can make them larger.",
    severity=LOW,
    fix="Remove images and fonts (PNG, JPEG, GIF, WebP, AVIF, WOFF, WOFF2) from the types that the server compresses.",
    references=("RFC 9110, section 8.4", "MDN: Content-Encoding"),
)
def needless_encoding(resources: Resources) -> Verdict:
    compressed = [
        resource for resource in resources.items if resource.status == 200 and _is_compressed_format(resource)
    ]
    if not compressed:
        return NotApplicable("The page loads no image or font in a compressed format.")
    needless = [
        resource
        for resource in compressed
        if content_codings(resource.headers) and not resource.is_cut and _has_useless_coding(resource)
    ]
    if not needless:
        files = Count(len(compressed), "file")
        return Pass("No image or font is compressed twice ({files} checked).", files=files)
    return Warn(
        "compressed-again",
        "{files} in {files:a compressed format is|compressed formats are} compressed again, which makes {after} bytes "
        "out of {before}.",
        files=Count(len(needless), "file"),
        before=sum(resource.body_bytes for resource in needless),
        after=sum(resource.last_response_wire_bytes for resource in needless),
        places=[
            TwiceCompressed(excerpt(resource.url), resource.body_bytes, resource.last_response_wire_bytes)
            for resource in needless
        ],
    )


@check(
    "unminified-css",
    name="CSS is minified",
    outcomes={"whitespace": "Unminified CSS"},
    why="Minification removes bytes that no browser needs.",
    severity=LOW,
    fix="Minify style sheets in the build, for example with `lightningcss --minify` or `cssnano`.",
    references=("Lighthouse: unminified-css",),
)
def unminified_css(resources: Resources) -> Verdict:
    return _judge_minification(
        resources, ResourceKind.STYLESHEET, "style sheet", MAX_CSS_WASTE_PERCENT, count_css_waste_bytes
    )


@check(
    "unminified-js",
    name="JavaScript is minified",
    outcomes={"whitespace": "Unminified JavaScript"},
    why="Minification removes bytes that no browser needs.",
    severity=LOW,
    fix="Minify scripts in the build, for example with `esbuild --minify` or `terser`.",
    references=("Lighthouse: unminified-javascript",),
)
def unminified_js(resources: Resources) -> Verdict:
    return _judge_minification(
        resources, ResourceKind.SCRIPT, "script", MAX_JS_WASTE_PERCENT, count_javascript_waste_bytes
    )


@check(
    "unused-css",
    name="Little unused CSS",
    outcomes={"too-much": "Unused CSS"},
    why="Rules that match nothing on the page delay the first paint.",
    judged=f"Up to {size(MAX_UNUSED_CSS_BYTES)} of each file are tolerated, for menus, dialogs and hover styles that "
    "are used later.",
    severity=MEDIUM,
    fix="Split style sheets by page, remove rules that no page uses (for example with PurgeCSS), and load later what "
    "the first screen does not need.",
    references=("Lighthouse: unused-css-rules",),
    measured=True,
    states=States.NONE,
)
def unused_css(coverage: Coverage, load: BrowserLoad) -> Verdict:
    return _judge_unused_code(coverage, load, ResourceKind.STYLESHEET, "style sheet", MAX_UNUSED_CSS_BYTES)


@check(
    "unused-js",
    name="Little unused JavaScript",
    outcomes={"too-much": "Unused JavaScript"},
    why="Code that never runs is still downloaded and parsed.",
    judged=f"Up to {size(MAX_UNUSED_JS_BYTES)} of each file are tolerated, for menus, dialogs and hover styles that "
    "are used later.",
    severity=MEDIUM,
    fix="Split bundles by page, load parts with `import()` when they are needed, and remove libraries that are hardly "
    "used.",
    references=("Lighthouse: unused-javascript",),
    measured=True,
    states=States.NONE,
)
def unused_js(coverage: Coverage, load: BrowserLoad) -> Verdict:
    return _judge_unused_code(coverage, load, ResourceKind.SCRIPT, "script", MAX_UNUSED_JS_BYTES)


def _judge_unused_code(
    coverage: Coverage, load: BrowserLoad, kind: ResourceKind, noun: str, tolerated_bytes: int
) -> Verdict:
    """Judge unused code.

    The worst verdict is a warning.

    Other pages or user actions may need the code.
    """
    files = _unused_files(coverage, load.first.requests, kind)
    if not files:
        return NotApplicable(f"The page loads no external {noun}.")
    wasted = [file for file in files if file.unused_bytes > tolerated_bytes]
    browser = Word(load.product)
    if not wasted:
        return Pass(
            f"No {noun} has more than {{tolerated}} of code that was not used while the page loaded, without scrolling "
            "or tapping ({files} checked in {browser}).",
            tolerated=Bytes(tolerated_bytes),
            files=Count(len(files), noun),
            browser=browser,
        )
    places = [
        UnusedCode(
            url=excerpt(file.url),
            wire_bytes=file.wire_bytes,
            unused_bytes=round(file.unused_bytes),
            unused_percent=round(100 * file.share),
        )
        for file in wasted
    ]
    return Warn(
        "too-much",
        "{unused} of {files} was not used while the page loaded, without scrolling or tapping ({browser}), though "
        "other pages or later actions of visitors may need some of it.",
        unused=Bytes(round(sum(file.unused_bytes for file in wasted))),
        files=Count(len(wasted), noun),
        browser=browser,
        places=places,
    )


def _unused_files(coverage: Coverage, requests: Iterable[LoadedRequest], kind: ResourceKind) -> list[_UnusedCode]:
    """Return the scripts or style sheets with unused parts.

    They were loaded over the network. The largest unused part comes first.

    Inline code is not a file: its URL is the document's.
    """
    sizes: dict[str, int] = {}
    for request in requests:
        if request.kind is kind and request.wire_bytes > 0:
            sizes[request.url] = max(sizes.get(request.url, 0), request.wire_bytes)
    unused = [
        _UnusedCode(file.url, sizes[file.url], sizes[file.url] * min(file.unused, file.length) / file.length)
        for file in coverage.files
        if file.kind is kind and file.length > 0 and file.url in sizes
    ]
    return sorted(unused, key=lambda file: -file.unused_bytes)


def _judge_minification(
    resources: Resources, kind: ResourceKind, noun: str, limit_percent: int, waste: Callable[[bytes], int]
) -> Verdict:
    """Return the verdict on whitespace and comments.

    Their share is applied to the transferred (compressed) size.
    """
    files = [
        resource
        for resource in resources.items
        if resource.kind is kind and resource.eager and resource.status == 200 and resource.body
    ]
    if not files:
        return NotApplicable(f"The page loads no {noun}.")
    wasteful: list[tuple[float, float, Resource]] = []
    remaining = MAX_WASTE_SCAN_BYTES
    for file in files:
        if file.last_response_wire_bytes < MIN_WASTE_BYTES or remaining <= 0:
            continue
        remaining -= min(len(file.body), MAX_SCANNED_BYTES)
        share = waste(file.body) / len(file.body)
        if share * 100 >= limit_percent and share * file.last_response_wire_bytes >= MIN_WASTE_BYTES:
            wasteful.append((share * file.last_response_wire_bytes, share, file))
    if not wasteful:
        return Pass(
            f"No {noun} has much whitespace or many comments to remove ({{files}} checked).",
            files=Count(len(files), noun),
        )
    wasteful.sort(key=lambda entry: -entry[0])
    return Warn(
        "whitespace",
        "Whitespace and comments in {files} take up {waste} of the transfer.",
        files=Count(len(wasteful), noun),
        waste=Bytes(round(sum(wasted for wasted, _, _ in wasteful))),
        places=[
            UnminifiedFile(excerpt(unminified.url), round(100 * share), round(wasted))
            for wasted, share, unminified in wasteful
        ],
    )


def _text_files(page: Page, resources: Resources) -> Iterator[_TextFile]:
    """Yield the document and the text files that it loads."""
    body = page.response.body
    wire_bytes = page.response.body_wire_bytes
    yield _TextFile(page.target.url, page.target.host, body, wire_bytes, content_codings(page.headers))
    for resource in resources.items:
        if resource.eager and resource.status == 200 and _is_text_file(resource):
            yield _TextFile(
                resource.url,
                resource.host,
                resource.body,
                resource.last_response_wire_bytes,
                content_codings(resource.headers),
            )


def _is_text_file(resource: Resource) -> bool:
    if resource.kind in (ResourceKind.SCRIPT, ResourceKind.STYLESHEET):
        return True
    if resource.picture is not None:
        return resource.picture.format is ImageFormat.SVG
    return resource.kind is ResourceKind.OTHER and resource.media_type.startswith(TEXT_MEDIA_TYPES)


def _is_compressed_format(resource: Resource) -> bool:
    if resource.body_bytes < PACKET_BYTES:
        return False
    if resource.picture is not None:
        return resource.picture.format not in (ImageFormat.SVG, ImageFormat.BMP)
    return resource.kind is ResourceKind.FONT and resource.body.startswith(COMPRESSED_FONT_SIGNATURES)


def _has_useless_coding(resource: Resource) -> bool:
    return resource.last_response_wire_bytes * 100 > resource.body_bytes * (100 - MIN_WORTHWHILE_PERCENT)
