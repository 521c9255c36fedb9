"""HTTP/1 as browsers parse it: as lenient and as strict as they are, and never without a limit."""

from __future__ import annotations

import http.client
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from website_scan.net.errors import BadResponse
from website_scan.net.http.messages import Body, Framing, Head, framing, read_body, read_head
from website_scan.net.http.response import Headers

LIMIT = 64 * 1024


def head(raw: bytes, limit: int = LIMIT) -> Head:
    return read_head(io.BytesIO(raw), limit)


def body(raw: bytes, frame: Framing, limit: int = LIMIT) -> Body:
    return read_body(io.BytesIO(raw), frame, limit)


def frame(*lines: str, status: int = 200, method: str = "GET", version: str = "1.1") -> Framing:
    pairs = tuple((name, value) for name, _, value in (line.partition(": ") for line in lines))
    return framing(Head(status, "", version, Headers(pairs), 0), method)


def test_a_head_is_read_as_it_came_with_repeated_headers_apart() -> None:
    raw = b"HTTP/1.1 200 Fine\r\nSet-Cookie: a=1\r\nX-Odd :  b \r\nset-cookie: c=2\r\n\r\nbody"
    read = head(raw)
    assert (read.status, read.reason, read.version) == (200, "Fine", "1.1")
    assert read.headers.items == (("Set-Cookie", "a=1"), ("X-Odd", "b"), ("set-cookie", "c=2"))
    assert read.headers.all("SET-COOKIE") == ("a=1", "c=2")
    assert read.size_bytes == len(raw) - len(b"body")


@pytest.mark.parametrize(
    ("raw", "status", "reason", "version"),
    [
        (b"HTTP/1.1 204\r\n\r\n", 204, "", "1.1"),
        (b"HTTP/1.0 404 Not Found\n\n", 404, "Not Found", "1.0"),
        (b"\r\nHTTP/1.1 200 OK\r\n\r\n", 200, "OK", "1.1"),
        (b"http/1.1 200  two  words \r\n\r\n", 200, "two  words", "1.1"),
        (b"HTTP/2 200\r\n\r\n", 200, "", "2.0"),
        (b"HTTP/1.1 999 No\r\n\r\n", 999, "No", "1.1"),
    ],
)
def test_status_lines_that_browsers_take(raw: bytes, status: int, reason: str, version: str) -> None:
    read = head(raw)
    assert (read.status, read.reason, read.version) == (status, reason, version)


@pytest.mark.parametrize(
    "raw",
    [
        b"<html>no head at all</html>\n\n",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 20 OK\r\n\r\n",
        b"HTTP/1.1 abc\r\n\r\n",
        b"\x15\x03\x01\x00\x02\x02\x46\n",
        b"\r\n\r\n\r\n\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nA: b",
        b"HTTP/1.1 200 OK\r\nA: b\r\n",
        b"HTTP/1.1 200 OK\r\nA: b\0c\r\n\r\n",
    ],
)
def test_what_is_not_http_is_named_so(raw: bytes) -> None:
    with pytest.raises(BadResponse):
        head(raw)


def test_connection_closed_before_any_byte_has_its_own_error() -> None:
    with pytest.raises(http.client.RemoteDisconnected):
        head(b"")


def test_interim_responses_are_skipped_and_count_against_the_limit() -> None:
    raw = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n" * 3 + b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n"
    assert head(raw).headers.items == (("A", "b"),)
    with pytest.raises(BadResponse, match="headers are larger"):
        head(b"HTTP/1.1 100 Continue\r\n\r\n" * 10_000)


def test_lines_without_a_name_are_passed_over_and_folded_lines_joined() -> None:
    raw = b"HTTP/1.1 200 OK\r\n leading\r\nrubbish\r\n: nameless\r\nA: one\r\n\ttwo\r\n  three \r\nB: \r\n\r\n"
    assert head(raw).headers.items == (("A", "one two three"), ("B", ""))


def test_many_headers_are_fine_and_large_ones_are_not() -> None:
    many = b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: y\r\n" % number for number in range(300)) + b"\r\n"
    assert len(head(many).headers.items) == 300
    exact = head(many, len(many))
    assert exact.size_bytes == len(many)
    with pytest.raises(BadResponse, match="headers are larger than"):
        head(many, len(many) - 1)
    with pytest.raises(BadResponse, match="headers are larger than 64 KiB"):
        head(b"HTTP/1.1 200 OK\r\nX: " + b"a" * 100_000)


@given(st.binary(max_size=300))
def test_no_bytes_make_the_head_fail_in_another_way(raw: bytes) -> None:
    for start in (b"", b"HTTP/1.1 200 OK\r\n"):
        try:
            read = head(start + raw)
        except (BadResponse, http.client.RemoteDisconnected):
            continue
        assert 100 <= read.status <= 999 or read.status < 100


