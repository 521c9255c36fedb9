"""Parser of incoming requests: in pieces of any size, and with each kind of framing."""

from __future__ import annotations

import io
import itertools
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from gunicorn.config import Config
from gunicorn.http.errors import LimitRequestHeaders, NoMoreData, ParseException
from gunicorn.http.parser import RequestParser
from hypothesis import given
from hypothesis import strategies as st

from config.gunicorn import Worker
from config.incoming import MAX_BODY_BYTES, MAX_HEAD_BYTES, MAX_UPLOAD_BYTES, BodyTooLarge, IncomingRequest

CFG = Config()
CLIENT = ("127.0.0.1", 1)
GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
POST = b"POST /a HTTP/1.1\r\nHost: a\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"

INCOMPLETE, REFUSED = "incomplete", "refused"
# Body and following bytes of a complete request.
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
    """Return the outcome of gunicorn's own parser, which blocks while bytes are missing, for the same bytes."""
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


def cut(data: bytes, places: list[int]) -> list[bytes]:
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
    """Strategy for chunked bodies: well-formed, or with an error in one part."""
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
    """Strategy for requests with a length, chunks, both or neither, and the bytes after them on the connection."""
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
def test_request_framing_equals_that_of_gunicorns_parser(data: bytes, places: list[int]) -> None:
    expected = outcome_of_gunicorn(data)
    whole, in_pieces = outcome([data]), outcome(cut(data, places))
    if isinstance(expected, tuple):
        assert whole == expected
        assert isinstance(in_pieces, tuple)
        assert in_pieces[0] == expected[0]
        assert expected[1].startswith(in_pieces[1])  # bytes in the last piece after the request
    else:
        assert whole in (INCOMPLETE, REFUSED)
        assert in_pieces in (INCOMPLETE, REFUSED)


WELL_FRAMED = {
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


@pytest.mark.parametrize("name", WELL_FRAMED)
def test_request_in_any_pieces_is_complete_with_its_last_byte(name: str) -> None:
    data, body = WELL_FRAMED[name]
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
def test_arbitrary_chunks_are_parsed_like_gunicorn_or_refused(data: bytes) -> None:
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


def in_pieces(data: bytes, size: int) -> Iterator[bytes]:
    return (data[place : place + size] for place in range(0, len(data), size))


def cpu_s(read: Callable[[], object]) -> float:
    """Return the shortest CPU time of three runs, in seconds."""

    def once() -> float:
        began = time.process_time()
        read()
        return time.process_time() - began

    return min(once() for _ in range(3))


def received(data: bytes) -> int:
    incoming = IncomingRequest(CFG, CLIENT, 0.0)
    assert [incoming.feed(piece) for piece in in_pieces(data, 65536)][-1]
    return len(incoming.request.body.read())


def received_by_gunicorn(data: bytes) -> int:
    return len(next(RequestParser(CFG, in_pieces(data, 8192), CLIENT)).body.read())


@pytest.mark.parametrize("name", FRAMINGS)
def test_cpu_time_is_at_most_twice_that_of_gunicorns_reader(name: str) -> None:
    data = FRAMINGS[name]
    assert received(data) == received_by_gunicorn(data)
    own_s, gunicorn_s = cpu_s(lambda: received(data)), cpu_s(lambda: received_by_gunicorn(data))
    assert own_s <= 2 * gunicorn_s + 0.002, f"{own_s:.4f} s, gunicorn {gunicorn_s:.4f} s"


def test_cpu_time_of_single_bytes_is_linear() -> None:
    """A line, a head or trailers must not be read again for each received byte."""

    def read(data: bytes) -> None:
        incoming = IncomingRequest(CFG, CLIENT, 0.0)
        assert [incoming.feed(data[place : place + 1]) for place in range(len(data))][-1]

    def request(times: int) -> bytes:
        head = b"POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n" + b"X: y\r\n" * 20 * times + b"\r\n"
        chunk = b"%x;" % (400 * times) + b"a" * 200 * times + b"\r\n" + b"x" * 400 * times + b"\r\n"
        return head + chunk + b"0\r\n" + b"X: y\r\n" * 20 * times + b"\r\n"

    short, long = cpu_s(lambda: read(request(1))), cpu_s(lambda: read(request(4)))
    assert long <= 9 * short  # linear is 4, quadratic 16


@pytest.mark.parametrize(
    ("line", "max_bytes"),
    [
        (b"PUT /v1/lists/lst_1/entries", MAX_UPLOAD_BYTES),
        (b"POST /v1/lists/lst_1/entries?x=1", MAX_UPLOAD_BYTES),
        (b"POST /o/home/lists/lst_1/import", MAX_UPLOAD_BYTES),
        (b"PATCH /v1/lists/lst_1/entries", MAX_BODY_BYTES),
        (b"PUT /v1/lists/lst_1/entries/ent_1", MAX_BODY_BYTES),
        (b"PUT /v1/lists/lst_1", MAX_BODY_BYTES),
        (b"POST /v1/audits?/v1/lists/lst_1/entries", MAX_BODY_BYTES),
    ],
)
def test_only_list_uploads_have_the_larger_limit(line: bytes, max_bytes: int) -> None:
    head = line + b" HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n"
    incoming = IncomingRequest(CFG, CLIENT, 0.0)
    assert incoming.feed(head % max_bytes) is False
    assert incoming.feed(b"x" * (max_bytes - 1)) is False
    assert incoming.upload_bytes == (max_bytes - 1 if max_bytes > MAX_BODY_BYTES else 0)
    assert incoming.feed(b"x") is True
    with pytest.raises(BodyTooLarge) as refused:
        IncomingRequest(CFG, CLIENT, 0.0).feed(head % (max_bytes + 1))
    assert refused.value.max_bytes == max_bytes


def test_longest_waiting_uploads_are_dropped_above_the_total_limit() -> None:
    sizes = {"first": 30, "short": 0, "second": 30, "third": 30}
    incoming = {name: SimpleNamespace(upload_bytes=size * 1024 * 1024) for name, size in sizes.items()}
    worker: Any = SimpleNamespace(_incoming=incoming, _drop=incoming.pop)
    Worker._limit_uploads(worker)
    assert list(incoming) == ["short", "second", "third"]
    Worker._limit_uploads(worker)
    assert len(incoming) == 3
