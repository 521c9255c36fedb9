"""Content codings are removed within a limit, for any content."""

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
each_coding = pytest.mark.parametrize(("name", "encode"), CODINGS.values(), ids=CODINGS.keys())


@each_coding
@settings(deadline=None)  # brotli compresses slowly, and machines are shared
@given(data=st.binary(max_size=2000))
def test_every_coding_gives_back_what_went_in(name: str, encode: Callable[[bytes], bytes], data: bytes) -> None:
    assert decode(encode(data), name, 2000) == (data, False)


@each_coding
def test_the_limit_is_exact(name: str, encode: Callable[[bytes], bytes]) -> None:
    data = bytes(range(256)) * 40
    body = encode(data)
    assert decode(body, name, len(data)) == (data, False)
    assert decode(body, name, len(data) - 1) == (data[:-1], True)


@each_coding
def test_a_bomb_ends_at_the_limit_and_not_in_the_memory(name: str, encode: Callable[[bytes], bytes]) -> None:
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


@each_coding
def test_a_body_that_was_cut_off_gives_its_beginning(name: str, encode: Callable[[bytes], bytes]) -> None:
    data = b"".join(b"line %d\n" % number for number in range(60_000))
    body = encode(data)
    text, is_cut = decode(body[: len(body) * 3 // 4], name, MIB)
    assert is_cut
    assert text
    assert data.startswith(text)


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "zstd"])
def test_a_body_that_is_not_what_it_says_is_refused(name: str) -> None:
    with pytest.raises(BadResponse, match=f"encoded as {name}, and is not"):
        decode(b"<!doctype html><title>plain</title>", name, MIB)


def test_stacked_codings_come_off_in_order_and_bombs_in_bombs_stay_small() -> None:
    data = b"hello " * 100
    assert decode(brotli.compress(gzip.compress(data)), "gzip, br", MIB) == (data, False)
    nested = gzip.compress(gzip.compress(b"\0" * (64 * MIB)))
    assert decode(nested, "gzip, gzip", MIB) == (b"\0" * MIB, True)
    with pytest.raises(BadResponse, match="more often"):
        decode(b"x", ", ".join(["gzip"] * 4), MIB)


def test_several_gzip_members_are_one_body_and_rubbish_behind_is_ignored() -> None:
    assert decode(gzip.compress(b"one ") + gzip.compress(b"two"), "gzip", MIB) == (b"one two", False)
    assert decode(gzip.compress(b"one") + b"rubbish", "gzip", MIB) == (b"one", False)


def test_several_zstd_frames_are_one_body_and_what_is_skipped_is_no_part_of_it() -> None:
    skippable = b"\x50\x2a\x4d\x18" + (4).to_bytes(4, "little") + b"note"
    body = zstd.compress(b"one ") + skippable + zstd.compress(b"two")
    assert decode(body, "zstd", MIB) == (b"one two", False)
    assert decode(body, "zstd", 4) == (b"one ", True)
    with pytest.raises(BadResponse):
        decode(zstd.compress(b"one") + b"rubbish", "zstd", MIB)


def test_a_zstd_frame_that_is_cut_off_says_so_even_if_it_does_not_tell_its_length() -> None:
    encoder = zstd.ZstdCompressor()
    body = encoder.compress(b"hello " * 100) + encoder.flush(zstd.ZstdCompressor.FLUSH_BLOCK)
    assert decode(body, "zstd", MIB) == (b"hello " * 100, True)


def test_a_zstd_window_is_at_most_what_browsers_take() -> None:
    data = b"hello " * 100
    for window_log, is_taken in ((23, True), (24, False)):
        encoder = zstd.ZstdCompressor(options={zstd.CompressionParameter.window_log: window_log})
        body = encoder.compress(data) + encoder.flush()  # in two steps, so that the window is not the content's length
        if is_taken:
            assert decode(body, "zstd", MIB) == (data, False)
        else:
            with pytest.raises(BadResponse):
                decode(body, "zstd", MIB)


@pytest.mark.parametrize("name", [None, "", "identity", "snappy", "utf-8"])
def test_unknown_codings_are_left_as_they_are(name: str | None) -> None:
    assert decode(b"body", name, MIB) == (b"body", False)
    assert decode(b"body", name, 3) == (b"bod", True)


def test_an_empty_body_needs_no_coding() -> None:
    assert decode(b"", "gzip", MIB) == (b"", False)


@settings(deadline=None)  # brotli compresses slowly, and machines are shared
@given(st.binary(max_size=500), st.sampled_from(["gzip", "deflate", "br", "zstd", "gzip, br"]))
def test_no_bytes_fail_in_another_way(data: bytes, name: str) -> None:
    try:
        body, _ = decode(data, name, 1000)
    except BadResponse:
        return
    assert len(body) <= 1000


def test_a_known_coding_under_an_unknown_one_is_left_too() -> None:
    packed = gzip.compress(b"hello")
    assert decode(packed, "gzip, aws-chunked", 100) == (packed, False)
    assert decode(packed, "gzip, identity", 100) == (b"hello", False)


def test_a_limit_of_nothing_unpacks_nothing() -> None:
    for name, encode in (("gzip", gzip.compress), ("deflate", zlib.compress)):
        assert decode(encode(b"hello"), name, 0) == (b"", True)


def test_a_flood_of_empty_gzip_members_costs_no_time() -> None:
    # Decoded one by one, with a copy of the rest for each, these five megabytes would take most of a minute.
    begin = time.process_time()
    assert decode(gzip.compress(b"") * 250_000, "gzip", 1000) == (b"", True)
    assert time.process_time() - begin < 5


def test_a_flood_of_empty_zstd_frames_costs_no_time() -> None:
    begin = time.process_time()
    assert decode(zstd.compress(b"") * 500_000, "zstd", 1000) == (b"", True)
    assert time.process_time() - begin < 5
