"""Cache of responses within a scan: several probes read the same files, and pages of a site share them.

This is no HTTP cache: a site's caching headers are meant for browsers. Here an answer is kept for minutes, for the
checks, and only if it is final: not an error that may pass, a refusal, or a request to try again later.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto
from urllib.parse import urlsplit

from scanner.net.errors import TimedOut
from scanner.net.http.response import Response

KEPT_BYTES = 16 * 1024 * 1024
KEPT_S = 300.0
# Limit for one answer; a longer one would displace everything else.
LONGEST_BYTES = KEPT_BYTES // 4
HEAD_BYTES = 1024  # about the size of an answer without its body
# Size of the beginning of a page requested anew: enough for requests that only test if it exists.
BEGINNING_BYTES = 16 * 1024
# Error statuses that are final. A refusal may be lifted, and a failing server may come back.
FINAL_ERRORS = frozenset({404, 410})
CURRENT_TLS = frozenset({"TLSv1.2", "TLSv1.3"})

Key = tuple[str, bool, frozenset[tuple[str, str]]]


class Reuse(Enum):
    """Use of the cache of answers by a request."""

    NEVER = auto()
    FOR_OTHERS = auto()  # always requested; only the beginning of the answer is kept for others
    ALLOWED = auto()


@dataclass(frozen=True, slots=True)
class Wish:
    """Requirements of a request: how much of the body, and whether the certificate must be trusted."""

    max_bytes: int
    verify: bool


@dataclass(frozen=True, slots=True)
class _Kept:
    response: Response
    ends_at: float

    @property
    def size_bytes(self) -> int:
        return len(self.response.body) + HEAD_BYTES


def key_of(url: str, headers: Mapping[str, str], *, decode: bool) -> Key:
    """Return the cache key of a request. Of a Referer, only the origin counts."""
    sent = {"accept": "*/*"} | {name.lower(): value for name, value in headers.items()}
    if referer := sent.get("referer"):
        parts = urlsplit(referer)
        sent["referer"] = f"{parts.scheme}://{parts.netloc}"
    return (url, decode, frozenset(sent.items()))


class Answers:
    """Cache of answers for one visit, or for all visits of an audit. Thread-safe; `clock` returns seconds."""

    def __init__(
        self, limit_bytes: int = KEPT_BYTES, lifetime_s: float = KEPT_S, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._limit_bytes = limit_bytes
        self._lifetime_s = lifetime_s
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: OrderedDict[Key, _Kept] = OrderedDict()
        self._under_way: dict[Key, threading.Event] = {}
        self.held_bytes = 0

    def answer(self, key: Key, wish: Wish, ask: Callable[[], Response], wait_s: float) -> Response:
        """Return the cached answer, else call `ask` and cache its response. Passes on exceptions of `ask`.

        If another thread is already requesting the same, wait for its response. Raises TimedOut after `wait_s`.
        """
        with self._lock:
            if (found := self._find(key, wish)) is not None:
                return found
            under_way = self._under_way.get(key)
            if under_way is None:
                mine = self._under_way[key] = threading.Event()
        if under_way is not None:
            if not under_way.wait(wait_s):
                self._end(key, under_way)  # the thread that began it may have been ended at any step
                raise TimedOut("The site did not answer in time.")
            with self._lock:
                if (found := self._find(key, wish)) is not None:
                    return found
            response = ask()  # the other thread failed, or read too little
            self.keep(key, response)
            return response
        try:
            response = ask()
            self.keep(key, response)
            return response
        finally:
            self._end(key, mine)

    def _end(self, key: Key, asking: threading.Event) -> None:
        with self._lock:
            if self._under_way.get(key) is asking:
                del self._under_way[key]
        asking.set()

    def keep(self, key: Key, response: Response) -> None:
        """Keep a final answer for later requests with the same key."""
        is_final = response.status < 400 or response.status in FINAL_ERRORS
        if not is_final or len(response.body) > min(LONGEST_BYTES, self._limit_bytes - HEAD_BYTES):
            return
        kept = _Kept(response, self._clock() + self._lifetime_s)
        with self._lock:
            self._drop(key)
            self._kept[key] = kept
            self.held_bytes += kept.size_bytes
            while self.held_bytes > self._limit_bytes:
                self._drop(next(iter(self._kept)))

    def keep_beginning(self, key: Key, response: Response) -> None:
        """Keep the beginning of an answer, for requests that only test what is there."""
        if len(response.body) > BEGINNING_BYTES:
            response = replace(response, body=response.body[:BEGINNING_BYTES], truncated=True)
        self.keep(key, response)

    def _find(self, key: Key, wish: Wish) -> Response | None:
        kept = self._kept.get(key)
        if kept is None:
            return None
        if self._clock() >= kept.ends_at:
            self._drop(key)
            return None
        response = kept.response
        if response.truncated and len(response.body) < wish.max_bytes:
            return None
        if wish.verify and not _is_trusted(response):
            return None
        self._kept.move_to_end(key)
        if len(response.body) > wish.max_bytes:
            return replace(response, body=response.body[: wish.max_bytes], truncated=True)
        return response

    def _drop(self, key: Key) -> None:
        if (kept := self._kept.pop(key, None)) is not None:
            self.held_bytes -= kept.size_bytes


def _is_trusted(response: Response) -> bool:
    """Return True if the answer was received with a trusted certificate and current TLS, or without TLS."""
    return response.tls is None or (response.tls.trust_error is None and response.tls.version in CURRENT_TLS)
