"""Parser of an HTTP request that arrives in pieces of any size, with limits of size and time."""

from __future__ import annotations

import io
import re
import time
from typing import Any

from gunicorn.http.body import CHUNK_EXT_RE, ChunkedReader
from gunicorn.http.errors import ChunkMissingTerminator, InvalidChunkSize, LimitRequestHeaders
from gunicorn.http.message import Request
from gunicorn.http.unreader import IterUnreader

BODY_S = 20.0  # seconds from the end of the head to the end of the body
MAX_HEAD_BYTES = 64 * 1024
MAX_BODY_BYTES = 1024 * 1024
# Larger limit for uploads of list entries, by path.
UPLOAD_PATH = re.compile(r"/(?:v1|o/[^/]+)/lists/[^/]+/(?:entries|import)")
MAX_UPLOAD_BYTES = 16 * 1024 * 1024
CHUNK_LINE = re.compile(rb"([0-9a-fA-F]+)(?:" + CHUNK_EXT_RE.pattern + rb")\r\n")
MAX_CHUNK_LINE_BYTES = 1024
MAX_TRAILERS_BYTES = 8 * 1024


class BodyTooLarge(Exception):
    """Exception for a request whose body is longer than `max_bytes`."""

    def __init__(self, max_bytes: int) -> None:
        super().__init__(max_bytes)
        self.max_bytes = max_bytes


class IncomingRequest:
    """Request that is being received, in pieces of any size.

    gunicorn's parser validates the head and determines the framing of the body. When the request is complete, `request`
    has the whole body in memory, and `rest` contains the bytes after the request.
    """

    def __init__(self, cfg: Any, client: Any, deadline: float) -> None:
        self.deadline = deadline
        self.request: Any = None  # None until the head is complete
        self.expects_continue = False
        self.rest = b""
        self._cfg = cfg
        self._client = client
        self._data = bytearray()  # received bytes of the head, afterwards of the body
        self._needed = 0  # minimum length of `_data` at which the next step can succeed
        self._chunk = 0  # position of the next chunk in `_data`
        self._body = bytearray()  # content of the chunks before `_chunk`
        self._max_body_bytes = MAX_BODY_BYTES

    @property
    def has_begun(self) -> bool:
        return self.request is not None or bool(self._data)

    @property
    def upload_bytes(self) -> int:
        """Return the number of received bytes if they exceed the limit of ordinary requests, otherwise 0."""
        received = len(self._data) + len(self._body)
        return received if received > MAX_BODY_BYTES else 0

    def feed(self, data: bytes) -> bool:
        """Add received bytes. Returns True if the request is complete. Raises ParseException or BodyTooLarge."""
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
            self._max_body_bytes = MAX_UPLOAD_BYTES
        self.deadline = time.monotonic() + BODY_S
        # The main loop sends 100 Continue. Without the attribute, gunicorn does not send it again in a thread.
        self.expects_continue = self.request._expected_100_continue  # noqa: SLF001 -- gunicorn has no public name
        self.request._expected_100_continue = False  # noqa: SLF001 -- gunicorn has no public name

    def _read_bytes(self, length: int) -> bool:
        if length > self._max_body_bytes:
            raise BodyTooLarge(self._max_body_bytes)
        if len(self._data) < length:
            self._needed = length
            return False
        self._complete(self._data[:length], length)
        return True

    def _read_chunks(self) -> bool:
        """Decode the chunks received so far (RFC 9112, section 7.1). The limit includes the framing of the chunks.

        Each byte is read once, whatever the chunk sizes; copying the remaining bytes for each chunk would be quadratic.
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
            if end > self._max_body_bytes:
                raise BodyTooLarge(self._max_body_bytes)
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
        headers = [(name, value) for name, value in self.request.headers if name != "TRANSFER-ENCODING"]
        self.request.headers = [*headers, ("CONTENT-LENGTH", str(len(self._body)))]
        self._complete(self._body, end + 4)
        return True

    def _complete(self, body: bytearray, end: int) -> None:
        self.request.body = io.BytesIO(body)
        self.rest = bytes(self._data[end:])
