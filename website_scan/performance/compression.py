"""Content codings of responses (RFC 9110, section 8.4.1), the saving of gzip, and waste in unminified files."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator

from website_scan.messages import KIB
from website_scan.net.http.response import Headers
from website_scan.page.css import TOKENS
from website_scan.performance.javascript_tokens import Kind, pieces

OLD_CODINGS = frozenset({"gzip", "x-gzip", "deflate", "compress", "x-compress"})
# Brotli, Zstandard, and both with a shared dictionary (RFC 9842).
MODERN_CODINGS = frozenset({"br", "zstd", "dcb", "dcz"})
# The usual level of servers that compress on the fly.
GZIP_LEVEL = 6


def codings(headers: Headers) -> frozenset[str]:
    """Return the response's codings that browsers know; without `identity` and unknown names."""
    names = (each.strip().lower() for each in (headers.get("Content-Encoding") or "").split(","))
    return frozenset(names) & (OLD_CODINGS | MODERN_CODINGS)


def gzip_saving(body: bytes) -> int:
    """Return the bytes that gzip would save, by compressing; includes headers and checksum, never below zero."""
    compressor = zlib.compressobj(GZIP_LEVEL, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    return max(0, len(body) - len(compressor.compress(body)) - len(compressor.flush()))


MAX_SCANNED_BYTES = 512 * KIB  # per file; the rest counts as free of waste
KEPT_COMMENT = re.compile(r"/[*/](?:!|[#@]\s{0,9}source|@cc_on|.{0,2000}?@(?:license|preserve|lic\b))", re.DOTALL)
# Percentage of white space and comments below which a file counts as minified: less than any check's limit.
LEAST_SHARE = 5
WHITE = b" \t\n\r\f\v"
COMMENTED_OUT = re.compile(rb"/\*.*?(?:\*/|\Z)|^[ \t]{0,200}+//[^\n]*+", re.DOTALL | re.MULTILINE)

WORD = re.compile(r"[\w$\x80-\xff]")
# A line break after the first set, or before the second, does not end a statement.
NO_END_BEHIND, NO_END_BEFORE = frozenset("{;,([:=&|?*<"), frozenset(";,)]}:=&|?*.>")

# Each mark of CSS around which white space means nothing, as one of them.
AS_ONE_MARK = bytes.maketrans(b"};,", b"{{{")


def css_waste(css: bytes) -> int:
    """Return the bytes that minifying a style sheet would save at least."""
    text = TOKENS.sub(_stand_in, _worth_a_look(css)).encode("latin-1")
    # One character stays between words: it is a combinator, or separates parts of a value.
    minified = b" ".join(text.split()).translate(AS_ONE_MARK).replace(b" {", b"{").replace(b"{ ", b"{")
    return len(text) - len(minified)


def javascript_waste(script: bytes) -> int:
    """Return the bytes that removing white space and comments from a script would save at least."""
    text = _worth_a_look(script)
    spans = (
        (start, end)
        for kind, start, end in pieces(text)
        if kind is Kind.SPACE or (kind is Kind.COMMENT and not KEPT_COMMENT.match(text, start, end))
    )
    return sum(end - start - _is_kept_in_javascript(text, start, end) for start, end in _gaps(spans))


def _worth_a_look(source: bytes) -> str:
    """Return the beginning of a file as latin-1 text; empty if almost nothing could be removed.

    This saves scanning minified files, which are most of all. The rough count of white space, block comments and
    comment lines is larger than the waste, except for comments after code.
    """
    source = source[:MAX_SCANNED_BYTES]
    least = LEAST_SHARE * len(source) / 100
    white = len(source) - len(source.translate(None, WHITE))
    if white < least:  # comments take ten times as long to count
        white += sum(found.end() - found.start() for found in COMMENTED_OUT.finditer(source))
    return source.decode("latin-1") if white >= least else ""


def _gaps(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the spans with neighbours joined: white space, a comment and white space again are one gap."""
    begin = end = 0
    for start, stop in spans:
        if start == end:
            end = stop
            continue
        if end > begin:
            yield begin, end
        begin, end = start, stop
    if end > begin:
        yield begin, end


def _stand_in(token: re.Match[str]) -> str:
    """Return white space for a comment that minifying drops, and a letter for anything whose white space stays."""
    is_dropped = token["dropped"] is not None and not KEPT_COMMENT.match(token.string, *token.span())
    return " " * len(token[0]) if is_dropped else "x"


def _is_kept_in_javascript(text: str, start: int, end: int) -> bool:
    """Return True if one character must stay: words or `+ +` would join, or the line break may end a statement."""
    if start == 0 or end == len(text):
        return False
    before, behind = text[start - 1], text[end]
    if WORD.match(before) and WORD.match(behind):
        return True
    if before in "+-/" and behind in "+-/":
        return True
    has_line_end = "\n" in text[start:end] or "\r" in text[start:end]
    return has_line_end and before not in NO_END_BEHIND and behind not in NO_END_BEFORE
