"""Parser of HTTP/1 responses that reads them as browsers do: size limits, framing, bodies that end too early.

Python's own parser refuses more than 100 headers, and loses the order of repeated headers and everything after a
malformed line. This one follows RFC 9112, and browsers where they are more lenient.
"""

from __future__ import annotations

import http.client
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, BinaryIO

from website_scan.net.errors import BadResponse
from website_scan.net.http.response import Headers

READ_BYTES = 64 * 1024
CHUNK_LINE_BYTES = 4 * 1024
# Limit for chunk sizes and trailers, in addition to as many bytes as the body may have.
FRAMING_BYTES = 64 * 1024
# RFC 9112, section 2.2: a few empty lines before the status line are skipped.
MAX_EMPTY_LINES = 4

_STATUS_LINE = re.compile(rb"HTTP/(\d)(?:\.(\d))?[ \t]+(\d{3})(?:[ \t]+(.*))?", re.IGNORECASE | re.DOTALL)
# 18 digits: int() refuses numbers of thousands of digits, and no body is that long.
_LENGTH = re.compile(r"[0-9]{1,18}")
_CHUNK_SIZE = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,16})[ \t]*(?:;.*)?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Head:
    """Status line and headers. `size_bytes` is their size as received, line ends included."""

    status: int
    reason: str
    version: str  # "1.1"
    headers: Headers
    size_bytes: int

    @property
    def keeps_alive(self) -> bool:
        """Return True if the connection may carry another request (RFC 9112, section 9.3)."""
        tokens = _tokens(self.headers.get("Connection"))
        return "close" not in tokens and (self.version > "1.0" or "keep-alive" in tokens)


@dataclass(frozen=True, slots=True)
class Framing:
    """Framing of a body: `length` bytes, chunked, or, without either, until the connection ends."""

    length: int | None = None
    chunked: bool = False


@dataclass(frozen=True, slots=True)
class Body:
    """A body. `is_cut`: there was, or should have been, more. `is_read`: the message was read to its end."""

    content: bytes
    is_cut: bool
    is_read: bool


def read_head(stream: BinaryIO, limit_bytes: int) -> Head:
    """Read the head of the next final response. Skips 1xx responses before it, except 101.

    Raises RemoteDisconnected if nothing comes at all, BadResponse if it is not HTTP or longer than `limit_bytes` in
    total.
    """
    used = 0
    while True:
        head = _read_one_head(stream, used, limit_bytes)
        if not 100 <= head.status < 200 or head.status == 101:
            return head
        used += head.size_bytes


def _read_one_head(stream: BinaryIO, used_bytes: int, limit_bytes: int) -> Head:
    size = 0

    def line() -> bytes:
        nonlocal size
        left = limit_bytes - used_bytes - size
        got = stream.readline(left + 1)
        size += len(got)
        if len(got) > left:
            raise BadResponse(f"The response's headers are larger than {limit_bytes // 1024} KiB.")
        if not got.endswith(b"\n"):
            if size == 0:
                raise http.client.RemoteDisconnected("nothing came")
            raise BadResponse("The response ends within its headers.")
        return got.rstrip(b"\r\n").replace(b"\r", b" ")  # RFC 9112, section 2.2

    for _ in range(MAX_EMPTY_LINES):
        if start := line():
            break
    found = _STATUS_LINE.fullmatch(start)
    if found is None:
        raise BadResponse("What the server answers is not HTTP.")
    major, minor, status, reason = found.groups()
    fields = _read_fields(line)
    return Head(
        status=int(status),
        reason=(reason or b"").strip().decode("latin-1"),
        version=f"{major.decode()}.{(minor or b'0').decode()}",
        headers=Headers(tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in fields)),
        size_bytes=size,
    )


def _read_fields(line: Callable[[], bytes]) -> list[tuple[bytes, bytes]]:
    fields: list[tuple[bytes, bytes]] = []
    while field := line():
        if b"\0" in field:
            raise BadResponse("The response's headers contain a NUL character.")
        if field[:1] in b" \t":
            if fields:  # RFC 9112, section 5.2: a folded line continues the field before
                name, value = fields[-1]
                fields[-1] = (name, value + b" " + field.strip(b" \t"))
            continue
        name, colon, value = field.partition(b":")
        if colon and (name := name.strip(b" \t")):  # skip lines without a name, as browsers do
            fields.append((name, value.strip(b" \t")))
    return fields


