"""Request that a web process receives: its head and its body, in pieces of any size, within limits."""

from __future__ import annotations

import io
import re
import time
from typing import Any

from gunicorn.http.body import CHUNK_EXT_RE, ChunkedReader
from gunicorn.http.errors import ChunkMissingTerminator, InvalidChunkSize, LimitRequestHeaders
from gunicorn.http.message import Request
from gunicorn.http.unreader import IterUnreader

BODY_S = 20.0  # from the end of the head to the end of the body
MAX_HEAD_BYTES = 64 * 1024
MAX_BODY_BYTES = 1024 * 1024
# Of requests that bring all sites of a list.
UPLOAD_PATH = re.compile(r"/(?:v1|o/[^/]+)/lists/[^/]+/(?:entries|import)")
MAX_UPLOAD_BYTES = 16 * 1024 * 1024
CHUNK_LINE = re.compile(rb"([0-9a-fA-F]+)(?:" + CHUNK_EXT_RE.pattern + rb")\r\n")
MAX_CHUNK_LINE_BYTES = 1024
MAX_TRAILERS_BYTES = 8 * 1024


class TooLarge(Exception):
    """The body is longer than `most` bytes."""

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self.most = most


class Incoming:
    """Request that is being received, in pieces of any size.

    gunicorn's parser judges its head and says how the body is framed. Nobody looks for the request's end again: when it
    is complete, `request` has the whole body in memory, and `rest` is what came after it.
    """

    def __init__(self, cfg: Any, client: Any, deadline: float) -> None:
        self.deadline = deadline
        self.request: Any = None  # from the end of the head on
        self.expects_continue = False
        self.rest = b""
        self._cfg = cfg
        self._client = client
        self._data = bytearray()  # of the head, then of the body
        self._needed = 0  # bytes of the body without which it cannot be complete
        self._chunk = 0  # position of the next chunk
        self._body = bytearray()  # what the chunks before it hold
        self._most = MAX_BODY_BYTES

    @property
    def has_begun(self) -> bool:
        return self.request is not None or bool(self._data)

    @property
    def upload_bytes(self) -> int:
        """Return the number of bytes received, if there are more than other requests may have."""
        received = len(self._data) + len(self._body)
        return received if received > MAX_BODY_BYTES else 0

    def feed(self, data: bytes) -> bool:
        """Add bytes. Returns True when the request is complete. Raises ParseException or TooLarge."""
        searched = max(0, len(self._data) - 3)
        self._data += data
        if self.request is None:
            end = self._data.find(b"\r\n\r\n", searched, MAX_HEAD_BYTES)
            if end < 0:
                if len(self._data) < MAX_HEAD_BYTES:
                    return False
                raise LimitRequestHeaders("the head is too long")
            self._read_head(end + 4)
        if len(self._data) < self._needed:
            return False
        reader = self.request.body.reader
        return self._read_chunks() if isinstance(reader, ChunkedReader) else self._read_bytes(reader.length)

    def _read_head(self, end: int) -> None:
        self.request = Request(self._cfg, IterUnreader([bytes(self._data[:end])]), self._client)
        del self._data[:end]
        if self.request.method in ("POST", "PUT") and UPLOAD_PATH.fullmatch(self.request.path):
            self._most = MAX_UPLOAD_BYTES
        self.deadline = time.monotonic() + BODY_S
        # The loop asks for the body. A thread would have to ask, too, if gunicorn still saw this.
        self.expects_continue = self.request._expected_100_continue  # noqa: SLF001 -- gunicorn has no public name
        self.request._expected_100_continue = False  # noqa: SLF001 -- gunicorn has no public name

    def _read_bytes(self, length: int) -> bool:
        if length > self._most:
            raise TooLarge(self._most)
        if len(self._data) < length:
            self._needed = length
            return False
        self._complete(self._data[:length], length)
        return True

    def _read_chunks(self) -> bool:
        """Decode the chunks that are there (RFC 9112, section 7.1). Their framing counts as body, too.

        Reads each byte once, however the body is cut: a reader that copies the rest for each chunk is quadratic.
        """
        while True:
            newline = self._data.find(b"\n", self._chunk, self._chunk + MAX_CHUNK_LINE_BYTES)
            if newline < 0 and len(self._data) - self._chunk < MAX_CHUNK_LINE_BYTES:
                return False
            line = CHUNK_LINE.match(self._data, self._chunk, newline + 1)
            if line is None:
                raise InvalidChunkSize(bytes(self._data[self._chunk : self._chunk + 20]))
            if (size := int(line[1], 16)) == 0:
                return self._read_trailers(newline - 1)
            begin, end = newline + 1, newline + 1 + size
            if end > self._most:
                raise TooLarge(self._most)
            if len(self._data) < end + 2:
                self._needed = end + 2
                return False
            if self._data[end : end + 2] != b"\r\n":
                raise ChunkMissingTerminator(bytes(self._data[end : end + 2]))
            self._body += self._data[begin:end]
            self._chunk = end + 2

    def _read_trailers(self, start: int) -> bool:
        end = self._data.find(b"\r\n\r\n", start, start + MAX_TRAILERS_BYTES)
        if end < 0:
            if len(self._data) - start < MAX_TRAILERS_BYTES:
                return False
            raise LimitRequestHeaders("the trailers are too long")
        if end > start:
            self.request.parse_headers(bytes(self._data[start + 2 : end]), from_trailer=True)
        headers = [each for each in self.request.headers if each[0] != "TRANSFER-ENCODING"]
        self.request.headers = [*headers, ("CONTENT-LENGTH", str(len(self._body)))]
        self._complete(self._body, end + 4)
        return True

    def _complete(self, body: bytearray, end: int) -> None:
        self.request.body = io.BytesIO(body)
        self.rest = bytes(self._data[end:])
