"""Decoder of content codings, safe from decompression bombs.

gzip, deflate, br and zstd.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable

import brotli

from website_scan.net.errors import BadResponse

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ACCEPT_ENCODING = "gzip, deflate, br, zstd"
# Only attacks nest more content codings than this.
MAX_CODINGS = 3
# Web servers send one gzip member or zstd frame, and many take long.
MAX_MEMBERS = 64
# Browsers also limit windows of zstd to 8 MiB (RFC 8878, section 3.1.1.1.2).
ZSTD_OPTIONS: dict[int, int] = {zstd.DecompressionParameter.window_log_max: 23}


def decode(body: bytes, content_encoding: str | None, limit_bytes: int) -> tuple[bytes, bool]:
    """Decode a body to at most `limit_bytes`.

    Also returns True if the decoded body is incomplete. A truncated body is decoded as far as possible. If the
    outermost coding is unknown, the body is not decoded, as in browsers. Raises BadResponse if the body is not valid in
    its coding.
    """
    codings = [name for coding in (content_encoding or "").split(",") if (name := coding.strip().lower())]
    if len(codings) > MAX_CODINGS:
        raise BadResponse("The response is encoded more often than any browser would undo.")
    is_cut = False
    for coding in reversed(codings):
        if coding == "identity":
            continue
        if coding not in _DECODERS or not body:
            break
        try:
            # One more byte shows whether the body is longer, and avoids 0, which means no limit to zlib.
            body, is_unfinished = _DECODERS[coding](body, limit_bytes + 1)
        except (zlib.error, brotli.error, zstd.ZstdError):
            raise BadResponse(f"The response claims to be encoded as {coding}, but is not.") from None
        is_cut = is_cut or is_unfinished
    return body[:limit_bytes], is_cut or len(body) > limit_bytes


def _decode_gzip(data: bytes, limit: int) -> tuple[bytes, bool]:
    output: list[bytes] = []
    for _ in range(MAX_MEMBERS):
        # A gzip body may have several members (RFC 1952, section 2.2).
        decoder = zlib.decompressobj(zlib.MAX_WBITS | 16)
        output.append(decoder.decompress(data, limit))
        limit -= len(output[-1])
        if not decoder.eof or limit == 0:
            return b"".join(output), not decoder.eof
        data = decoder.unused_data.lstrip(b"\0")
        if data[:2] != b"\x1f\x8b":
            return b"".join(output), False  # Like browsers, the decoder ignores data after the end.
    return b"".join(output), True


def _decode_deflate(data: bytes, limit: int) -> tuple[bytes, bool]:
    # Browsers accept a raw deflate stream, unlike RFC 9110.
    for window_bits in (zlib.MAX_WBITS, -zlib.MAX_WBITS):
        decoder = zlib.decompressobj(window_bits)
        try:
            return decoder.decompress(data, limit), not decoder.eof
        except zlib.error:
            if window_bits < 0:
                raise
    raise AssertionError("the loop returns or raises")


def _decode_brotli(data: bytes, limit: int) -> tuple[bytes, bool]:
    decoder = brotli.Decompressor()
    output = decoder.process(data, output_buffer_limit=limit)
    while not decoder.is_finished() and not decoder.can_accept_more_data() and len(output) < limit:
        output += decoder.process(b"", output_buffer_limit=limit - len(output))
    return output[:limit], not decoder.is_finished()


def _decode_zstd(data: bytes, limit: int) -> tuple[bytes, bool]:
    output: list[bytes] = []
    for _ in range(MAX_MEMBERS):
        # A zstd body may have several frames (RFC 8878, section 3.1).
        decoder = zstd.ZstdDecompressor(options=ZSTD_OPTIONS)
        output.append(decoder.decompress(data, limit))
        limit -= len(output[-1])
        data = decoder.unused_data if decoder.eof else b""
        if not data or limit == 0:
            return b"".join(output), not decoder.eof
    return b"".join(output), True


_DECODERS: dict[str, Callable[[bytes, int], tuple[bytes, bool]]] = {
    "gzip": _decode_gzip,
    "x-gzip": _decode_gzip,
    "deflate": _decode_deflate,
    "br": _decode_brotli,
    "zstd": _decode_zstd,
}
