"""Sites with hostile content, such as decompression bombs."""

from __future__ import annotations

import functools
import zlib
from collections.abc import Callable
from typing import Any

import brotli

from tests.targets.server import Answer, Request, Site
from tests.targets.zoo_cage import (
    ACCESSIBILITY,
    EMPTY_ENDS,
    INTRICATE,
    KIB,
    MIB,
    PERFORMANCE,
    SECURITY,
    SEO,
    Animal,
    failed_end,
    page_factory,
    site,
)
from tests.targets.zoo_wire import PAGE
from tests.zstandard import zstd
from website_scan.findings import ScanType

START = PAGE.decode()
BOMB_BYTES = 1024 * MIB
NOT_ENCODED_ERROR = "The response claims to be encoded as"
CSS = {"Content-Type": "text/css"}
XML = {"Content-Type": "application/xml"}


def _deflate_bomb(filling: bytes, head: bytes = b"", window_bits: int = -zlib.MAX_WBITS) -> bytes:
    """Return a compressed gigabyte.

    It repeats one block of the deflate stream.

    The checksum at the end would be wrong, but no client gets there.
    """
    piece = (filling * (MIB // len(filling) + 1))[:MIB]
    packer = zlib.compressobj(9, zlib.DEFLATED, window_bits)
    block = packer.compress(piece) + packer.flush(zlib.Z_FULL_FLUSH)
    again = packer.compress(piece) + packer.flush(zlib.Z_FULL_FLUSH)
    return head + block + again * (BOMB_BYTES // MIB - 1)


@functools.cache
def gzip_bomb(filling: bytes = b"\0") -> bytes:
    return _deflate_bomb(filling, window_bits=zlib.MAX_WBITS | 16)


def _nested_bomb() -> bytes:
    return zlib.compress(zlib.compress(_deflate_bomb(b"\0", window_bits=zlib.MAX_WBITS)))


def _zstd_bomb() -> bytes:
    frame = zstd.compress(b"\0" * 64 * MIB, level=1)
    return frame * (BOMB_BYTES // (64 * MIB))


def _encoded_animal(name: str, coding: str, make: Callable[[], bytes], **options: Any) -> Animal:
    return Animal(name, page_factory(make, ("Content-Encoding", coding)), **options)


BOMBS = (
    _encoded_animal("gzip-bomb", "gzip", gzip_bomb, other_ends=EMPTY_ENDS, is_heavy=True, only=PERFORMANCE + SEO),
    _encoded_animal(
        "gzip-bomb-of-markup",
        "gzip",
        lambda: gzip_bomb(b"<a href=/x>link</a>"),
        end=INTRICATE,
        is_heavy=True,
        only=ACCESSIBILITY + SECURITY,
    ),
    _encoded_animal(
        "deflate-bomb",
        "deflate",
        lambda: _deflate_bomb(b"\0"),
        other_ends=EMPTY_ENDS,
        is_heavy=True,
        only=ACCESSIBILITY,
    ),
    _encoded_animal(
        "brotli-bomb",
        "br",
        lambda: brotli.compress(b"\0" * 256 * MIB, quality=1),
        other_ends=EMPTY_ENDS,
        is_heavy=True,
        only=ACCESSIBILITY,
    ),
    _encoded_animal("zstd-bomb", "zstd", _zstd_bomb, other_ends=EMPTY_ENDS, is_heavy=True, only=ACCESSIBILITY),
    _encoded_animal(
        "nested-bomb",
        "deflate, deflate, deflate",
        _nested_bomb,
        other_ends=EMPTY_ENDS,
        is_heavy=True,
        only=ACCESSIBILITY,
    ),
    _encoded_animal(
        "encoded-ten-times",
        ", ".join(["gzip"] * 10),
        gzip_bomb,
        end=failed_end("BAD_RESPONSE", "The response is encoded more often than any browser would undo."),
    ),
    _encoded_animal(
        "gzip-of-many-members", "gzip", lambda: zlib.compress(b"", wbits=31) * 200_000, other_ends=EMPTY_ENDS
    ),
    *(
        _encoded_animal(
            f"not-{coding}", coding, lambda: PAGE, end=failed_end("BAD_RESPONSE", f"{NOT_ENCODED_ERROR} {coding}")
        )
        for coding in ("gzip", "deflate", "br", "zstd")
    ),
    _encoded_animal("unknown-coding", "rot13", lambda: PAGE),
)

ENCODINGS = (
    Animal(
        "wrong-charset", page_factory(lambda: START.encode("utf-16"), ("Content-Type", "text/html; charset=koi8-r"))
    ),
    Animal("invalid-utf-8", page_factory(lambda: PAGE + b"\xff\xfe\xc0\x80\xed\xa0\x80" * 10_000)),
    Animal("utf-16-without-mark", page_factory(lambda: START.encode("utf-16-le"), ("Content-Type", "text/html"))),
    Animal("nuls", page_factory(lambda: START.replace("<", "\0<\0") + "\0" * 100_000)),
    Animal(
        "charset-that-is-none",
        page_factory(lambda: PAGE, ("Content-Type", "text/html; charset=" + "rot13_codec/" * 99)),
    ),
    Animal("controls", page_factory(lambda: bytes(range(256)) * 1000)),
)

N = 1_000_000
DEEP: dict[str, Callable[[], str]] = {
    "nested-tags": lambda: "<div>" * N,
    "nested-tags-with-stray-ends": lambda: "<div></i>" * (N // 2),
    "nested-tags-behind-an-empty-comment": lambda: "<!-->" + "<div>" * N,
    "nested-tags-in-a-custom-element": lambda: "<script-x>" + "<div>" * N,
    "nested-tags-with-ends-in-attributes": lambda: '<div title="</i>">' * (N // 4),
    "nested-ruby": lambda: "<rt>" * N,
    "nested-option-groups": lambda: "<optgroup>" * (N // 2),
    "nested-lists": lambda: "<ul><li>" * (N // 2),
    "nested-tables": lambda: "<table><tr><td>" * (N // 4),
    "nested-formatting": lambda: "".join(f"<b id={number}><i><p>" for number in range(N // 8)),
    "nested-svg": lambda: "<svg>" + "<g>" * N,
    "nested-templates": lambda: "<template>" * (N // 2),
    # Browsers reopen unclosed formatting elements, so 80 KB become 6 million elements.
    "reopened-formatting": lambda: "<p>" + "".join(f"<b {number}>" for number in range(300)) + "</p>" + "<p>x" * 20_000,
}
WIDE: dict[str, Callable[[], str]] = {
    "200000-links": lambda: "".join(f'<a href="/page/{number}">link</a>' for number in range(200_000)),
    "200000-attributes": lambda: "<p " + " ".join(f"a{number}=1" for number in range(200_000)) + ">x</p>",
    "200000-ids": lambda: "<p id=x>" * 200_000,
    "attribute-of-5-megabytes": lambda: f'<p title="{"x" * 5 * MIB}" class="{"y " * MIB}">x</p>',
    "comment-of-5-megabytes": lambda: "<!--" + "-" * 5 * MIB,
    "unclosed-cdata": lambda: "<svg><![CDATA[" + "]" * 5 * MIB,
    "unclosed-script": lambda: "<script>" + "<!--<script>" * 400_000,
    "unclosed-tags": lambda: "<a <b <c " * 500_000,
    "unclosed-attribute": lambda: '<a href="' + "'>" * MIB,
    "half-entities": lambda: "&#" * MIB,
    "styles": lambda: "<style>" + "/*" * MIB + "</style>" + "<p style='" + "url(" * MIB + "'>x",
    "style-rules": lambda: (
        "<style>" + "".join(f".a{{display:x{n}}}" for n in range(9000)) + "</style>" + "<p class=a>x" * 60_000
    ),
    "10000-frames": lambda: "".join(f"<iframe src=/frame/{number}></iframe>" for number in range(10_000)),
    "candidates": lambda: f'<img srcset="{"a 1x," * 200_000}"><img srcset="{"(" * MIB}">',
    "structured-data": lambda: '<script type="application/ld+json">' + '{"@graph":[' * N + "</script>",
    "meta-refreshes": lambda: "<head>" + '<meta http-equiv=refresh content="0; url=/">' * 50_000,
    "meta-everything": lambda: (
        "<head>"
        + "".join(
            f"<meta name=robots content=noindex{number}><link rel=canonical href=/{number}>" for number in range(50_000)
        )
    ),
    "labels": lambda: "<label for=x><input id=x aria-labelledby='" + "x " * 5000 + "'></label>" * 200,
    "labelled-in-circles": lambda: "".join(
        f"<button id=b{n} aria-labelledby='b{n + 1} b{n + 2}'></button>" for n in range(5000)
    ),
    "picture-of-images": lambda: "<picture>" + "<img src=x alt=x>" * 20_000,
    "summaries": lambda: "<details>" + "<summary></summary>" * 50_000,
    "one-word": lambda: "x" * 5 * MIB,
}


# All elements take their accessible name from their container.
ELEMENTS_NAMED_BY_ALL = "<img src=x alt=x aria-labelledby='i i'><h1 aria-labelledby=i>x</h1>"
SLOW_NAMES = (
    Animal(
        "names-by-reference",
        page_factory(lambda: START + "<div id=i>" + ELEMENTS_NAMED_BY_ALL * 10_000),
        INTRICATE,
        only=ACCESSIBILITY,
        is_slow=True,
        is_heavy=True,
    ),
)

# Most documents are scanned for one type only, because all types parse them in the same way.
TYPES_BY_DOCUMENT = {
    "10000-frames": SECURITY + PERFORMANCE,
    "styles": ACCESSIBILITY + PERFORMANCE,
    "style-rules": ACCESSIBILITY + SEO,
    "candidates": SECURITY,
    "labels": ACCESSIBILITY,
    "labelled-in-circles": ACCESSIBILITY,
    "summaries": ACCESSIBILITY,
    "picture-of-images": PERFORMANCE,
    "unclosed-tags": SECURITY,
}


def _document_html(body: Callable[[], str]) -> str:
    return START + body()


def _document_animals(
    documents: dict[str, Callable[[], str]], default_types: tuple[ScanType, ...]
) -> tuple[Animal, ...]:
    return tuple(
        Animal(
            name,
            page_factory(functools.partial(_document_html, body)),
            INTRICATE,
            only=TYPES_BY_DOCUMENT.get(name, default_types),
            is_heavy=True,
        )
        for name, body in documents.items()
    )


def _importing_sheet(request: Request) -> Answer:
    number = int(request.path.partition("?")[2])
    return Answer(f"@import '/sheet?{number + 1}'; @import '/sheet?{number + 2}';", headers=CSS)


def _billion_laughs() -> str:
    entities = "".join(f"<!ENTITY l{n + 1} '{f'&l{n};' * 10}'>" for n in range(12))
    return f"<?xml version='1.0'?><!DOCTYPE x [<!ENTITY l0 'ha'>{entities}]><urlset>&l12;</urlset>"


EXTERNAL = "<!DOCTYPE x [<!ENTITY f SYSTEM 'file:///etc/passwd'><!ENTITY % p SYSTEM 'http://10.0.0.1/'>%p;]><x>&f;</x>"
SITEMAP_ENTRY = "<url><loc>https://example.com/</loc></url>"


def _with_sitemap(answer: Callable[[], Answer]) -> Callable[[], Site]:
    def create_site() -> Site:
        sitemap = answer()
        robots = Answer("Sitemap: /sitemap.xml\n" * 1000, headers={"Content-Type": "text/plain"})
        return site(Answer(PAGE), **{"robots.txt": robots, "sitemap.xml": sitemap})()

    return create_site


def _catch_all_site() -> Site:
    catch_all_site = site(Answer(PAGE))()
    catch_all_site.routes["*"] = Answer(b"A=b\n" * (KIB * 256), headers={"Content-Type": "text/plain"})
    return catch_all_site


LOADING = (
    Animal(
        "10000-sub-resources",
        page_factory(
            lambda: START + "".join(f"<img src=/image/{n} alt=''><script src=/s/{n}></script>" for n in range(5000))
        ),
        only=PERFORMANCE,
    ),
    Animal(
        "hostile-sub-resources",
        page_factory(
            lambda: (
                START + "<link rel=stylesheet href=/a><script src=/b></script><img src=/c><img src=http://10.0.0.1/x>"
            ),
            a=Answer(gzip_bomb(b"url(x)"), headers={**CSS, "Content-Encoding": "gzip"}),
            b=Answer.redirect("/b"),
            c=Answer(b"\xff" * 6 * MIB, headers={"Content-Type": "image/png"}),
        ),
        only=PERFORMANCE,
    ),
    Animal(
        "import-chain",
        page_factory(lambda: START + "<link rel=stylesheet href='/sheet?0'>", sheet=_importing_sheet),
        only=PERFORMANCE,
    ),
    Animal(
        "import-loop",
        page_factory(
            lambda: START + "<link rel=stylesheet href=/a.css>",
            **{"a.css": Answer("@import '/b.css';", headers=CSS), "b.css": Answer("@import '/a.css';", headers=CSS)},
        ),
        only=PERFORMANCE,
    ),
    Animal(
        "refresh-loop",
        page_factory(lambda: START + "<meta http-equiv=refresh content='0; url=/'>", ("Refresh", "0; url=/")),
    ),
    Animal(
        "canonical-bomb",
        page_factory(
            lambda: "<link rel=canonical href=/canonical>" + START,
            canonical=Answer(gzip_bomb(b"<div>"), headers={"Content-Encoding": "gzip", "Content-Type": "text/html"}),
        ),
        only=SEO,
    ),
    Animal(
        "sitemap-bomb",
        _with_sitemap(lambda: Answer(gzip_bomb(b"<url><loc>"), headers={**XML, "Content-Encoding": "gzip"})),
        only=SEO,
    ),
    Animal(
        "sitemap-of-200000", _with_sitemap(lambda: Answer("<urlset>" + SITEMAP_ENTRY * 200_000, headers=XML)), only=SEO
    ),
    Animal("laughing-sitemap", _with_sitemap(lambda: Answer(_billion_laughs(), headers=XML)), only=SEO),
    Animal("reading-sitemap", _with_sitemap(lambda: Answer(EXTERNAL, headers=XML)), only=SEO),
    Animal(
        "laughing-page",
        page_factory(_billion_laughs, ("Content-Type", "application/xhtml+xml")),
    ),
    Animal("everything-exists", _catch_all_site, only=SECURITY),
)


ANIMALS = (
    *BOMBS,
    *ENCODINGS,
    *_document_animals(DEEP, ACCESSIBILITY),
    *_document_animals(WIDE, SEO),
    *SLOW_NAMES,
    *LOADING,
)
