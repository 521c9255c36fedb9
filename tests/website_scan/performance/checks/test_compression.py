from __future__ import annotations

import random

import pytest
from msgspec.structs import replace

from tests.website_scan.browser.loads import load, request, visit
from tests.website_scan.cast import message, outcome, page, rows, title_of, verdict
from tests.website_scan.performance.cast import HERE, OTHER, labels, resource, resources_of
from website_scan.browser.evidence import Coverage, FileCoverage
from website_scan.outcomes import Verdict
from website_scan.page.evidence import Page
from website_scan.page.image_headers import ImageFormat, ImageHeader
from website_scan.page.references import ResourceKind
from website_scan.performance.checks import compression as checks
from website_scan.performance.compression import measure_gzip_saving
from website_scan.performance.evidence import Resource

GZIP, BR, ZSTD = (("Content-Encoding", coding) for coding in ("gzip", "br", "zstd"))
Kind = ResourceKind
KIB = 1024


def body_that_saves(saving: int) -> bytes:
    """Return a body that gzip shortens by exactly `saving` bytes."""
    body = random.Random(1).randbytes(2_000) + b" " * saving
    while measure_gzip_saving(body) < saving:
        body += b" "
    while measure_gzip_saving(body) > saving:
        body = body[:-1]
    assert measure_gzip_saving(body) == saving
    return body


def compressed_resource(size: int = 5_000) -> Page:
    return page("<p>" + "a" * size, GZIP)


@pytest.mark.parametrize(
    ("saving", "expected"),
    [(20 * KIB, "pass"), (20 * KIB + 1, "warn"), (200 * KIB, "warn"), (200 * KIB + 1, "fail")],
)
def test_verdict_depends_on_gzip_saving(saving: int, expected: str) -> None:
    finding = checks.text_compressed(compressed_resource(), resources_of(resource(body=body_that_saves(saving))))
    assert verdict(finding) == expected
    assert outcome(finding) == ("uncompressed" if expected in ("warn", "fail") else expected)


@pytest.mark.parametrize(
    ("scanned_page", "expected"),
    [
        (page("<p>" + "a" * 1_396), "pass"),
        (page("<p>" + "a" * 1_397), "fail"),
        (page("<p>" + "a" * 1_397, ("Content-Encoding", "identity")), "fail"),
        (page("<p>" + "a" * 1_397, ("Content-Encoding", "UTF-8")), "fail"),  # UTF-8 is a charset, not a content coding.
        (page("<p>" + "a" * 9_000, GZIP), "pass"),
        (page("<p>" + "a" * 9_000, ZSTD), "pass"),
        (page("<p>" + "a" * 9_000, ("Content-Encoding", "dcb")), "pass"),  # The coding dcb is Brotli with a dictionary.
    ],
)
def test_uncompressed_large_document_fails(scanned_page: Page, expected: str) -> None:
    finding = checks.text_compressed(scanned_page, resources_of())
    assert verdict(finding) == expected
    assert outcome(finding) == ("document" if expected in ("warn", "fail") else expected)


LONG = b"a" * 300_000


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (resource(body=LONG), "fail"),
        (resource(f"{OTHER}/a.js", body=LONG), "fail"),  # Visitors also wait for third-party files.
        (resource(kind=Kind.STYLESHEET, body=LONG), "fail"),
        (resource(kind=Kind.IMAGE, body=LONG, picture=ImageHeader(ImageFormat.SVG, 1, 1)), "fail"),
        (resource(f"{HERE}/a.json", Kind.OTHER, LONG, ("Content-Type", "application/json; charset=utf-8")), "fail"),
        (resource(f"{HERE}/a.bin", Kind.OTHER, LONG, ("Content-Type", "application/wasm")), "pass"),
        (resource(kind=Kind.IMAGE, body=LONG, picture=ImageHeader(ImageFormat.PNG, 1, 1)), "pass"),
        (resource(kind=Kind.FONT, body=LONG), "pass"),
        (resource("u", Kind.SCRIPT, LONG, BR), "pass"),
        (resource(body=LONG, eager=False), "pass"),
        (resource(body=LONG, status=404), "pass"),
        (resource(body=random.Random(1).randbytes(300_000)), "pass"),  # Random bytes cannot be compressed.
    ],
)
def test_only_uncompressed_text_files_count(item: Resource, expected: str) -> None:
    finding = checks.text_compressed(compressed_resource(), resources_of(item))
    assert verdict(finding) == expected
    assert outcome(finding) == ("uncompressed" if expected in ("warn", "fail") else expected)


