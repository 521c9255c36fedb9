"""In-process cache for rendered HTML fragments that are slow to render and never change."""

from __future__ import annotations

import threading
import time
import zlib
from collections import OrderedDict
from collections.abc import Callable, Hashable

from django.utils.safestring import SafeString

COMPRESSION_LEVEL = 1  # zlib's fastest level: a fifth of the size, in a hundredth of the rendering time.


class HtmlCache:
    """LRU cache for compressed HTML, of at most `max_bytes`.

    Entries expire after `max_age_s`.

    A key must contain everything that the HTML depends on, including the permissions of its reader. A release starts
    new processes, so their caches are empty.
    """

    def __init__(self, max_bytes: int, max_age_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._max_bytes, self._max_age_s, self._clock = max_bytes, max_age_s, clock
        self._entries: OrderedDict[Hashable, tuple[float, bytes]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], SafeString]) -> SafeString:
        """Return the HTML cached under this key.

        On a cache miss, call `make` and cache its result.
        """
        with self._lock:
            self._drop_expired()
            entry = self._entries.get(key)
            if entry is not None:
                self._entries.move_to_end(key)
        if entry is not None:
            return SafeString(zlib.decompress(entry[1]).decode())
        html = make()
        self._put(key, zlib.compress(html.encode(), COMPRESSION_LEVEL))
        return html

    def _put(self, key: Hashable, compressed: bytes) -> None:
        if len(compressed) > self._max_bytes:
            return
        with self._lock:
            # Another thread may have stored the key in the meantime.
            self._drop(key)
            self._entries[key] = (self._clock() + self._max_age_s, compressed)
            self._bytes += len(compressed)
            while self._bytes > self._max_bytes:
                self._drop(next(iter(self._entries)))

    def _drop_expired(self) -> None:
        now = self._clock()
        for key in [key for key, (expires_at, _) in self._entries.items() if expires_at <= now]:
            self._drop(key)

    def _drop(self, key: Hashable) -> None:
        _, compressed = self._entries.pop(key, (0.0, b""))
        self._bytes -= len(compressed)
