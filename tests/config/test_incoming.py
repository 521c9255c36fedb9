"""Tests for the parser of incoming requests."""

from __future__ import annotations

import io
import itertools
import time
from collections.abc import Callable, Iterator

import pytest
from gunicorn.config import Config
from gunicorn.http.errors import LimitRequestHeaders, NoMoreData, ParseException
from gunicorn.http.parser import RequestParser
from hypothesis import given
from hypothesis import strategies as st

from config.incoming import COMPACTED_BYTES, MAX_BODY_BYTES, MAX_HEAD_BYTES, BodyTooLarge, IncomingRequest

CFG = Config()
CLIENT = ("127.0.0.1", 1)
GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
POST = b"POST /a HTTP/1.1\r\nHost: a\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"

INCOMPLETE, REFUSED = "incomplete", "refused"
# Body of a complete request, and the bytes after it.
Outcome = str | tuple[bytes, bytes]


def outcome(pieces: list[bytes]) -> Outcome:
    incoming = IncomingRequest(CFG, CLIENT, 0.0)
    try:
        is_complete = any(incoming.feed(piece) for piece in pieces)
    except (ParseException, BodyTooLarge):
        return REFUSED
    if not is_complete:
        return INCOMPLETE
    assert type(incoming.request.body) is io.BytesIO, "a thread that reads the body would read the connection"
    body = incoming.request.body.read()
    assert [int(value) for name, value in incoming.request.headers if name == "CONTENT-LENGTH"] in ([len(body)], [])
    return body, incoming.rest


def outcome_of_gunicorn(data: bytes) -> Outcome:
    """Return the outcome of gunicorn's parser for the same bytes.

    That parser blocks while bytes are missing.
    """
    parser = RequestParser(CFG, iter([data]), CLIENT)
    try:
        request = next(parser)
        body = request.body.read()
    except ParseException:
        return REFUSED
    except (NoMoreData, StopIteration):
        return INCOMPLETE
    if len(body) < int(dict(request.headers).get("CONTENT-LENGTH", 0)):
        return INCOMPLETE  # gunicorn treats the end of the connection as the end of the body.
    return body, parser.unreader.take_buffered()


def split_into_pieces(data: bytes, places: list[int]) -> list[bytes]:
    edges = sorted({0, *(place for place in places if place < len(data)), len(data)})
    return [data[begin:end] for begin, end in itertools.pairwise(edges)]


EXTENSIONS = [b"", b";a", b";a=b", b' ; a = "b;\\" c" ;d', b";" + b"a" * 900, b";", b" ", b";a\rb", b";a b", b'="a']
TRAILERS = [
    b"",
    b"X: y\r\n",
    b"X: y\r\nZ: w\r\n",
    b"X: " + b"y" * 2000 + b"\r\n",
    b"Content-Length: 1\r\n",
    b"X\r\n",
    b"a\n",
]
LENGTHS = [b"5", b"0", b"0000000000000000005", b"9999999999999999999", b"9" * 5000, b"+5", b"5, 5", b"0x5", b"", b"-1"]
LENGTHS = [b"Content-Length: " + length + b"\r\n" for length in LENGTHS]
LENGTHS += [b"", LENGTHS[0] * 2, b"Content_Length: 5\r\n", b"Content-Length : 5\r\n", b"content-length:5 \r\n"]
CODINGS = [
    b"chunked",
    b"Chunked ",
    b"gzip, chunked",
    b"chunked, chunked",
    b"chunked, gzip",
    b"identity",
    b"xchunked",
    b"",
]
CODINGS = [b"Transfer-Encoding: " + coding + b"\r\n" for coding in CODINGS]
CODINGS += [b"", CODINGS[0] * 2, b"Transfer-Encoding\t: chunked\r\n", b"X: y\r\n Transfer-Encoding: chunked\r\n"]


@st.composite
def chunks(draw: st.DrawFn) -> bytes:
    """Draw a chunked body with at most one error."""
    body = b""
    for data in draw(st.lists(st.binary(min_size=1, max_size=20), max_size=4)):
        size = draw(st.sampled_from([b"%x", b"%X", b"%012x", b"%x", b"+%x", b"0x%x", b" %x", b"%xg"])) % len(data)
        end = draw(st.sampled_from([b"\r\n"] * 12 + [b"\n", b"", b"\r\r\n"]))
        body += size + draw(st.sampled_from(EXTENSIONS[:5] * 3 + EXTENSIONS)) + end + data
        body += draw(st.sampled_from([b"\r\n"] * 12 + [b"\n", b"x\r\n"]))
    last = draw(st.sampled_from([b"0", b"000000000", b"0;a=b", b"0", b"0 ", b"-0"]))
    return body + last + b"\r\n" + draw(st.sampled_from(TRAILERS)) + b"\r\n"


