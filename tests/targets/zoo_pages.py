"""Animals of content: decompression bombs, broken encodings, documents that are slow to parse."""

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
    failed,
    page,
    site,
)
from tests.targets.zoo_wire import PAGE
from tests.zstandard import zstd
from website_scan.findings import ScanType

START = PAGE.decode()
BOMB_BYTES = 1024 * MIB
NOT_ENCODED = "The response says it is encoded as"
CSS = {"Content-Type": "text/css"}
XML = {"Content-Type": "application/xml"}


def _deflated(filling: bytes, head: bytes = b"", window_bits: int = -zlib.MAX_WBITS) -> bytes:
    """Return a gigabyte, compressed: the same self-contained block of the stream, repeated.

    The checksum at the end would be wrong, but no client gets there.
    """
    piece = (filling * (MIB // len(filling) + 1))[:MIB]
    packer = zlib.compressobj(9, zlib.DEFLATED, window_bits)
    block = packer.compress(piece) + packer.flush(zlib.Z_FULL_FLUSH)
    again = packer.compress(piece) + packer.flush(zlib.Z_FULL_FLUSH)
    return head + block + again * (BOMB_BYTES // MIB - 1)


@functools.cache
def gzip_bomb(filling: bytes = b"\0") -> bytes:
    return _deflated(filling, window_bits=zlib.MAX_WBITS | 16)


def _nested() -> bytes:
    return zlib.compress(zlib.compress(_deflated(b"\0", window_bits=zlib.MAX_WBITS)))


def _zstd_bomb() -> bytes:
    frame = zstd.compress(b"\0" * 64 * MIB, level=1)
    return frame * (BOMB_BYTES // (64 * MIB))


def _encoded(name: str, coding: str, make: Callable[[], bytes], **options: Any) -> Animal:
    return Animal(name, page(make, ("Content-Encoding", coding)), **options)


BOMBS = (
    _encoded("gzip-bomb", "gzip", gzip_bomb, other_ends=EMPTY_ENDS, is_heavy=True, only=PERFORMANCE + SEO),
    _encoded(
        "gzip-bomb-of-markup",
        "gzip",
        lambda: gzip_bomb(b"<a href=/x>link</a>"),
        end=INTRICATE,
        is_heavy=True,
        only=ACCESSIBILITY + SECURITY,
    ),
    _encoded(
        "deflate-bomb", "deflate", lambda: _deflated(b"\0"), other_ends=EMPTY_ENDS, is_heavy=True, only=ACCESSIBILITY
    ),
    _encoded(
        "brotli-bomb",
        "br",
        lambda: brotli.compress(b"\0" * 256 * MIB, quality=1),
        other_ends=EMPTY_ENDS,
        is_heavy=True,
        only=ACCESSIBILITY,
    ),
    _encoded("zstd-bomb", "zstd", _zstd_bomb, other_ends=EMPTY_ENDS, is_heavy=True, only=ACCESSIBILITY),
    _encoded(
        "nested-bomb", "deflate, deflate, deflate", _nested, other_ends=EMPTY_ENDS, is_heavy=True, only=ACCESSIBILITY
    ),
    _encoded(
        "encoded-ten-times",
        ", ".join(["gzip"] * 10),
        gzip_bomb,
        end=failed("BAD_RESPONSE", "The response is encoded more often than any browser would undo."),
    ),
    _encoded("gzip-of-many-members", "gzip", lambda: zlib.compress(b"", wbits=31) * 200_000, other_ends=EMPTY_ENDS),
    *(
        _encoded(f"not-{coding}", coding, lambda: PAGE, end=failed("BAD_RESPONSE", f"{NOT_ENCODED} {coding}"))
        for coding in ("gzip", "deflate", "br", "zstd")
    ),
    _encoded("unknown-coding", "rot13", lambda: PAGE),
)

ENCODINGS = (
    Animal("wrong-charset", page(lambda: START.encode("utf-16"), ("Content-Type", "text/html; charset=koi8-r"))),
    Animal("invalid-utf-8", page(lambda: PAGE + b"\xff\xfe\xc0\x80\xed\xa0\x80" * 10_000)),
    Animal("utf-16-without-mark", page(lambda: START.encode("utf-16-le"), ("Content-Type", "text/html"))),
    Animal("nuls", page(lambda: START.replace("<", "\0<\0") + "\0" * 100_000)),
    Animal("charset-that-is-none", page(lambda: PAGE, ("Content-Type", "text/html; charset=" + "rot13_codec/" * 99))),
    Animal("controls", page(lambda: bytes(range(256)) * 1000)),
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
    # Browsers reopen in each paragraph the elements that the first left open: 80 KB become 6 million elements.
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


# Each of these elements is named by all of them.
NAMED_BY_ALL = "<img src=x alt=x aria-labelledby='i i'><h1 aria-labelledby=i>x</h1>"
SLOW_NAMES = (
    Animal(
        "names-by-reference",
        page(lambda: START + "<div id=i>" + NAMED_BY_ALL * 10_000),
        INTRICATE,
        only=ACCESSIBILITY,
        is_slow=True,
        is_heavy=True,
    ),
)

# Parsing is the same for all types. These documents matter most for other scans than SEO.
READ_BY = {
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


def _behind_start(body: Callable[[], str]) -> str:
    return START + body()


def _documents(documents: dict[str, Callable[[], str]], usually: tuple[ScanType, ...]) -> tuple[Animal, ...]:
    return tuple(
        Animal(
            name,
            page(functools.partial(_behind_start, body)),
            INTRICATE,
            only=READ_BY.get(name, usually),
            is_heavy=True,
        )
        for name, body in documents.items()
    )


def _sheet(request: Request) -> Answer:
    number = int(request.path.partition("?")[2])
    return Answer(f"@import '/sheet?{number + 1}'; @import '/sheet?{number + 2}';", headers=CSS)


def _laughing() -> str:
    entities = "".join(f"<!ENTITY l{n + 1} '{f'&l{n};' * 10}'>" for n in range(12))
    return f"<?xml version='1.0'?><!DOCTYPE x [<!ENTITY l0 'ha'>{entities}]><urlset>&l12;</urlset>"


EXTERNAL = "<!DOCTYPE x [<!ENTITY f SYSTEM 'file:///etc/passwd'><!ENTITY % p SYSTEM 'http://10.0.0.1/'>%p;]><x>&f;</x>"
SITEMAP_ENTRY = "<url><loc>https://example.com/</loc></url>"


def _with_sitemap(answer: Callable[[], Answer]) -> Callable[[], Site]:
    def start() -> Site:
        made = answer()
        robots = Answer("Sitemap: /sitemap.xml\n" * 1000, headers={"Content-Type": "text/plain"})
        return site(Answer(PAGE), **{"robots.txt": robots, "sitemap.xml": made})()

    return start


def _catch_all() -> Site:
    made = site(Answer(PAGE))()
    made.routes["*"] = Answer(b"A=b\n" * (KIB * 256), headers={"Content-Type": "text/plain"})
    return made


LOADING = (
    Animal(
        "10000-sub-resources",
        page(lambda: START + "".join(f"<img src=/image/{n} alt=''><script src=/s/{n}></script>" for n in range(5000))),
        only=PERFORMANCE,
    ),
    Animal(
        "hostile-sub-resources",
        page(
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
        "import-chain", page(lambda: START + "<link rel=stylesheet href='/sheet?0'>", sheet=_sheet), only=PERFORMANCE
    ),
    Animal(
        "import-loop",
        page(
            lambda: START + "<link rel=stylesheet href=/a.css>",
            **{"a.css": Answer("@import '/b.css';", headers=CSS), "b.css": Answer("@import '/a.css';", headers=CSS)},
        ),
        only=PERFORMANCE,
    ),
    Animal(
        "refresh-loop", page(lambda: START + "<meta http-equiv=refresh content='0; url=/'>", ("Refresh", "0; url=/"))
    ),
    Animal(
        "canonical-bomb",
        page(
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
    Animal("laughing-sitemap", _with_sitemap(lambda: Answer(_laughing(), headers=XML)), only=SEO),
    Animal("reading-sitemap", _with_sitemap(lambda: Answer(EXTERNAL, headers=XML)), only=SEO),
    Animal(
        "laughing-page",
        page(_laughing, ("Content-Type", "application/xhtml+xml")),
    ),
    Animal("everything-exists", _catch_all, only=SECURITY),
)


ANIMALS = (*BOMBS, *ENCODINGS, *_documents(DEEP, ACCESSIBILITY), *_documents(WIDE, SEO), *SLOW_NAMES, *LOADING)
