"""Lenient parser of HTTP/1 responses with size limits.

It accepts what browsers accept. Python's own parser refuses more than 100 headers, and loses the order of repeated
headers and everything after a malformed line. This one follows RFC 9112, and browsers where they are more lenient.
"""

from __future__ import annotations

import http.client
import re
from collections.abc import Callable
from typing import Any, BinaryIO

from msgspec import Struct

from website_scan.net.errors import BadResponse, Http2Only
from website_scan.net.http.response import Headers

READ_CHUNK_BYTES = 64 * 1024
MAX_CHUNK_LINE_BYTES = 4 * 1024
# Limit for chunk sizes and trailers, in addition to the limit for the body.
MAX_FRAMING_BYTES = 64 * 1024
# A few empty lines before the status line are skipped (RFC 9112, section 2.2).
MAX_EMPTY_LINES = 4

_STATUS_LINE = re.compile(rb"HTTP/(\d)(?:\.(\d))?[ \t]+(\d{3})(?:[ \t]+(.*))?", re.IGNORECASE | re.DOTALL)
# Lengths have at most 18 digits, because int() refuses thousands of them.
_LENGTH = re.compile(r"[0-9]{1,18}")
_CHUNK_SIZE = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,16})[ \t]*(?:;.*)?", re.DOTALL)
# First frame of an HTTP/2 server (RFC 9113, sections 3.4 and 4.1).
_HTTP_2_FRAME = re.compile(rb"\0..(?:\x04[\0\x01]|\x07\0)\0{4}", re.DOTALL)


class Head(Struct, frozen=True):
    """Status line and headers of a response.

    `size_bytes` is their size as received.
    """

    status: int
    reason: str
    version: str  # HTTP version, such as "1.1".
    headers: Headers
    size_bytes: int

    @property
    def keeps_connection_alive(self) -> bool:
        """Return True if the connection may be reused for another request.

        RFC 9112, section 9.3.
        """
        tokens = _split_tokens(self.headers.get("Connection"))
        return "close" not in tokens and (self.version > "1.0" or "keep-alive" in tokens)


class Framing(Struct, frozen=True):
    """How the body of a response ends.

    It ends after a fixed length, after its last chunk, or with the connection.
    """

    length: int | None = None
    chunked: bool = False


class Body(Struct, frozen=True):
    """Body of a response.

    `is_cut` is True if the body was truncated, `is_message_complete` if the whole message was read.
    """

    content: bytes
    is_cut: bool
    is_message_complete: bool


def read_head(stream: BinaryIO, limit_bytes: int) -> Head:
    """Read the head of the next response.

    Skips interim responses (1xx) except 101. Raises RemoteDisconnected if nothing comes at all, BadResponse if it is
    not HTTP or longer than `limit_bytes` in total.
    """
    used = 0
    while True:
        head = _read_one_head(stream, used, limit_bytes)
        if not 100 <= head.status < 200 or head.status == 101:
            return head
        used += head.size_bytes


def _read_one_head(stream: BinaryIO, used_bytes: int, limit_bytes: int) -> Head:
    size = 0
    first_byte = stream.read(1)
    if first_byte == b"\0":
        is_http_2 = _HTTP_2_FRAME.match(first_byte + stream.read(8)) is not None
        raise Http2Only if is_http_2 else BadResponse("What the server answers is not HTTP.")

    def read_line() -> bytes:
        nonlocal size, first_byte
        remaining = limit_bytes - used_bytes - size
        begun, first_byte = first_byte, b""
        data = begun if begun == b"\n" else begun + stream.readline(remaining + 1 - len(begun))
        size += len(data)
        if len(data) > remaining:
            raise BadResponse(f"The response's headers are larger than {limit_bytes // 1024} KiB.")
        if not data.endswith(b"\n"):
            if size == 0:
                raise http.client.RemoteDisconnected("nothing came")
            raise BadResponse("The response ends within its headers.")
        return data.rstrip(b"\r\n").replace(b"\r", b" ")  # A bare CR becomes a space (RFC 9112, section 2.2).

    for _ in range(MAX_EMPTY_LINES):
        if start := read_line():
            break
    status_line = _STATUS_LINE.fullmatch(start)
    if status_line is None:
        raise BadResponse("What the server answers is not HTTP.")
    major, minor, status, reason = status_line.groups()
    fields = _read_fields(read_line)
    return Head(
        status=int(status),
        reason=(reason or b"").strip().decode("latin-1"),
        version=f"{major.decode()}.{(minor or b'0').decode()}",
        headers=Headers(tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in fields)),
        size_bytes=size,
    )


def _read_fields(read_line: Callable[[], bytes]) -> list[tuple[bytes, bytes]]:
    fields: list[tuple[bytes, bytes]] = []
    while field := read_line():
        if b"\0" in field:
            raise BadResponse("The response's headers contain a NUL character.")
        if field[:1] in b" \t":
            if fields:  # A folded line continues the previous field (RFC 9112, section 5.2).
                name, value = fields[-1]
                fields[-1] = (name, value + b" " + field.strip(b" \t"))
            continue
        name, colon, value = field.partition(b":")
        if colon and (name := name.strip(b" \t")):  # Lines without a name are skipped, as in browsers.
            fields.append((name, value.strip(b" \t")))
    return fields