@st.composite
def requests(draw: st.DrawFn) -> bytes:
    """Draw a request and the bytes after it.

    The request has a length, chunks, both or neither.
    """
    version = draw(st.sampled_from([b"1.1"] * 6 + [b"1.0", b"2.0"]))
    only = st.sampled_from(["length", "coding", "chunked", "chunked", "both", "neither"])
    framing = draw(only)
    head = b"POST /a HTTP/" + version + b"\r\nHost: a\r\n"
    head += draw(st.sampled_from(LENGTHS)) if framing in ("length", "both") else b""
    head += draw(st.sampled_from(CODINGS)) if framing in ("coding", "both") else b""
    head += CODINGS[0] if framing == "chunked" else b""
    body = draw(st.sampled_from([b"abcde", b""])) if framing in ("length", "neither") else draw(chunks())
    return head + b"\r\n" + body + draw(st.sampled_from([b"", GET, b"\0"]))


@given(requests(), st.lists(st.integers(1, 300), max_size=8))
def test_parser_frames_requests_like_gunicorn(data: bytes, places: list[int]) -> None:
    expected = outcome_of_gunicorn(data)
    whole, outcome_in_pieces = outcome([data]), outcome(split_into_pieces(data, places))
    if isinstance(expected, tuple):
        assert whole == expected
        assert isinstance(outcome_in_pieces, tuple)
        assert outcome_in_pieces[0] == expected[0]
        assert expected[1].startswith(outcome_in_pieces[1])  # The last piece also contains later bytes.
    else:
        assert whole in (INCOMPLETE, REFUSED)
        assert outcome_in_pieces in (INCOMPLETE, REFUSED)


WELL_FORMED_REQUESTS = {
    "neither": (GET, b""),
    "length": (POST + b"Content-Length: 5\r\n\r\nab\r\nc", b"ab\r\nc"),
    "length of 19 digits": (POST + b"content-length:0000000000000000005\r\n\r\nabcde", b"abcde"),
    "chunks": (CHUNKED + b"3\r\na\r\n\r\n2\r\n0\r\r\n0\r\n\r\n", b"a\r\n0\r"),
    "size of nine digits": (CHUNKED + b"000000002\r\nab\r\n0\r\n\r\n", b"ab"),
    "extensions": (CHUNKED + b'2 ;a="b;\\"" ;c\r\nab\r\n0;d=e\r\n\r\n', b"ab"),
    "long extension": (CHUNKED + b"2;" + b"a" * 1000 + b"\r\nab\r\n0\r\n\r\n", b"ab"),
    "trailers": (CHUNKED + b"2\r\nab\r\n0\r\nX: y\r\nZ: w\r\n\r\n", b"ab"),
    "long trailers": (CHUNKED + b"0\r\n" + b"X: y\r\n" * 90 + b"\r\n", b""),
    "expects": (POST + b"Expect: 100-Continue\r\nContent-Length: 2\r\n\r\nab", b"ab"),
}


@pytest.mark.parametrize("name", WELL_FORMED_REQUESTS)
def test_split_request_ends_with_its_last_byte(name: str) -> None:
    data, body = WELL_FORMED_REQUESTS[name]
    for place in range(len(data)):
        assert outcome([data[:place]]) == INCOMPLETE
        assert outcome([data[:place], data[place:]]) == (body, b"")
    assert outcome([data[place : place + 1] for place in range(len(data))]) == (body, b"")
    assert outcome([data + GET]) == (body, GET)


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"GET / HTTP/1.1\r\nX: " + b"x" * MAX_HEAD_BYTES, LimitRequestHeaders),
        (POST + b"Content-Length: %d\r\n\r\n" % (MAX_BODY_BYTES + 1), BodyTooLarge),
        (POST + b"Content-Length: 9999999999999999999\r\n\r\n", BodyTooLarge),
        (CHUNKED + b"fffffff\r\n", BodyTooLarge),
        (CHUNKED + b"f" * 1000 + b"\r\n", BodyTooLarge),
        (CHUNKED + (b"8000\r\n" + b"x" * 0x8000 + b"\r\n") * 33, BodyTooLarge),
        (CHUNKED + b"1\r\nx\r\n" * (MAX_BODY_BYTES // 6 + 2), BodyTooLarge),
        (CHUNKED + b"1;" + b"x" * 1100, ParseException),
        (CHUNKED + b"0\r\n" + b"X: y\r\n" * 2000, ParseException),
        (CHUNKED + b"0\r\n" + b"X: y\r\n" * 200 + b"\r\n", ParseException),
    ],
)
def test_too_long_request_is_refused(data: bytes, error: type[Exception]) -> None:
    for pieces in ([data], [data[place : place + 999] for place in range(0, len(data), 999)]):
        with pytest.raises(error):
            any(incoming.feed(piece) for incoming in [IncomingRequest(CFG, CLIENT, 0.0)] for piece in pieces)


@given(st.binary(max_size=300))
def test_chunks_are_parsed_like_gunicorn_or_refused(data: bytes) -> None:
    assert outcome([CHUNKED + data]) in (INCOMPLETE, REFUSED, outcome_of_gunicorn(CHUNKED + data))


