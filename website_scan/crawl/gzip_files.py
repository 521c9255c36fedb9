"""Decompress gzip files in chunks.

A decompression bomb cannot exhaust the memory.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

GZIP_MAGIC = b"\x1f\x8b"
CHUNK_BYTES = 64 * 1024
MAX_GZIP_LAYERS = 2  # A compressed file may be compressed again for the transfer.
MAX_GZIP_MEMBERS = 2_000  # A member of a bgzip file has 64 KiB.


class BrokenGzip(Exception):
    """Raised when a gzip file can't be decompressed.

    The message is a clause with the reason.
    """


def decompress_gzip(content: bytes, is_cut: bool) -> Iterator[bytes]:
    """Yield a file's content in chunks.

    Decompressed if the content begins like gzip. `is_cut` is True if `content` is only the beginning of the file.
    Raises `BrokenGzip` at the broken chunk.
    """
    pieces: Iterator[bytes] = (content[at : at + CHUNK_BYTES] for at in range(0, len(content), CHUNK_BYTES))
    for _ in range(MAX_GZIP_LAYERS):
        first = next(pieces, b"")
        whole = _join_pieces(first, pieces)
        if not first.startswith(GZIP_MAGIC):
            return whole
        pieces = _decompress_members(whole, is_cut)
    return pieces


def _join_pieces(first: bytes, rest: Iterable[bytes]) -> Iterator[bytes]:
    if first:
        yield first
    yield from rest


def _decompress_members(pieces: Iterable[bytes], is_cut: bool) -> Iterator[bytes]:
    """Yield the content of a gzip file's members (RFC 1952) in chunks.

    Ignores any data after the last member.
    """
    decoder = zlib.decompressobj(zlib.MAX_WBITS | 16)
    members = 1
    for piece in pieces:
        data = piece
        while data:
            if decoder.eof:
                if not data.startswith(GZIP_MAGIC[:1]):
                    return
                members += 1
                if members > MAX_GZIP_MEMBERS:
                    raise BrokenGzip(f"is a gzip file of more than {MAX_GZIP_MEMBERS:,} members")
                decoder = zlib.decompressobj(zlib.MAX_WBITS | 16)
            try:
                output = decoder.decompress(data, CHUNK_BYTES)
            except zlib.error:
                raise BrokenGzip("starts as a gzip file, but is not one") from None
            if output:
                yield output
            data = decoder.unused_data if decoder.eof else decoder.unconsumed_tail
    if not decoder.eof and not is_cut:
        raise BrokenGzip("is a truncated gzip file")
