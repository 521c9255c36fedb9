"""Cache of responses within a scan: several probes read the same files, and pages of a site share them.

This is no HTTP cache: a site's caching headers are meant for browsers. Here an answer is kept for minutes, for the
checks, and only if it is final: not an error that may pass, a refusal, or a request to try again later.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from website_scan.net.errors import TimedOut
from website_scan.net.http.request import Request
from website_scan.net.http.response import Response
from website_scan.urls import origin_of

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


@dataclass(frozen=True, slots=True)
class Wish:
    """Requirements of a request: how much of the body, and whether the certificate must be trusted.

    The answer to a private one, which has credentials, is not shared with other processes.
    """

    max_bytes: int
    verify: bool
    is_private: bool = False


class SharedAnswers(Protocol):
    """Store of answers that the processes of an audit share. Thread-safe; its methods raise nothing."""

    def find(self, key: Key) -> tuple[Response, float] | None:
        """Return an answer and its age in seconds; None if there is none."""
        ...

    def keep(self, key: Key, response: Response) -> None:
        """Keep an answer for other processes."""
        ...


@dataclass(frozen=True, slots=True)
class _Kept:
    response: Response
    ends_at: float

    @property
    def size_bytes(self) -> int:
        return len(self.response.body) + HEAD_BYTES


def key_of(request: Request) -> Key:
    """Return the cache key of a request with all its headers. Of a Referer, only the origin counts."""
    sent = {"accept": "*/*"} | {name.lower(): value for name, value in request.headers.items()}
    if referer := sent.get("referer"):
        sent["referer"] = origin_of(referer)
    return (request.target.url, request.decode, frozenset(sent.items()))


class Answers:
    """Cache of answers for one visit, or for all visits of an audit. Thread-safe; `clock` returns seconds.

    With `shared` it is an audit's: other processes have its answers, too, and its visits use each other's.
    """

    def __init__(
        self,
        limit_bytes: int = KEPT_BYTES,
        lifetime_s: float = KEPT_S,
        clock: Callable[[], float] = time.monotonic,
        shared: SharedAnswers | None = None,
    ) -> None:
        self._limit_bytes = limit_bytes
        self._lifetime_s = lifetime_s
        self._clock = clock
        self._shared = shared
        self._lock = threading.Lock()
        self._kept: OrderedDict[Key, _Kept] = OrderedDict()
        self._under_way: dict[Key, threading.Event] = {}
        self.held_bytes = 0

    @property
    def outlive_visit(self) -> bool:
        """Return True if these are the answers of an audit."""
        return self._shared is not None

    def of_earlier_visit(self, key: Key, wish: Wish) -> Response | None:
        """Return the answer if an earlier visit of the audit has received as much of it as is wanted; else None."""
        if self._shared is None:
            return None
        with self._lock:
            found = self._find(key, wish)
        return found or self._find_shared(key, wish)

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
            return self._ask(key, wish, ask)  # the other thread failed, or read too little
        try:
            return self._find_shared(key, wish) or self._ask(key, wish, ask)
        finally:
            self._end(key, mine)

    def _end(self, key: Key, asking: threading.Event) -> None:
        with self._lock:
            if self._under_way.get(key) is asking:
                del self._under_way[key]
        asking.set()

    def _ask(self, key: Key, wish: Wish, ask: Callable[[], Response]) -> Response:
        response = ask()
        self.keep(key, response, is_private=wish.is_private)
        return _cut(response, wish)

    def _find_shared(self, key: Key, wish: Wish) -> Response | None:
        """Return the answer that another process has received, if it fits."""
        if self._shared is None or wish.is_private or (found := self._shared.find(key)) is None:
            return None
        response, age_s = found
        self._keep(key, response, self._lifetime_s - age_s)
        return _fitting(response, wish)

    def keep(self, key: Key, response: Response, *, is_private: bool = False) -> None:
        """Keep a final answer for later requests with the same key, also of other processes unless `is_private`."""
        if response.status >= 400 and response.status not in FINAL_ERRORS:
            return
        self._keep(key, response, self._lifetime_s)
        if self._shared is not None and not is_private:
            self._shared.keep(key, response)

    def _keep(self, key: Key, response: Response, lifetime_s: float) -> None:
        if len(response.body) > min(LONGEST_BYTES, self._limit_bytes - HEAD_BYTES):
            return
        kept = _Kept(response, self._clock() + lifetime_s)
        with self._lock:
            self._drop(key)
            self._kept[key] = kept
            self.held_bytes += kept.size_bytes
            while self.held_bytes > self._limit_bytes:
                self._drop(next(iter(self._kept)))

    def keep_beginning(self, key: Key, response: Response, *, is_private: bool = False) -> None:
        """Keep the beginning of an answer, for requests that only test what is there."""
        if len(response.body) > BEGINNING_BYTES:
            response = replace(response, body=response.body[:BEGINNING_BYTES], truncated=True)
        self.keep(key, response, is_private=is_private)

    def _find(self, key: Key, wish: Wish) -> Response | None:
        kept = self._kept.get(key)
        if kept is None:
            return None
        if self._clock() >= kept.ends_at:
            self._drop(key)
            return None
        found = _fitting(kept.response, wish)
        if found is not None:
            self._kept.move_to_end(key)
        return found

    def _drop(self, key: Key) -> None:
        if (kept := self._kept.pop(key, None)) is not None:
            self.held_bytes -= kept.size_bytes


def _fitting(response: Response, wish: Wish) -> Response | None:
    """Return as much of a kept answer as is wanted; None if there is less of it, or it is not trusted enough."""
    if response.truncated and len(response.body) < wish.max_bytes:
        return None
    if wish.verify and not _is_trusted(response):
        return None
    return replace(_cut(response, wish), is_kept=True)


def _cut(response: Response, wish: Wish) -> Response:
    if len(response.body) <= wish.max_bytes:
        return response
    return replace(response, body=response.body[: wish.max_bytes], truncated=True)


def _is_trusted(response: Response) -> bool:
    """Return True if the answer was received with a trusted certificate and current TLS, or without TLS."""
    return response.tls is None or (response.tls.trust_error is None and response.tls.version in CURRENT_TLS)