TOTAL = 256 * 1024
FRAMINGS: dict[str, bytes] = {
    "length": POST + b"Content-Length: %d\r\n\r\n" % TOTAL + b"x" * TOTAL,
    "one chunk": CHUNKED + b"%x\r\n" % TOTAL + b"x" * TOTAL + b"\r\n0\r\n\r\n",
    "chunks of 1 KiB": CHUNKED + (b"400\r\n" + b"x" * 1024 + b"\r\n") * (TOTAL // 1031) + b"0\r\n\r\n",
    "chunks of one byte": CHUNKED + b"1\r\nx\r\n" * (TOTAL // 6) + b"0\r\n\r\n",
    "short extensions": CHUNKED + b"1;a=b\r\nx\r\n" * (TOTAL // 10) + b"0\r\n\r\n",
    "long extensions": CHUNKED + (b"1" + b";a=b" * 250 + b"\r\nx\r\n") * (TOTAL // 1006) + b"0\r\n\r\n",
    "long head": b"GET / HTTP/1.1\r\nHost: a\r\n" + (b"X: " + b"x" * 600 + b"\r\n") * 95 + b"\r\n",
    "trailers": CHUNKED + b"0\r\n" + b"X: y\r\n" * 95 + b"\r\n",
}


def outcome_in_pieces(data: bytes, size: int) -> Iterator[bytes]:
    return (data[place : place + size] for place in range(0, len(data), size))


def cpu_s(read: Callable[[], object]) -> float:
    """Return the shortest CPU time of three runs, in seconds."""

    def measure_once() -> float:
        began = time.process_time()
        read()
        return time.process_time() - began

    return min(measure_once() for _ in range(3))


def read_by_own_parser(data: bytes) -> int:
    incoming = IncomingRequest(CFG, CLIENT, 0.0)
    incoming.max_body_bytes = 2 * TOTAL
    assert [incoming.feed(piece) for piece in outcome_in_pieces(data, 65536)][-1]
    return len(incoming.request.body.read())


def read_by_gunicorn(data: bytes) -> int:
    return len(next(RequestParser(CFG, outcome_in_pieces(data, 8192), CLIENT)).body.read())


@pytest.mark.parametrize("name", FRAMINGS)
def test_cpu_time_is_at_most_twice_gunicorns(name: str) -> None:
    data = FRAMINGS[name]
    assert read_by_own_parser(data) == read_by_gunicorn(data)
    own_parser_cpu_s, gunicorn_cpu_s = cpu_s(lambda: read_by_own_parser(data)), cpu_s(lambda: read_by_gunicorn(data))
    assert own_parser_cpu_s <= 2 * gunicorn_cpu_s + 0.002, f"{own_parser_cpu_s:.4f} s, gunicorn {gunicorn_cpu_s:.4f} s"


def test_parsing_single_bytes_takes_linear_time() -> None:
    """The parser must read a line, head or trailer only once.

    It would be too slow if it began again for every received byte.
    """

    def read(data: bytes) -> None:
        incoming = IncomingRequest(CFG, CLIENT, 0.0)
        assert [incoming.feed(data[place : place + 1]) for place in range(len(data))][-1]

    def request(times: int) -> bytes:
        head = b"POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n" + b"X: y\r\n" * 20 * times + b"\r\n"
        chunk = b"%x;" % (400 * times) + b"a" * 200 * times + b"\r\n" + b"x" * 400 * times + b"\r\n"
        return head + chunk + b"0\r\n" + b"X: y\r\n" * 20 * times + b"\r\n"

    short, long = cpu_s(lambda: read(request(1))), cpu_s(lambda: read(request(4)))
    assert long <= 9 * short  # Linear time would be 4 times as long, quadratic time 16 times.


def test_reading_resumes_after_the_limit_is_raised() -> None:
    chunk = b"8000\r\n" + b"x" * 0x8000 + b"\r\n"
    incoming = IncomingRequest(CFG, CLIENT, 0.0)
    assert incoming.feed(CHUNKED + chunk) is False
    with pytest.raises(BodyTooLarge):
        incoming.feed(chunk + b"8000\r\nyy")
    incoming.max_body_bytes = 5 * len(chunk)
    assert incoming.feed(b"") is False
    assert incoming.feed(b"x" * 0x7FFE + b"\r\n0\r\n\r\n" + GET) is True
    assert len(incoming.request.body.read()) == incoming.size == 3 * 0x8000
    assert incoming.rest == GET


def test_decoded_chunks_are_stored_once() -> None:
    chunk = b"4000\r\n" + b"x" * 0x4000 + b"\r\n"
    incoming = IncomingRequest(CFG, CLIENT, 0.0)
    incoming.max_body_bytes = 2**24
    for _ in range(100):
        incoming.feed(CHUNKED + chunk if incoming.request is None else chunk)
    assert incoming.size < 101 * 0x4000 + COMPACTED_BYTES
