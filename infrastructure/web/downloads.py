"""Files that are written while they are sent."""

from __future__ import annotations

import errno
import time
from collections.abc import Callable, Iterator

# Who takes no more than a little at a time has a thread for so long, and no longer.
TIME_LIMIT_S = 120.0


def in_time(
    pieces: Iterator[bytes], clock: Callable[[], float] = time.monotonic, limit_s: float = TIME_LIMIT_S
) -> Iterator[bytes]:
    """The same pieces; raises ConnectionResetError between two when the client has not taken them in time."""
    deadline = clock() + limit_s
    for piece in pieces:
        if clock() > deadline:
            raise ConnectionResetError(errno.ECONNRESET, "the client takes the file too slowly")
        yield piece
