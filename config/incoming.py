"""Parser for an HTTP request that arrives in pieces of any size.

It limits size and time.
"""

from __future__ import annotations

import io
import re
import time
from typing import Any

from gunicorn.http.body import CHUNK_EXT_RE, ChunkedReader
from gunicorn.http.errors import ChunkMissingTerminator, InvalidChunkSize, LimitRequestHeaders
from gunicorn.http.message import Request
from gunicorn.http.unreader import IterUnreader
from msgspec import Struct

BODY_S = 20.0  # Maximum seconds from the end of the head to the end of the body.
MAX_HEAD_BYTES = 64 * 1024
# Limit for bodies of clients that `config.admission` has not admitted.
MAX_BODY_BYTES = 64 * 1024
# Decoded chunks are deleted from the receive buffer when their total length reaches this limit.
COMPACTED_BYTES = 64 * 1024
CHUNK_LINE = re.compile(rb"([0-9a-fA-F]+)(?:" + CHUNK_EXT_RE.pattern + rb")\r\n")
MAX_CHUNK_LINE_BYTES = 1024
MAX_TRAILERS_BYTES = 8 * 1024


class Admission(Struct, frozen=True):
    """Permission for an organization or a person to send a body of up to `max_bytes`."""

    owner: str
    max_bytes: int


class RefusedBody(Struct, frozen=True):
    """Response to a request whose body is not read."""

    status: str
    headers: dict[str, str]
    body: bytes


class BodyTooLarge(Exception):
    """Raised for a request whose body is longer than `max_bytes`."""

    def __init__(self, max_bytes: int) -> None:
        super().__init__(max_bytes)
        self.max_bytes = max_bytes


class IncomingRequest:
    """A request that arrives in pieces of any size.

    gunicorn's parser validates the head and determines the framing of the body. When the request is complete, `request`
    has the whole body in memory, and `rest` contains the bytes after the request.
    """

    def __init__(self, cfg: Any, client: Any, deadline: float) -> None:
        self.deadline = deadline
        self.request: Any = None  # The request is None until the head is complete.
        self.expects_continue = False
        self.rest = b""
        self.owner: str | None = None  # The client that was admitted to send a long body; None for all other clients.
        self.max_body_bytes = MAX_BODY_BYTES
        self._cfg = cfg
        self._client = client
        self._data = bytearray()  # The buffer contains received bytes: first of the head, then of the body.
        self._needed = 0  # The next step needs at least this many bytes in `_data`.
        self._chunk = 0  # The next chunk begins at this position in `_data`.
        self._deleted = 0  # Length of the deleted chunks that preceded `_data`, including their framing.
        self._body = bytearray()  # The buffer contains the decoded chunks without framing.
        self._complete_bytes = 0  # The complete body has this length.

    @property
    def has_begun(self) -> bool:
        return self.request is not None or bool(self._data)

    @property
    def size(self) -> int:
        """Return how many bytes are in memory."""
        return len(self._data) + len(self._body) + self._complete_bytes

    def feed(self, data: bytes) -> bool:
        """Add received bytes. Returns True if the request is complete.

        Raises ParseException, or BodyTooLarge if the body is longer than `max_body_bytes`. After BodyTooLarge, the
        caller may set a larger limit and continue with `feed(b"")`.
        """
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
        self.deadline = time.monotonic() + BODY_S
        # The main loop sends 100 Continue. Without the attribute, gunicorn does not send it again in a thread.
        self.expects_continue = self.request._expected_100_continue  # noqa: SLF001 -- gunicorn has no public name
        self.request._expected_100_continue = False  # noqa: SLF001 -- gunicorn has no public name

    def _read_bytes(self, length: int) -> bool:
        if length > self.max_body_bytes:
            raise BodyTooLarge(self.max_body_bytes)
        if len(self._data) < length:
            self._needed = length
            return False
        self._complete(self._data[:length], length)
        return True

    def _read_chunks(self) -> bool:
        """Decode the chunks received so far (RFC 9112, section 7.1).

        The limit includes the framing of the chunks.

        Each byte is read once, whatever the chunk sizes; copying the remaining bytes for each chunk would be quadratic.
        """
        while True:
            if self._chunk > COMPACTED_BYTES:
                self._delete_decoded()
            newline = self._data.find(b"\n", self._chunk, self._chunk + MAX_CHUNK_LINE_BYTES)
            if newline < 0 and len(self._data) - self._chunk < MAX_CHUNK_LINE_BYTES:
                return False
            line = CHUNK_LINE.match(self._data, self._chunk, newline + 1)
            if line is None:
                raise InvalidChunkSize(bytes(self._data[self._chunk : self._chunk + 20]))
            if (size := int(line[1], 16)) == 0:
                return self._read_trailers(newline - 1)
            begin, end = newline + 1, newline + 1 + size
            if self._deleted + end > self.max_body_bytes:
                raise BodyTooLarge(self.max_body_bytes)
            if len(self._data) < end + 2:
                self._needed = end + 2
                return False
            if self._data[end : end + 2] != b"\r\n":
                raise ChunkMissingTerminator(bytes(self._data[end : end + 2]))
            self._body += self._data[begin:end]
            self._chunk = end + 2

    def _delete_decoded(self) -> None:
        del self._data[: self._chunk]
        self._deleted += self._chunk
        self._chunk = self._needed = 0

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
        self._data, self._body = bytearray(), bytearray()
        self._complete_bytes = len(body)
