"""Content codings of responses (RFC 9110, section 8.4.1), bytes that gzip saves, and waste in unminified files."""

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
    """Return the codings in Content-Encoding that browsers support, without `identity` and unknown names."""
    names = (coding.strip().lower() for coding in (headers.get("Content-Encoding") or "").split(","))
    return frozenset(names) & (OLD_CODINGS | MODERN_CODINGS)


def gzip_saving(body: bytes) -> int:
    """Compress the body and return the bytes that gzip saves, counting its header and checksum; never negative."""
    compressor = zlib.compressobj(GZIP_LEVEL, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    return max(0, len(body) - len(compressor.compress(body)) - len(compressor.flush()))


MAX_SCANNED_BYTES = 512 * KIB  # of a file; the rest of the file counts as minified
KEPT_COMMENT = re.compile(r"/[*/](?:!|[#@]\s{0,9}source|@cc_on|.{0,2000}?@(?:license|preserve|lic\b))", re.DOTALL)
# Percentage of white space and comments below which a file counts as minified. No check has a lower limit.
MIN_WASTE_PERCENT = 5
WHITE_SPACE = b" \t\n\r\f\v"
COMMENTED_OUT = re.compile(rb"/\*.*?(?:\*/|\Z)|^[ \t]{0,200}+//[^\n]*+", re.DOTALL | re.MULTILINE)

WORD = re.compile(r"[\w$\x80-\xff]")
# A line break after one of the first characters, or before one of the second, does not end a JavaScript statement.
NO_END_AFTER, NO_END_BEFORE = frozenset("{;,([:=&|?*<"), frozenset(";,)]}:=&|?*.>")

# White space around CSS punctuation means nothing. All punctuation becomes "{", so that one replacement removes it.
PUNCTUATION_TO_BRACE = bytes.maketrans(b"};,", b"{{{")


def css_waste(css: bytes) -> int:
    """Return how many bytes minifying a style sheet would save at least."""
    text = TOKENS.sub(_replace_css_token, _text_if_unminified(css)).encode("latin-1")
    # One space stays between words, where it is a combinator or separates parts of a value.
    minified = b" ".join(text.split()).translate(PUNCTUATION_TO_BRACE).replace(b" {", b"{").replace(b"{ ", b"{")
    return len(text) - len(minified)


def javascript_waste(script: bytes) -> int:
    """Return how many bytes removing white space and comments from a script would save at least."""
    text = _text_if_unminified(script)
    spans = (
        (start, end)
        for kind, start, end in pieces(text)
        if kind is Kind.SPACE or (kind is Kind.COMMENT and not KEPT_COMMENT.match(text, start, end))
    )
    return sum(end - start - _needs_separator(text, start, end) for start, end in _gaps(spans))


def _text_if_unminified(source: bytes) -> str:
    """Return the beginning of a file as latin-1 text; empty if almost nothing could be removed.

    Most files are minified, and the early return saves tokenizing them. The rough count of white space, block comments
    and comment lines is larger than the waste, except for comments after code.
    """
    source = source[:MAX_SCANNED_BYTES]
    least = MIN_WASTE_PERCENT * len(source) / 100
    white = len(source) - len(source.translate(None, WHITE_SPACE))
    if white < least:  # counting comments takes ten times as long as counting white space
        white += sum(comment.end() - comment.start() for comment in COMMENTED_OUT.finditer(source))
    return source.decode("latin-1") if white >= least else ""


def _gaps(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Join adjacent spans: white space, a comment and white space again are one gap."""
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


def _replace_css_token(token: re.Match[str]) -> str:
    """Replace a CSS token: a comment that minifying drops by spaces, any other token by a letter."""
    is_dropped = token["dropped"] is not None and not KEPT_COMMENT.match(token.string, *token.span())
    return " " * len(token[0]) if is_dropped else "x"


def _needs_separator(text: str, start: int, end: int) -> bool:
    """Return True if one character of a gap must stay, or words or `+ +` would join, or a statement would not end."""
    if start == 0 or end == len(text):
        return False
    before, after = text[start - 1], text[end]
    if WORD.match(before) and WORD.match(after):
        return True
    if before in "+-/" and after in "+-/":
        return True
    has_line_end = "\n" in text[start:end] or "\r" in text[start:end]
    return has_line_end and before not in NO_END_AFTER and after not in NO_END_BEFORE