def framing(head: Head, method: str) -> Framing:
    """Return the framing of a body (RFC 9112, section 6.3).

    A Content-Length that is not a number is ignored, as in browsers; several different ones raise BadResponse.
    """
    if method == "HEAD" or head.status < 200 or head.status in (204, 304):
        return Framing(length=0)
    if head.version > "1.0" and "chunked" in _tokens(head.headers.get("Transfer-Encoding")):
        return Framing(chunked=True)
    if "Transfer-Encoding" in head.headers:
        return Framing()
    lengths = {each.strip() for each in (head.headers.get("Content-Length") or "").split(",")}
    numbers = {int(each) for each in lengths if _LENGTH.fullmatch(each)}
    if len(numbers) > 1:
        raise BadResponse("The response names several different lengths.")
    return Framing(length=numbers.pop() if numbers else None)


def read_body(stream: BinaryIO, frame: Framing, limit_bytes: int) -> Body:
    """Read the body, at most `limit_bytes`. A body that ends too early is kept as far as it came, as in browsers.

    Raises BadResponse for malformed chunks, and TimeoutError.
    """
    if frame.chunked:
        return _read_chunks(stream, limit_bytes)
    content = bytearray()
    try:
        # One byte over the limit shows that there is more.
        wanted = limit_bytes + 1 if frame.length is None else min(frame.length, limit_bytes)
        while len(content) < wanted and (got := _read_some(stream, wanted - len(content))):
            content += got
    except ConnectionError:
        return Body(bytes(content[:limit_bytes]), is_cut=True, is_read=False)
    if frame.length is None:
        return Body(bytes(content[:limit_bytes]), is_cut=len(content) > limit_bytes, is_read=False)
    is_whole = len(content) == frame.length
    return Body(bytes(content), is_cut=not is_whole, is_read=is_whole)


@dataclass(slots=True)
class _ChunkLines:
    """Reader of the lines around chunks, which may have `left_bytes` together. `read` raises if the stream ends."""

    stream: BinaryIO
    left_bytes: int

    def read(self) -> bytes:
        got = self.stream.readline(CHUNK_LINE_BYTES)
        self.left_bytes -= len(got)
        if self.left_bytes < 0:
            raise BadResponse("The response's chunks are more framing than content.")
        if not got:
            raise ConnectionResetError
        return got


def _read_chunks(stream: BinaryIO, limit_bytes: int) -> Body:
    content = bytearray()
    lines = _ChunkLines(stream, limit_bytes + FRAMING_BYTES)
    try:
        while True:
            found = _CHUNK_SIZE.fullmatch(lines.read().rstrip(b"\r\n"))
            if found is None:
                raise BadResponse("The response's chunks can't be understood.")
            left = int(found[1], 16)
            if not left:
                while lines.read().strip(b"\r\n"):
                    pass  # trailers
                return Body(bytes(content), is_cut=False, is_read=True)
            while left:
                if len(content) == limit_bytes:
                    return Body(bytes(content), is_cut=True, is_read=False)
                got = _read_some(stream, min(left, limit_bytes - len(content)))
                if not got:
                    raise ConnectionResetError
                content += got
                left -= len(got)
            if lines.read().strip(b"\r\n"):
                raise BadResponse("The response's chunks are longer than they say.")
    except ConnectionError:
        return Body(bytes(content), is_cut=True, is_read=False)


def _read_some(stream: BinaryIO, most: int) -> bytes:
    # Buffered readers have read1. With read, data received before an early end would be lost.
    read: bytes = stream.read1(min(most, READ_BYTES))  # type: ignore[attr-defined]  # not in BinaryIO
    return read


def _tokens(value: str | None) -> set[str]:
    return {each.strip().lower() for each in (value or "").split(",")}


class LenientResponse(http.client.HTTPResponse):
    """The response class for `http.client`: reads the head by the rules above; `read_body` reads the body.

    The libraries in between see the framing only, so they can't interpret the message differently.
    """

    head: Head
    frame: Framing
    connection: Any  # that carries it

    def __init__(self, header_limit_bytes: int, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._header_limit_bytes = header_limit_bytes

    def begin(self, *_: object, **__: object) -> None:
        self.head = head = read_head(self.fp, self._header_limit_bytes)
        self.frame = frame = framing(head, self._method or "GET")  # type: ignore[attr-defined]  # set by http.client
        self.code = self.status = head.status
        self.reason = head.reason
        self.version = 10 if head.version <= "1.0" else 11
        self.headers = self.msg = http.client.HTTPMessage()
        self.chunked, self.chunk_left = frame.chunked, None
        self.length = frame.length
        is_endless = frame.length is None and not frame.chunked
        self.will_close = is_endless or head.status == 101 or not head.keeps_alive