def test_where_the_body_ends() -> None:
    # RFC 9112, section 6.3, in its order.
    assert frame("Content-Length: 5", method="HEAD") == Framing(length=0)
    assert frame("Content-Length: 5", status=204) == Framing(length=0)
    assert frame("Content-Length: 5", status=304) == Framing(length=0)
    assert frame("Transfer-Encoding: chunked", "Content-Length: 5") == Framing(chunked=True)
    assert frame("Transfer-Encoding: gzip, Chunked") == Framing(chunked=True)
    assert frame("Transfer-Encoding: gzip", "Content-Length: 5") == Framing()
    assert frame("Transfer-Encoding: chunked", version="1.0") == Framing()
    assert frame("Content-Length: 5") == Framing(length=5)
    assert frame("Content-Length: 5", "Content-Length: 5") == Framing(length=5)
    assert frame("Content-Length: 5, 5") == Framing(length=5)
    assert frame() == Framing()


@pytest.mark.parametrize("value", ["-5", "five", "0x5", "5.0", "", "\u0665"])
def test_a_length_that_is_no_number_is_ignored(value: str) -> None:
    assert frame(f"Content-Length: {value}") == Framing()


def test_several_lengths_are_refused() -> None:
    with pytest.raises(BadResponse, match="several different lengths"):
        frame("Content-Length: 5", "Content-Length: 6")


def test_bodies_end_where_their_framing_says() -> None:
    assert body(b"hello, more", Framing(length=5)) == Body(b"hello", is_cut=False, is_read=True)
    assert body(b"hello", Framing()) == Body(b"hello", is_cut=False, is_read=False)
    chunks = b"5\r\nhello\r\n6;a=b\r\n world\r\n0\r\nTrailer: x\r\n\r\nnext"
    assert body(chunks, Framing(chunked=True)) == Body(b"hello world", is_cut=False, is_read=True)


def test_a_body_that_ends_too_early_is_kept_as_far_as_it_came() -> None:
    assert body(b"hel", Framing(length=5)) == Body(b"hel", is_cut=True, is_read=False)
    for raw in (b"5\r\nhel", b"5\r\nhel\r\n", b"3\r\nhel\r\n", b"3\r\nhel\r\n5\r\n", b"3\r\nhel"):
        read = body(raw, Framing(chunked=True))
        assert read.content.startswith(b"hel")
        assert read.is_cut
        assert not read.is_read


def test_a_body_over_the_limit_is_cut() -> None:
    assert body(b"hello", Framing(length=5), 3) == Body(b"hel", is_cut=True, is_read=False)
    assert body(b"hello", Framing(), 3) == Body(b"hel", is_cut=True, is_read=False)
    assert body(b"hello", Framing(), 5) == Body(b"hello", is_cut=False, is_read=False)
    assert body(b"5\r\nhello\r\n0\r\n\r\n", Framing(chunked=True), 3) == Body(b"hel", True, False)
    assert body(b"5\r\nhello\r\n0\r\n\r\n", Framing(chunked=True), 5) == Body(b"hello", False, True)


@pytest.mark.parametrize(
    "raw", [b"xyz\r\nhello", b"-5\r\nhello", b"\r\n5\r\nhello", b"+5\r\nhello", b"5\r\nhello!\r\n0\r\n\r\n"]
)
def test_chunks_that_make_no_sense_are_refused(raw: bytes) -> None:
    with pytest.raises(BadResponse, match="chunks"):
        body(raw, Framing(chunked=True))


def test_endless_chunk_framing_is_refused() -> None:
    for raw in (b"0\r\n" + b"T: x\r\n" * 100_000, b"1;" + b"x" * 500_000, b"1\r\nx\r\n" * 200_000):
        with pytest.raises(BadResponse):
            body(raw, Framing(chunked=True), 1000 if raw[:1] == b"0" else LIMIT * 8)


@given(st.binary(max_size=300), st.integers(0, 200))
def test_no_bytes_make_the_body_longer_than_its_limit(raw: bytes, limit: int) -> None:
    for each in (Framing(), Framing(length=100), Framing(chunked=True)):
        try:
            read = body(raw, each, limit)
        except BadResponse:
            continue
        assert len(read.content) <= limit


@given(st.lists(st.binary(min_size=1, max_size=50)))
def test_chunks_give_back_what_was_cut_into_them(pieces: list[bytes]) -> None:
    raw = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
    assert body(raw, Framing(chunked=True)) == Body(b"".join(pieces), is_cut=False, is_read=True)


@pytest.mark.parametrize(
    ("version", "connection", "keeps"),
    [
        ("1.1", None, True),
        ("1.1", "close", False),
        ("1.1", "Keep-Alive, Close", False),
        ("1.0", None, False),
        ("1.0", "keep-alive", True),
    ],
)
def test_when_a_connection_is_kept(version: str, connection: str | None, keeps: bool) -> None:
    headers = Headers((("Connection", connection),) if connection else ())
    assert Head(200, "", version, headers, 0).keeps_alive is keeps


@pytest.mark.parametrize("value", ["9" * 19, "9" * 5000])
def test_a_length_beyond_all_measure_is_ignored(value: str) -> None:
    assert frame(f"Content-Length: {value}") == Framing()


def test_a_lone_carriage_return_in_a_header_is_a_space() -> None:
    found = head(b"HTTP/1.1 200 OK\r\nA: b\rX-Forged: c\r\n\r\n").headers
    assert found.items == (("A", "b X-Forged: c"),)