def test_message_states_gzip_saving() -> None:
    body = body_that_saves(30 * KIB)
    finding = checks.text_compressed(compressed_resource(), resources_of(resource(body=body)))
    assert message(finding) == "1 text file is sent uncompressed; gzip would save 31 kB (up to 20 kB is good)."
    assert rows(finding) == [{"url": f"{HERE}/a.js", "bytes": len(body), "gzip_would_save_bytes": 30 * KIB}]


def test_message_explains_saving_near_limit() -> None:
    finding = checks.text_compressed(compressed_resource(), resources_of(resource(body=body_that_saves(20 * KIB + 1))))
    assert message(finding) == (
        "1 text file is sent uncompressed; gzip would save 20 kB (just above the limit: up to 20 kB is good)."
    )


def test_message_states_document_size() -> None:
    plain = page("a" * 20_000)
    assert message(checks.text_compressed(plain, resources_of())) == (
        "The document is sent uncompressed (20 kB; gzip would save 20 kB)."
    )
    finding = checks.text_compressed(plain, resources_of(resource(body=body_that_saves(30 * KIB))))
    assert message(finding) == (
        "The document (20 kB) and 1 other text file are sent uncompressed (gzip would save 51 kB in all)."
    )
    assert title_of(checks.text_compressed, finding) == "Page is sent uncompressed"
    assert labels(finding) == [f"{HERE}/a.js", f"{HERE}/shop/shoes"]


def test_compressed_bytes_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    compressed_sizes: list[int] = []

    def saving(body: bytes) -> int:
        compressed_sizes.append(len(body))
        return 0

    monkeypatch.setattr(checks, "measure_gzip_saving", saving)
    checks.text_compressed(
        compressed_resource(), resources_of(*(resource(f"{HERE}/{n}", body=b"a" * 3_000_000) for n in range(9)))
    )
    assert compressed_sizes == [1024 * KIB] * 4


@pytest.mark.parametrize(
    ("scanned_page", "items", "expected"),
    [
        (compressed_resource(), (), "gzip-only"),
        (page("a" * 5_000, ("Content-Encoding", "deflate")), (), "old-coding"),
        (page("<p>Text", BR), (), "pass"),
        (page("<p>Text", ZSTD), (), "pass"),
        (compressed_resource(), (resource("https://static.example.com/a.js", Kind.SCRIPT, b"a", BR),), "pass"),
        # The compressed file belongs to a third party.
        (compressed_resource(), (resource(f"{OTHER}/a.js", Kind.SCRIPT, b"a", BR),), "gzip-only"),
        (page("<p>Text"), (resource(f"{OTHER}/a.js", Kind.SCRIPT, b"a", GZIP),), "n/a"),
        (page("<p>Text"), (), "n/a"),
        (compressed_resource(1_000), (resource(f"{HERE}/a.js", Kind.SCRIPT, b"a" * 9_000, GZIP, wire=1_399),), "pass"),
        (
            compressed_resource(1_000),
            (resource(f"{HERE}/a.js", Kind.SCRIPT, b"a" * 9_000, GZIP, wire=1_400),),
            "gzip-only",
        ),
        (page("a" * 5_000, GZIP, url="http://site.example.com/"), (), "n/a"),  # Browsers accept Brotli only over HTTPS.
    ],
)
def test_modern_encoding_check_verdict(scanned_page: Page, items: tuple[Resource, ...], expected: str) -> None:
    finding = checks.modern_encoding(scanned_page, resources_of(*items))
    assert outcome(finding) == expected
    assert verdict(finding) == (expected if expected in ("pass", "n/a") else "warn")


def test_modern_encoding_title_names_codings() -> None:
    def title_of_verdict(*codings: str) -> str:
        scanned_page = page("a" * 5_000, ("Content-Encoding", codings[0]))
        items = (
            resource(f"{HERE}/a.js", Kind.SCRIPT, b"a" * 5_000, ("Content-Encoding", coding)) for coding in codings
        )
        return title_of(checks.modern_encoding, checks.modern_encoding(scanned_page, resources_of(*items)))

    assert title_of_verdict("gzip") == "Text is compressed with gzip only"
    assert title_of_verdict("gzip", "deflate") == "Text is compressed with deflate and gzip only"


def test_message_states_weight_of_gzip_files() -> None:
    item = resource(f"{HERE}/a.js", Kind.SCRIPT, b"a" * 9_000, GZIP)
    assert message(checks.modern_encoding(compressed_resource(1_000), resources_of(item))) == (
        "1 text file (9.0 kB) is sent with gzip only, although the scanner accepts newer encodings."
    )


