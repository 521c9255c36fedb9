"""Test that the HTTP/1 parser accepts the same responses as browsers."""

from __future__ import annotations

import http.client
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from website_scan.net.errors import BadResponse, Http2Only
from website_scan.net.http.messages import Body, Framing, Head, body_framing, read_body, read_head
from website_scan.net.http.response import Headers

LIMIT = 64 * 1024


def read_test_head(raw: bytes, limit: int = LIMIT) -> Head:
    return read_head(io.BytesIO(raw), limit)


def read_test_body(raw: bytes, framing_of_response: Framing, limit: int = LIMIT) -> Body:
    return read_body(io.BytesIO(raw), framing_of_response, limit)


def framing_of_response(*lines: str, status: int = 200, method: str = "GET", version: str = "1.1") -> Framing:
    pairs = tuple((name, value) for name, _, value in (line.partition(": ") for line in lines))
    return body_framing(Head(status, "", version, Headers(pairs), 0), method)


def test_repeated_headers_are_kept_as_separate_items() -> None:
    raw = b"HTTP/1.1 200 Fine\r\nSet-Cookie: a=1\r\nX-Odd :  b \r\nset-cookie: c=2\r\n\r\nbody"
    read = read_test_head(raw)
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
def test_status_lines_that_browsers_accept_are_parsed(raw: bytes, status: int, reason: str, version: str) -> None:
    read = read_test_head(raw)
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
def test_response_that_is_not_HTTP_is_refused(raw: bytes) -> None:
    with pytest.raises(BadResponse):
        read_test_head(raw)


def test_closed_connection_raises_RemoteDisconnected() -> None:
    with pytest.raises(http.client.RemoteDisconnected):
        read_test_head(b"")


@pytest.mark.parametrize(
    "raw",
    [
        "000012040000000000 000300000064 000400010000 000500ffffff",  # SETTINGS of a server
        "000000040000000000",  # SETTINGS without values
        "000006040000000000 0003 00000064 000008070000000000 00000000 00000001",  # SETTINGS and GOAWAY
        "000008070000000000 00000000 00000001",  # GOAWAY alone
        "000022070000000000 00000000 00000001 48545450",  # GOAWAY with text
    ],
)
def test_http_2_frames_are_recognized(raw: str) -> None:
    """RFC 9113, section 3.4: the server's connection preface is a SETTINGS frame (type 4) on stream 0."""
    with pytest.raises(Http2Only, match="speaks only HTTP/2"):
        read_test_head(bytes.fromhex(raw))


@pytest.mark.parametrize("raw", [b"\0", b"\0\0\x12", b"\0" * 20, b"\0HTTP/1.1 200 OK\r\n\r\n", b"\0\0\0\4\0\0\0\0\1"])
def test_other_binary_responses_are_not_http(raw: bytes) -> None:
    with pytest.raises(BadResponse, match="is not HTTP") as error:
        read_test_head(raw)
    assert not isinstance(error.value, Http2Only)


def test_interim_responses_are_skipped() -> None:
    raw = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n" * 3 + b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n"
    assert read_test_head(raw).headers.items == (("A", "b"),)
    with pytest.raises(BadResponse, match="headers are larger"):
        read_test_head(b"HTTP/1.1 100 Continue\r\n\r\n" * 10_000)


def test_folded_header_lines_are_joined() -> None:
    raw = b"HTTP/1.1 200 OK\r\n leading\r\nrubbish\r\n: nameless\r\nA: one\r\n\ttwo\r\n  three \r\nB: \r\n\r\n"
    assert read_test_head(raw).headers.items == (("A", "one two three"), ("B", ""))


def test_header_size_is_limited() -> None:
    many = b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: y\r\n" % number for number in range(300)) + b"\r\n"
    assert len(read_test_head(many).headers.items) == 300
    exact = read_test_head(many, len(many))
    assert exact.size_bytes == len(many)
    with pytest.raises(BadResponse, match="headers are larger than"):
        read_test_head(many, len(many) - 1)
    with pytest.raises(BadResponse, match="headers are larger than 64 KiB"):
        read_test_head(b"HTTP/1.1 200 OK\r\nX: " + b"a" * 100_000)


@given(st.binary(max_size=300))
def test_arbitrary_response_head_is_parsed_or_refused(raw: bytes) -> None:
    for start in (b"", b"HTTP/1.1 200 OK\r\n"):
        try:
            read = read_test_head(start + raw)
        except (BadResponse, http.client.RemoteDisconnected):
            continue
        assert 100 <= read.status <= 999 or read.status < 100


