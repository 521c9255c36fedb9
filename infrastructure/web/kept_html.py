"""In-process cache of rendered HTML, for fragments that are slow to render and do not change."""

from __future__ import annotations

import threading
import time
import zlib
from collections import OrderedDict
from collections.abc import Callable, Hashable

from django.utils.safestring import SafeString

QUICK = 1  # zlib's level: a fifth of the size, in a hundredth of the time that rendering takes


class KeptHtml:
    """LRU cache of at most `max_bytes` of compressed HTML, each entry for `max_age_s`.

    A key must contain all that the HTML depends on, including what its reader may see. A release needs no
    invalidation, because it starts new processes.
    """

    def __init__(self, max_bytes: int, max_age_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._max_bytes, self._max_age_s, self._clock = max_bytes, max_age_s, clock
        self._kept: OrderedDict[Hashable, tuple[float, bytes]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], SafeString]) -> SafeString:
        """Return the HTML of this key; call `make` if it is not in the cache."""
        with self._lock:
            self._forget()
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
        if found is not None:
            return SafeString(zlib.decompress(found[1]).decode())
        made = make()
        self._put(key, zlib.compress(made.encode(), QUICK))
        return made

    def _put(self, key: Hashable, packed: bytes) -> None:
        if len(packed) > self._max_bytes:
            return
        with self._lock:
            # Another thread may have stored the key meanwhile.
            self._drop(key)
            self._kept[key] = (self._clock() + self._max_age_s, packed)
            self._bytes += len(packed)
            while self._bytes > self._max_bytes:
                self._drop(next(iter(self._kept)))

    def _forget(self) -> None:
        """Drop expired entries."""
        now = self._clock()
        for key in [key for key, (until, _) in self._kept.items() if until <= now]:
            self._drop(key)

    def _drop(self, key: Hashable) -> None:
        _, packed = self._kept.pop(key, (0.0, b""))
        self._bytes -= len(packed)