PNG, SVG, BMP = (ImageHeader(format, 9, 9) for format in (ImageFormat.PNG, ImageFormat.SVG, ImageFormat.BMP))


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (resource("u", Kind.IMAGE, b"a" * 2_000, GZIP, wire=1_950, picture=PNG), "warn"),
        (resource("u", Kind.IMAGE, b"a" * 2_000, GZIP, wire=2_023, picture=PNG), "warn"),
        # In this case, gzip saves 5 % of the size.
        (resource("u", Kind.IMAGE, b"a" * 2_000, GZIP, wire=1_900, picture=PNG), "pass"),
        (resource("u", Kind.IMAGE, b"a" * 2_000, wire=2_000, picture=PNG), "pass"),
        (resource("u", Kind.IMAGE, b"a" * 2_000, ("Content-Encoding", "identity"), picture=PNG), "pass"),
        # This response fits into one packet with or without gzip.
        (resource("u", Kind.IMAGE, b"a" * 1_399, GZIP, picture=PNG), "n/a"),
        (resource("u", Kind.IMAGE, b"a" * 2_000, GZIP, wire=1_950, picture=SVG), "n/a"),
        (resource("u", Kind.IMAGE, b"a" * 2_000, GZIP, wire=1_950, picture=BMP), "n/a"),
        (resource("u", Kind.FONT, b"wOF2" + b"a" * 2_000, GZIP), "warn"),
        (resource("u", Kind.FONT, b"wOFF" + b"a" * 2_000, BR), "warn"),
        (resource("u", Kind.FONT, b"\x00\x01\x00\x00" + b"a" * 2_000, GZIP), "n/a"),
        (resource("u", Kind.SCRIPT, b"a" * 2_000, GZIP), "n/a"),
    ],
)
def test_needless_encoding_check_verdict(item: Resource, expected: str) -> None:
    finding = checks.needless_encoding(resources_of(item))
    assert verdict(finding) == expected
    assert outcome(finding) == ("compressed-again" if expected in ("warn", "fail") else expected)


def test_message_states_sizes_of_needless_compression() -> None:
    item = resource(f"{HERE}/a.png", Kind.IMAGE, b"a" * 2_000, GZIP, wire=2_023, picture=PNG)
    finding = checks.needless_encoding(resources_of(item))
    assert message(finding) == (
        "1 file in a compressed format is compressed again, which makes 2,023 bytes out of 2,000."
    )
    assert rows(finding) == [{"url": f"{HERE}/a.png", "bytes": 2000, "sent_bytes": 2023}]


def test_truncated_image_is_not_compressed_twice() -> None:
    item = resource("u", Kind.IMAGE, b"a" * 2_000, GZIP, picture=PNG)
    assert verdict(checks.needless_encoding(resources_of(replace(item, is_cut=True)))) == "pass"


@pytest.mark.parametrize(
    ("kind", "body", "wire", "expected"),
    [
        # White space makes up 5 % of the 100 kB.
        (Kind.STYLESHEET, b"a{b:c;" + b" " * 5_000 + b"}" + b"a{b:c}" * 15_832, None, "warn"),
        (Kind.STYLESHEET, b"a{b:c;" + b" " * 5_000 + b"}" + b"a{b:c}" * 16_000, None, "pass"),
        (Kind.STYLESHEET, b"a{b:c;" + b" " * 2_048 + b"}", None, "warn"),
        (Kind.STYLESHEET, b"a{b:c;" + b" " * 2_047 + b"}", None, "pass"),
        # White space makes up 10 % of the 100 kB.
        (Kind.SCRIPT, b"a;" + b" " * 10_000 + b"b;" + b"a=1;" * 22_499, None, "warn"),
        (Kind.SCRIPT, b"a;" + b" " * 10_000 + b"b;" + b"a=1;" * 22_600, None, "pass"),
        # After compression, white space takes few bytes.
        (Kind.SCRIPT, b"a;" + b" " * 10_000 + b"b;", 2_047, "pass"),
        (Kind.SCRIPT, b"/*! " + b"license " * 2_000 + b"*/a=1;", None, "pass"),  # Minifiers preserve license comments.
        (Kind.SCRIPT, b"a=`" + b"  text\n" * 2_000 + b"`;", None, "pass"),  # White space in a template literal is text.
    ],
)
def test_unminified_files_verdict(kind: Kind, body: bytes, wire: int | None, expected: str) -> None:
    function = checks.unminified_css if kind is Kind.STYLESHEET else checks.unminified_js
    finding = function(resources_of(resource("u", kind, body, wire=wire)))
    assert verdict(finding) == expected
    assert outcome(finding) == ("whitespace" if expected in ("warn", "fail") else expected)
    assert verdict(function(resources_of(resource("u", kind, body, wire=wire, eager=False)))) == "n/a"