def test_message_framing_follows_RFC_9112() -> None:
    # The cases follow the order of RFC 9112, section 6.3.
    assert framing_of_response("Content-Length: 5", method="HEAD") == Framing(length=0)
    assert framing_of_response("Content-Length: 5", status=204) == Framing(length=0)
    assert framing_of_response("Content-Length: 5", status=304) == Framing(length=0)
    assert framing_of_response("Transfer-Encoding: chunked", "Content-Length: 5") == Framing(chunked=True)
    assert framing_of_response("Transfer-Encoding: gzip, Chunked") == Framing(chunked=True)
    assert framing_of_response("Transfer-Encoding: gzip", "Content-Length: 5") == Framing()
    assert framing_of_response("Transfer-Encoding: chunked", version="1.0") == Framing()
    assert framing_of_response("Content-Length: 5") == Framing(length=5)
    assert framing_of_response("Content-Length: 5", "Content-Length: 5") == Framing(length=5)
    assert framing_of_response("Content-Length: 5, 5") == Framing(length=5)
    assert framing_of_response() == Framing()


@pytest.mark.parametrize("value", ["-5", "five", "0x5", "5.0", "", "\u0665"])
def test_invalid_Content_Length_is_ignored(value: str) -> None:
    assert framing_of_response(f"Content-Length: {value}") == Framing()


def test_contradicting_lengths_are_refused() -> None:
    with pytest.raises(BadResponse, match="several different lengths"):
        framing_of_response("Content-Length: 5", "Content-Length: 6")


def test_body_ends_according_to_its_framing() -> None:
    assert read_test_body(b"hello, more", Framing(length=5)) == Body(b"hello", is_cut=False, is_message_complete=True)
    assert read_test_body(b"hello", Framing()) == Body(b"hello", is_cut=False, is_message_complete=False)
    chunks = b"5\r\nhello\r\n6;a=b\r\n world\r\n0\r\nTrailer: x\r\n\r\nnext"
    assert read_test_body(chunks, Framing(chunked=True)) == Body(b"hello world", is_cut=False, is_message_complete=True)


def test_received_part_of_a_truncated_body_is_returned() -> None:
    assert read_test_body(b"hel", Framing(length=5)) == Body(b"hel", is_cut=True, is_message_complete=False)
    for raw in (b"5\r\nhel", b"5\r\nhel\r\n", b"3\r\nhel\r\n", b"3\r\nhel\r\n5\r\n", b"3\r\nhel"):
        read = read_test_body(raw, Framing(chunked=True))
        assert read.content.startswith(b"hel")
        assert read.is_cut
        assert not read.is_message_complete


def test_body_over_the_size_limit_is_truncated() -> None:
    assert read_test_body(b"hello", Framing(length=5), 3) == Body(b"hel", is_cut=True, is_message_complete=False)
    assert read_test_body(b"hello", Framing(), 3) == Body(b"hel", is_cut=True, is_message_complete=False)
    assert read_test_body(b"hello", Framing(), 5) == Body(b"hello", is_cut=False, is_message_complete=False)
    assert read_test_body(b"5\r\nhello\r\n0\r\n\r\n", Framing(chunked=True), 3) == Body(b"hel", True, False)
    assert read_test_body(b"5\r\nhello\r\n0\r\n\r\n", Framing(chunked=True), 5) == Body(b"hello", False, True)


@pytest.mark.parametrize(
    "raw", [b"xyz\r\nhello", b"-5\r\nhello", b"\r\n5\r\nhello", b"+5\r\nhello", b"5\r\nhello!\r\n0\r\n\r\n"]
)
def test_malformed_chunks_are_refused(raw: bytes) -> None:
    with pytest.raises(BadResponse, match="chunks"):
        read_test_body(raw, Framing(chunked=True))


def test_excessive_chunk_framing_is_refused() -> None:
    for raw in (b"0\r\n" + b"T: x\r\n" * 100_000, b"1;" + b"x" * 500_000, b"1\r\nx\r\n" * 200_000):
        with pytest.raises(BadResponse):
            read_test_body(raw, Framing(chunked=True), 1000 if raw[:1] == b"0" else LIMIT * 8)


@given(st.binary(max_size=300), st.integers(0, 200))
def test_arbitrary_body_never_exceeds_its_limit(raw: bytes, limit: int) -> None:
    for declared_framing in (Framing(), Framing(length=100), Framing(chunked=True)):
        try:
            read = read_test_body(raw, declared_framing, limit)
        except BadResponse:
            continue
        assert len(read.content) <= limit


@given(st.lists(st.binary(min_size=1, max_size=50)))
def test_chunked_body_round_trips(pieces: list[bytes]) -> None:
    raw = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
    assert read_test_body(raw, Framing(chunked=True)) == Body(b"".join(pieces), is_cut=False, is_message_complete=True)


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
def test_keep_alive_depends_on_the_HTTP_version(version: str, connection: str | None, keeps: bool) -> None:
    headers = Headers((("Connection", connection),) if connection else ())
    assert Head(200, "", version, headers, 0).keeps_connection_alive is keeps


@pytest.mark.parametrize("value", ["9" * 19, "9" * 5000])
def test_huge_Content_Length_is_ignored(value: str) -> None:
    assert framing_of_response(f"Content-Length: {value}") == Framing()


def test_lone_carriage_return_becomes_a_space() -> None:
    headers = read_test_head(b"HTTP/1.1 200 OK\r\nA: b\rX-Forged: c\r\n\r\n").headers
    assert headers.items == (("A", "b X-Forged: c"),)
