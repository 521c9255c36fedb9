"""Content codings, and the savings of gzip and minification.

RFC 9110, section 8.4.1.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator

from website_scan.messages import KIB
from website_scan.net.http.response import Headers
from website_scan.page.css import TOKENS
from website_scan.performance.javascript_tokens import TokenKind, tokenize_script

OLD_CODINGS = frozenset({"gzip", "x-gzip", "deflate", "compress", "x-compress"})
# Brotli and Zstandard, with or without a shared dictionary (RFC 9842).
MODERN_CODINGS = frozenset({"br", "zstd", "dcb", "dcz"})
# Usual compression level of servers that compress on the fly.
GZIP_LEVEL = 6


def content_codings(headers: Headers) -> frozenset[str]:
    """Return the content codings that browsers support.

    They come from Content-Encoding, without `identity` and unknown names.
    """
    names = (coding.strip().lower() for coding in (headers.get("Content-Encoding") or "").split(","))
    return frozenset(names) & (OLD_CODINGS | MODERN_CODINGS)


def measure_gzip_saving(body: bytes) -> int:
    """Return how many bytes gzip saves on a body, or 0 if it saves none.

    The size after compression includes gzip's header and checksum.
    """
    compressor = zlib.compressobj(GZIP_LEVEL, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    return max(0, len(body) - len(compressor.compress(body)) - len(compressor.flush()))


MAX_SCANNED_BYTES = 512 * KIB  # The rest of the file counts as minified.
PRESERVED_COMMENT = re.compile(r"/[*/](?:!|[#@]\s{0,9}source|@cc_on|.{0,2000}?@(?:license|preserve|lic\b))", re.DOTALL)
# A file with a lower percentage of white space and comments counts as minified.
MIN_WASTE_PERCENT = 5
WHITE_SPACE = b" \t\n\r\f\v"
COMMENT = re.compile(rb"/\*.*?(?:\*/|\Z)|^[ \t]{0,200}+//[^\n]*+", re.DOTALL | re.MULTILINE)

WORD = re.compile(r"[\w$\x80-\xff]")
# A line break after or before one of these characters does not end a JavaScript statement.
STATEMENT_CONTINUES_AFTER, STATEMENT_CONTINUES_BEFORE = frozenset("{;,([:=&|?*<"), frozenset(";,)]}:=&|?*.>")

# All CSS punctuation becomes "{", so that one replacement suffices.
PUNCTUATION_TO_BRACE = bytes.maketrans(b"};,", b"{{{")


def count_css_waste_bytes(css: bytes) -> int:
    """Return how many bytes minifying a style sheet saves at least."""
    text = TOKENS.sub(_replace_css_token, _text_if_unminified(css)).encode("latin-1")
    # A space between words is a combinator or separates values, so it is not removable.
    minified = b" ".join(text.split()).translate(PUNCTUATION_TO_BRACE).replace(b" {", b"{").replace(b"{ ", b"{")
    return len(text) - len(minified)


def count_javascript_waste_bytes(script: bytes) -> int:
    """Return the minimum number of bytes that minifying would save.

    White space and comments would be removed from the script.
    """
    text = _text_if_unminified(script)
    spans = (
        (start, end)
        for kind, start, end in tokenize_script(text)
        if kind is TokenKind.SPACE or (kind is TokenKind.COMMENT and not PRESERVED_COMMENT.match(text, start, end))
    )
    return sum(end - start - _needs_separator(text, start, end) for start, end in _join_adjacent_spans(spans))


def _text_if_unminified(source: bytes) -> str:
    """Return the beginning of a file as latin-1 text.

    Empty if the file is already minified.

    Most files are minified, and the early return saves tokenizing them. The rough count of white space, block comments
    and comment lines is larger than the waste, except for comments after code.
    """
    source = source[:MAX_SCANNED_BYTES]
    least = MIN_WASTE_PERCENT * len(source) / 100
    white = len(source) - len(source.translate(None, WHITE_SPACE))
    if white < least:  # Counting comments takes ten times as long as counting white space.
        white += sum(comment.end() - comment.start() for comment in COMMENT.finditer(source))
    return source.decode("latin-1") if white >= least else ""


def _join_adjacent_spans(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Join adjacent spans of a text.

    The spans may be white space, a comment and more white space.
    """
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
    """Replace a CSS token to simplify a style sheet.

    A removable comment becomes spaces, any other token a letter.
    """
    is_removable_comment = token["dropped"] is not None and not PRESERVED_COMMENT.match(token.string, *token.span())
    return " " * len(token[0]) if is_removable_comment else "x"


def _needs_separator(text: str, start: int, end: int) -> bool:
    """Return True if a gap must keep one character.

    Otherwise, words or operators would join, or a statement would no longer end.
    """
    if start == 0 or end == len(text):
        return False
    before, after = text[start - 1], text[end]
    if WORD.match(before) and WORD.match(after):
        return True
    if before in "+-/" and after in "+-/":
        return True
    has_line_break = "\n" in text[start:end] or "\r" in text[start:end]
    return has_line_break and before not in STATEMENT_CONTINUES_AFTER and after not in STATEMENT_CONTINUES_BEFORE