def test_whitespace_waste_is_scaled_to_transfer() -> None:
    finding = checks.unminified_js(resources_of(resource(body=b"a;" + b" " * 9_998, wire=5_000)))
    assert message(finding) == "Whitespace and comments in 1 script take up 5.0 kB of the transfer."
    assert labels(finding) == [f"{HERE}/a.js (100%)"]
    assert rows(finding) == [{"url": f"{HERE}/a.js", "share_percent": 100, "wasted_bytes": 4999}]


UNUSED = {Kind.STYLESHEET: checks.unused_css, Kind.SCRIPT: checks.unused_js}


def judge_coverage(kind: Kind, *files: tuple[str, int, int], wire: int = 100 * KIB) -> Verdict:
    """Return the verdict on files.

    A file is given as (name, length, unused length).

    Every file transfers `wire` bytes.
    """
    coverage = Coverage(tuple(FileCoverage(f"{HERE}/{name}", kind, length, unused) for name, length, unused in files))
    names = dict.fromkeys(name for name, _, _ in files)
    requests = [request(name, kind, wire_bytes=wire) for name in names]
    return UNUSED[kind](coverage, visit(load(*requests)))


@pytest.mark.parametrize(
    ("kind", "unused", "expected"),
    [
        (Kind.STYLESHEET, 100, "pass"),  # Sizes are in thousandths of 100 KiB.
        (Kind.STYLESHEET, 101, "warn"),
        (Kind.SCRIPT, 200, "pass"),
        (Kind.SCRIPT, 201, "warn"),
        (Kind.SCRIPT, 1000, "warn"),  # Unused code only causes a warning.
        (Kind.STYLESHEET, 1000, "warn"),
    ],
)
def test_some_unused_code_per_file_is_tolerated(kind: Kind, unused: int, expected: str) -> None:
    finding = judge_coverage(kind, ("a", 1000, unused))
    assert verdict(finding) == expected
    assert outcome(finding) == ("too-much" if expected in ("warn", "fail") else expected)
    assert verdict(judge_coverage(kind, ("a", 1000, unused), ("b", 1000, 50))) == expected


def test_unused_code_is_scaled_to_transfer() -> None:
    finding = judge_coverage(
        Kind.SCRIPT, ("a.js", 900_000, 300_000), ("b.js", 4_000, 3_000), ("c.js", 1_000, 0), wire=99_000
    )
    assert verdict(finding) == "warn"
    assert [row["unused_bytes"] for row in rows(finding)] == [74_250, 33_000]
    assert message(finding).startswith("107 kB of 2 scripts was not used")
    assert labels(finding) == [f"{HERE}/b.js (75%)", f"{HERE}/a.js (33%)"]
    assert "without scrolling or tapping" in message(finding)


def test_unused_code_in_small_files_is_tolerated() -> None:
    files = [(f"{number}.js", 1000, 1000) for number in range(50)]
    assert verdict(judge_coverage(Kind.SCRIPT, *files, wire=19 * KIB)) == "pass"


def test_unused_share_is_at_most_100_percent() -> None:
    finding = judge_coverage(Kind.SCRIPT, ("a.js", 1000, 5000))
    assert verdict(finding) == "warn"
    assert rows(finding)[0]["unused_percent"] == 100


@pytest.mark.parametrize("kind", UNUSED)
def test_unused_code_needs_a_downloaded_file(kind: Kind) -> None:
    # The code is an inline script of the document.
    inline = Coverage((FileCoverage(f"{HERE}/shop/shoes", kind, 900_000, 900_000),))
    # The comment sourceURL gives inline code another URL.
    renamed = Coverage((FileCoverage(f"{HERE}/src/app.ts", kind, 900_000, 900_000),))
    other = Kind.SCRIPT if kind is Kind.STYLESHEET else Kind.STYLESHEET
    foreign = Coverage((FileCoverage(f"{HERE}/a", other, 900_000, 900_000),))
    cached = visit(load(request("a", kind, wire_bytes=0)))
    empty = Coverage((FileCoverage(f"{HERE}/a", kind, 0, 0),))
    loaded = visit(load(request("a", kind, wire_bytes=9)))
    assert [verdict(UNUSED[kind](used, loaded)) for used in (inline, renamed, foreign, empty)] == ["n/a"] * 4
    assert verdict(UNUSED[kind](Coverage((FileCoverage(f"{HERE}/a", kind, 9, 9),)), cached)) == "n/a"
