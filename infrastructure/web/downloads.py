"""Streaming downloads, with a time limit for slow clients."""

from __future__ import annotations

import errno
import time
from collections.abc import Callable, Iterator

# A slow client occupies a thread of the web server for at most this time.
TIME_LIMIT_S = 120.0


def within_time_limit(
    pieces: Iterator[bytes], clock: Callable[[], float] = time.monotonic, limit_s: float = TIME_LIMIT_S
) -> Iterator[bytes]:
    """Yield the pieces of a download. Raises ConnectionResetError if the client is still reading after `limit_s`."""
    deadline = clock() + limit_s
    for piece in pieces:
        if clock() > deadline:
            raise ConnectionResetError(errno.ECONNRESET, "the client takes the file too slowly")
        yield piece