def body_framing(head: Head, method: str) -> Framing:
    """Return the framing of a body (RFC 9112, section 6.3).

    A Content-Length that is not a number is ignored, as in browsers. Several different lengths raise BadResponse.
    """
    if method == "HEAD" or head.status < 200 or head.status in (204, 304):
        return Framing(length=0)
    if head.version > "1.0" and "chunked" in _split_tokens(head.headers.get("Transfer-Encoding")):
        return Framing(chunked=True)
    if "Transfer-Encoding" in head.headers:
        return Framing()
    lengths = {length.strip() for length in (head.headers.get("Content-Length") or "").split(",")}
    numbers = {int(length) for length in lengths if _LENGTH.fullmatch(length)}
    if len(numbers) > 1:
        raise BadResponse("The response names several different lengths.")
    return Framing(length=numbers.pop() if numbers else None)


def read_body(stream: BinaryIO, frame: Framing, limit_bytes: int) -> Body:
    """Read at most `limit_bytes` of a body.

    A body that ends too early is returned incomplete, as in browsers. Raises BadResponse for malformed chunks, and
    TimeoutError.
    """
    if frame.chunked:
        return _read_chunks(stream, limit_bytes)
    content = bytearray()
    try:
        # One byte more than the limit shows whether the body exceeds the limit.
        max_bytes = limit_bytes + 1 if frame.length is None else min(frame.length, limit_bytes)
        while len(content) < max_bytes and (data := _read_available(stream, max_bytes - len(content))):
            content += data
    except ConnectionError:
        return Body(bytes(content[:limit_bytes]), is_cut=True, is_message_complete=False)
    if frame.length is None:
        return Body(bytes(content[:limit_bytes]), is_cut=len(content) > limit_bytes, is_message_complete=False)
    is_whole = len(content) == frame.length
    return Body(bytes(content), is_cut=not is_whole, is_message_complete=is_whole)


class _ChunkLines(Struct):
    """Reader of chunk size lines and trailers.

    Their total limit is `remaining_bytes`.
    """

    stream: BinaryIO
    remaining_bytes: int

    def read(self) -> bytes:
        data = self.stream.readline(MAX_CHUNK_LINE_BYTES)
        self.remaining_bytes -= len(data)
        if self.remaining_bytes < 0:
            raise BadResponse("The response's chunks are more framing than content.")
        if not data:
            raise ConnectionResetError
        return data


def _read_chunks(stream: BinaryIO, limit_bytes: int) -> Body:
    content = bytearray()
    lines = _ChunkLines(stream, limit_bytes + MAX_FRAMING_BYTES)
    try:
        while True:
            chunk_size = _CHUNK_SIZE.fullmatch(lines.read().rstrip(b"\r\n"))
            if chunk_size is None:
                raise BadResponse("The response's chunks can't be understood.")
            remaining = int(chunk_size[1], 16)
            if not remaining:
                while lines.read().strip(b"\r\n"):
                    pass  # Trailers are ignored.
                return Body(bytes(content), is_cut=False, is_message_complete=True)
            while remaining:
                if len(content) == limit_bytes:
                    return Body(bytes(content), is_cut=True, is_message_complete=False)
                data = _read_available(stream, min(remaining, limit_bytes - len(content)))
                if not data:
                    raise ConnectionResetError
                content += data
                remaining -= len(data)
            if lines.read().strip(b"\r\n"):
                raise BadResponse("The response's chunks are longer than declared.")
    except ConnectionError:
        return Body(bytes(content), is_cut=True, is_message_complete=False)


def _read_available(stream: BinaryIO, max_bytes: int) -> bytes:
    # Unlike read, read1 returns the data that was received before an early end.
    read: bytes = stream.read1(min(max_bytes, READ_CHUNK_BYTES))  # type: ignore[attr-defined]  # not in BinaryIO
    return read


def _split_tokens(value: str | None) -> set[str]:
    return {token.strip().lower() for token in (value or "").split(",")}


class LenientResponse(http.client.HTTPResponse):
    """Response class for `http.client` with a lenient parser of the head.

    `read_body` reads the body. http.client and urllib3 get only the framing, so that they can't interpret the message
    differently.
    """

    head: Head
    frame: Framing
    connection: Any  # Connection on which the response was received.

    def __init__(self, header_limit_bytes: int, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._header_limit_bytes = header_limit_bytes

    def begin(self, *_: object, **__: object) -> None:
        self.head = head = read_head(self.fp, self._header_limit_bytes)
        self.frame = frame = body_framing(head, self._method or "GET")  # type: ignore[attr-defined]  # set by http.client
        self.code = self.status = head.status
        self.reason = head.reason
        self.version = 10 if head.version <= "1.0" else 11
        self.headers = self.msg = http.client.HTTPMessage()
        self.chunked, self.chunk_left = frame.chunked, None
        self.length = frame.length
        ends_with_connection = frame.length is None and not frame.chunked
        self.will_close = ends_with_connection or head.status == 101 or not head.keeps_connection_alive
