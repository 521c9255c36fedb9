"""Decoding of content codings (gzip, deflate, br, zstd), limited so that a decompression bomb can't fill the memory."""

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
# A response with more stacked codings is an attack, not a web site.
MAX_STACKED = 3
# Each member of a gzip file, and each frame of zstd, costs a decoder and a copy of the remaining data. Web servers send
# one.
MAX_MEMBERS = 64
# RFC 8878, section 3.1.1.1.2 recommends supporting windows of up to 8 MiB, and browsers refuse larger ones.
ZSTD_OPTIONS: dict[int, int] = {zstd.DecompressionParameter.window_log_max: 23}


def decode(body: bytes, content_encoding: str | None, limit_bytes: int) -> tuple[bytes, bool]:
    """Decode a body, to at most `limit_bytes`. Also returns whether there was, or should have been, more.

    A body that was cut off is decoded as far as possible. If the outermost coding is unknown, the body stays as it is,
    as in browsers. Raises BadResponse if the body does not have the coding that its header names.
    """
    codings = [name for each in (content_encoding or "").split(",") if (name := each.strip().lower())]
    if len(codings) > MAX_STACKED:
        raise BadResponse("The response is encoded more often than any browser would undo.")
    is_cut = False
    for coding in reversed(codings):
        if coding == "identity":
            continue
        if coding not in _DECODERS or not body:
            break
        try:
            # One byte over the limit shows that there is more. Never zero: to zlib that means no limit.
            body, is_unfinished = _DECODERS[coding](body, limit_bytes + 1)
        except (zlib.error, brotli.error, zstd.ZstdError):
            raise BadResponse(f"The response says it is encoded as {coding}, and is not.") from None
        is_cut = is_cut or is_unfinished
    return body[:limit_bytes], is_cut or len(body) > limit_bytes


def _gzip(data: bytes, limit: int) -> tuple[bytes, bool]:
    output: list[bytes] = []
    for _ in range(MAX_MEMBERS):
        # A gzip file may have several members (RFC 1952, section 2.2).
        decoder = zlib.decompressobj(zlib.MAX_WBITS | 16)
        output.append(decoder.decompress(data, limit))
        limit -= len(output[-1])
        if not decoder.eof or limit == 0:
            return b"".join(output), not decoder.eof
        data = decoder.unused_data.lstrip(b"\0")
        if data[:2] != b"\x1f\x8b":
            return b"".join(output), False  # garbage after the end; browsers ignore it
    return b"".join(output), True


def _deflate(data: bytes, limit: int) -> tuple[bytes, bool]:
    # RFC 9110 requires zlib's format; some servers send a raw deflate stream, which browsers accept, too.
    for window_bits in (zlib.MAX_WBITS, -zlib.MAX_WBITS):
        decoder = zlib.decompressobj(window_bits)
        try:
            return decoder.decompress(data, limit), not decoder.eof
        except zlib.error:
            if window_bits < 0:
                raise
    raise AssertionError("the loop returns or raises")


def _brotli(data: bytes, limit: int) -> tuple[bytes, bool]:
    decoder = brotli.Decompressor()
    output = decoder.process(data, output_buffer_limit=limit)
    while not decoder.is_finished() and not decoder.can_accept_more_data() and len(output) < limit:
        output += decoder.process(b"", output_buffer_limit=limit - len(output))
    return output[:limit], not decoder.is_finished()


def _zstd(data: bytes, limit: int) -> tuple[bytes, bool]:
    output: list[bytes] = []
    for _ in range(MAX_MEMBERS):
        # A body may have several frames (RFC 8878, section 3.1).
        decoder = zstd.ZstdDecompressor(options=ZSTD_OPTIONS)
        output.append(decoder.decompress(data, limit))
        limit -= len(output[-1])
        data = decoder.unused_data if decoder.eof else b""
        if not data or limit == 0:
            return b"".join(output), not decoder.eof
    return b"".join(output), True


_DECODERS: dict[str, Callable[[bytes, int], tuple[bytes, bool]]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}
