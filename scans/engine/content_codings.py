"""Content codings of responses (RFC 9110, section 8.4.1), and what gzip would make of a body without one."""

from __future__ import annotations

import zlib

from scans.net.response import Headers

OLD_CODINGS = frozenset({"gzip", "x-gzip", "deflate", "compress", "x-compress"})
# Brotli, Zstandard, and both with a shared dictionary (RFC 9842).
MODERN_CODINGS = frozenset({"br", "zstd", "dcb", "dcz"})
# What servers use for text that they compress as it is asked for.
GZIP_LEVEL = 6


def codings(headers: Headers) -> frozenset[str]:
    """The codings that browsers know among those of the response; `identity`, and what is none, left out."""
    names = (each.strip().lower() for each in (headers.get("Content-Encoding") or "").split(","))
    return frozenset(names) & (OLD_CODINGS | MODERN_CODINGS)


def gzip_saving(body: bytes) -> int:
    """The bytes that gzip would save, by compressing: headers and checksum counted, never below zero."""
    compressor = zlib.compressobj(GZIP_LEVEL, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    return max(0, len(body) - len(compressor.compress(body)) - len(compressor.flush()))
