"""Test that any encoded content is decoded within the size limit."""

from __future__ import annotations

import gzip
import time
import tracemalloc
import zlib
from collections.abc import Callable

import brotli
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.zstandard import zstd
from website_scan.net.errors import BadResponse
from website_scan.net.http.decoding import decode

MIB = 1024 * 1024


def _raw_deflate(data: bytes) -> bytes:
    encoder = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return encoder.compress(data) + encoder.flush()


CODINGS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "x-gzip": ("X-GZIP", gzip.compress),
    "deflate": ("deflate", zlib.compress),
    "raw deflate": ("deflate", _raw_deflate),
    "br": ("br", brotli.compress),
    "zstd": ("zstd", zstd.compress),
}
for_each_coding = pytest.mark.parametrize(("name", "encode"), CODINGS.values(), ids=CODINGS.keys())


@for_each_coding
@settings(deadline=None)  # Brotli compresses slowly on a busy machine.
@given(data=st.binary(max_size=2000))
def test_content_coding_round_trips(name: str, encode: Callable[[bytes], bytes], data: bytes) -> None:
    assert decode(encode(data), name, 2000) == (data, False)


@for_each_coding
def test_decoding_limit_is_exact(name: str, encode: Callable[[bytes], bytes]) -> None:
    data = bytes(range(256)) * 40
    body = encode(data)
    assert decode(body, name, len(data)) == (data, False)
    assert decode(body, name, len(data) - 1) == (data[:-1], True)


@for_each_coding
def test_decompression_bomb_is_truncated_at_the_limit(name: str, encode: Callable[[bytes], bytes]) -> None:
    bomb = encode(b"\0" * (64 * MIB))
    assert len(bomb) < MIB
    tracemalloc.start()
    try:
        body, is_cut = decode(bomb, name, MIB)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (len(body), is_cut) == (MIB, True)
    assert peak_bytes < 12 * MIB


@for_each_coding
def test_beginning_of_a_truncated_body_is_decoded(name: str, encode: Callable[[bytes], bytes]) -> None:
    data = b"".join(b"line %d\n" % number for number in range(60_000))
    body = encode(data)
    text, is_cut = decode(body[: len(body) * 3 // 4], name, MIB)
    assert is_cut
    assert text
    assert data.startswith(text)


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "zstd"])
def test_body_without_its_declared_coding_is_refused(name: str) -> None:
    with pytest.raises(BadResponse, match=f"encoded as {name}, but is not"):
        decode(b"<!doctype html><title>plain</title>", name, MIB)


def test_nested_bombs_are_cut() -> None:
    data = b"hello " * 100
    assert decode(brotli.compress(gzip.compress(data)), "gzip, br", MIB) == (data, False)
    nested = gzip.compress(gzip.compress(b"\0" * (64 * MIB)))
    assert decode(nested, "gzip, gzip", MIB) == (b"\0" * MIB, True)
    with pytest.raises(BadResponse, match="more often"):
        decode(b"x", ", ".join(["gzip"] * 4), MIB)


def test_gzip_members_are_joined() -> None:
    assert decode(gzip.compress(b"one ") + gzip.compress(b"two"), "gzip", MIB) == (b"one two", False)
    assert decode(gzip.compress(b"one") + b"rubbish", "gzip", MIB) == (b"one", False)


def test_zstd_frames_are_joined() -> None:
    skippable = b"\x50\x2a\x4d\x18" + (4).to_bytes(4, "little") + b"note"
    body = zstd.compress(b"one ") + skippable + zstd.compress(b"two")
    assert decode(body, "zstd", MIB) == (b"one two", False)
    assert decode(body, "zstd", 4) == (b"one ", True)
    with pytest.raises(BadResponse):
        decode(zstd.compress(b"one") + b"rubbish", "zstd", MIB)


def test_truncated_zstd_frame_is_detected() -> None:
    encoder = zstd.ZstdCompressor()
    body = encoder.compress(b"hello " * 100) + encoder.flush(zstd.ZstdCompressor.FLUSH_BLOCK)
    assert decode(body, "zstd", MIB) == (b"hello " * 100, True)


def test_zstd_window_is_limited_like_in_browsers() -> None:
    data = b"hello " * 100
    for window_log, is_supported in ((23, True), (24, False)):
        encoder = zstd.ZstdCompressor(options={zstd.CompressionParameter.window_log: window_log})
        # In one step, the encoder would shrink the window to the content's length.
        body = encoder.compress(data) + encoder.flush()
        if is_supported:
            assert decode(body, "zstd", MIB) == (data, False)
        else:
            with pytest.raises(BadResponse):
                decode(body, "zstd", MIB)


@pytest.mark.parametrize("name", [None, "", "identity", "snappy", "utf-8"])
def test_unknown_coding_remains_encoded(name: str | None) -> None:
    assert decode(b"body", name, MIB) == (b"body", False)
    assert decode(b"body", name, 3) == (b"bod", True)


def test_empty_body_stays_empty_after_decoding() -> None:
    assert decode(b"", "gzip", MIB) == (b"", False)


@settings(deadline=None)  # Brotli compresses slowly on a busy machine.
@given(st.binary(max_size=500), st.sampled_from(["gzip", "deflate", "br", "zstd", "gzip, br"]))
def test_arbitrary_bytes_are_decoded_or_refused(data: bytes, name: str) -> None:
    try:
        body, _ = decode(data, name, 1000)
    except BadResponse:
        return
    assert len(body) <= 1000


def test_unknown_outer_coding_prevents_decoding() -> None:
    packed = gzip.compress(b"hello")
    assert decode(packed, "gzip, aws-chunked", 100) == (packed, False)
    assert decode(packed, "gzip, identity", 100) == (b"hello", False)


def test_limit_of_zero_bytes_decodes_nothing() -> None:
    for name, encode in (("gzip", gzip.compress), ("deflate", zlib.compress)):
        assert decode(encode(b"hello"), name, 0) == (b"", True)


def test_many_gzip_members_are_decoded_in_seconds() -> None:
    # Copying the remaining data for every member would take almost a minute.
    begin = time.process_time()
    assert decode(gzip.compress(b"") * 250_000, "gzip", 1000) == (b"", True)
    assert time.process_time() - begin < 5


def test_many_zstd_frames_are_decoded_in_seconds() -> None:
    begin = time.process_time()
    assert decode(zstd.compress(b"") * 500_000, "zstd", 1000) == (b"", True)
    assert time.process_time() - begin < 5
