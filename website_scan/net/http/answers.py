"""Cache of responses within a scan or audit.

Several probes and pages need the same files. Unlike an HTTP cache, this cache ignores the site's caching headers.
Responses are cached for minutes, and only if they are final, unlike temporary errors and refusals.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from website_scan.net.errors import TimedOut
from website_scan.net.http.request import Request
from website_scan.net.http.response import Response
from website_scan.urls import origin_of

MAX_CACHE_BYTES = 16 * 1024 * 1024
KEPT_S = 300.0
# Longer responses are not cached, because they would displace all others.
MAX_ANSWER_BYTES = MAX_CACHE_BYTES // 4
ESTIMATED_HEAD_BYTES = 1024  # Estimated size of a response without its body.
# Requests that test whether the page exists need only this much.
MAX_BEGINNING_BYTES = 16 * 1024
# Responses with these error statuses are cached, because they are final.
FINAL_ERROR_STATUSES = frozenset({404, 410})
CURRENT_TLS_VERSIONS = frozenset({"TLSv1.2", "TLSv1.3"})

Key = tuple[str, bool, frozenset[tuple[str, str]]]


class AnswerRequirements(Struct, frozen=True):
    """Requirements for a cached response.

    They concern the length of its body and the trust in its certificate. The response to a private request, which has
    credentials, is not shared with other processes.
    """

    max_bytes: int
    verify: bool
    is_private: bool = False


class SharedAnswers(Protocol):
    """Interface of a response cache that the processes of an audit share.

    Thread-safe. Its methods never raise.
    """

    def find(self, key: Key) -> tuple[Response, float] | None:
        """Return a cached response and its age in seconds.

        None if the cache has no response.
        """
        ...

    def keep(self, key: Key, response: Response) -> None:
        """Store a response for other processes."""
        ...


class _CachedAnswer(Struct, frozen=True):
    response: Response
    expires_at: float

    @property
    def size_bytes(self) -> int:
        return len(self.response.body) + ESTIMATED_HEAD_BYTES


def answer_key(request: Request) -> Key:
    """Return the cache key of a request, including its headers.

    Of a Referer, only the origin counts.
    """
    sent = {"accept": "*/*"} | {name.lower(): value for name, value in request.headers.items()}
    if referer := sent.get("referer"):
        sent["referer"] = origin_of(referer)
    return (request.target.url, request.decode, frozenset(sent.items()))


class Answers:
    """Response cache for one visit, or for all visits of an audit.

    Thread-safe. `clock` returns seconds. With `shared`, the cache belongs to an audit, and its visits in all processes
    share their responses.
    """

    def __init__(
        self,
        limit_bytes: int = MAX_CACHE_BYTES,
        lifetime_s: float = KEPT_S,
        clock: Callable[[], float] = time.monotonic,
        shared: SharedAnswers | None = None,
    ) -> None:
        self._limit_bytes = limit_bytes
        self._lifetime_s = lifetime_s
        self._clock = clock
        self._shared = shared
        self._lock = threading.Lock()
        self._cached: OrderedDict[Key, _CachedAnswer] = OrderedDict()
        self._running_requests: dict[Key, threading.Event] = {}
        self.cached_bytes = 0

    @property
    def outlives_visit(self) -> bool:
        """Return True if later visits use the cached responses.

        The cache then belongs to an audit.
        """
        return self._shared is not None

    def find_from_earlier_visit(self, key: Key, requirements: AnswerRequirements) -> Response | None:
        """Return an earlier visit's response if it meets the requirements.

        None if the cache has no such response.
        """
        if self._shared is None:
            return None
        with self._lock:
            response = self._find_cached(key, requirements)
        return response or self._find_shared(key, requirements)

    def answer(
        self, key: Key, requirements: AnswerRequirements, send_request: Callable[[], Response], wait_s: float
    ) -> Response:
        """Return the cached response, or send the request.

        Calls `send_request` and caches its response. Raises errors of `send_request`. If another thread has already
        sent the same request, wait for its response. Raises TimedOut after `wait_s`.
        """
        with self._lock:
            if (response := self._find_cached(key, requirements)) is not None:
                return response
            running_request = self._running_requests.get(key)
            if running_request is None:
                own_request = self._running_requests[key] = threading.Event()
        if running_request is not None:
            if not running_request.wait(wait_s):
                # The other thread may have been ended without finishing its request.
                self._finish_request(key, running_request)
                raise TimedOut("The site did not answer in time.")
            with self._lock:
                if (response := self._find_cached(key, requirements)) is not None:
                    return response
            # The other thread's request failed, or its response is too short.
            return self._request_and_cache(key, requirements, send_request)
        try:
            return self._find_shared(key, requirements) or self._request_and_cache(key, requirements, send_request)
        finally:
            self._finish_request(key, own_request)

    def _finish_request(self, key: Key, running_request: threading.Event) -> None:
        with self._lock:
            if self._running_requests.get(key) is running_request:
                del self._running_requests[key]
        running_request.set()

    def _request_and_cache(
        self, key: Key, requirements: AnswerRequirements, send_request: Callable[[], Response]
    ) -> Response:
        response = send_request()
        self.keep(key, response, is_private=requirements.is_private)
        return _truncate_body(response, requirements)

    def _find_shared(self, key: Key, requirements: AnswerRequirements) -> Response | None:
        """Return another process's response if it meets the requirements.

        None if the cache has no such response.
        """
        if self._shared is None or requirements.is_private or (shared_answer := self._shared.find(key)) is None:
            return None
        response, age_s = shared_answer
        self._store(key, response, self._lifetime_s - age_s)
        return _usable_part(response, requirements)

    def keep(self, key: Key, response: Response, *, is_private: bool = False) -> None:
        """Cache a final response for later requests with the same key.

        Other processes use it, too, unless `is_private`.
        """
        if response.status >= 400 and response.status not in FINAL_ERROR_STATUSES:
            return
        self._store(key, response, self._lifetime_s)
        if self._shared is not None and not is_private:
            self._shared.keep(key, response)

    def _store(self, key: Key, response: Response, lifetime_s: float) -> None:
        if len(response.body) > min(MAX_ANSWER_BYTES, self._limit_bytes - ESTIMATED_HEAD_BYTES):
            return
        cached = _CachedAnswer(response, self._clock() + lifetime_s)
        with self._lock:
            self._remove(key)
            self._cached[key] = cached
            self.cached_bytes += cached.size_bytes
            while self.cached_bytes > self._limit_bytes:
                self._remove(next(iter(self._cached)))

    def store_beginning(self, key: Key, response: Response, *, is_private: bool = False) -> None:
        """Cache the beginning of a response.

        It is enough for requests that only test whether the page exists.
        """
        if len(response.body) > MAX_BEGINNING_BYTES:
            response = replace(response, body=response.body[:MAX_BEGINNING_BYTES], truncated=True)
        self.keep(key, response, is_private=is_private)

    def _find_cached(self, key: Key, requirements: AnswerRequirements) -> Response | None:
        cached = self._cached.get(key)
        if cached is None:
            return None
        if self._clock() >= cached.expires_at:
            self._remove(key)
            return None
        response = _usable_part(cached.response, requirements)
        if response is not None:
            self._cached.move_to_end(key)
        return response

    def _remove(self, key: Key) -> None:
        if (cached := self._cached.pop(key, None)) is not None:
            self.cached_bytes -= cached.size_bytes


def _usable_part(response: Response, requirements: AnswerRequirements) -> Response | None:
    """Return the required part of a cached response.

    None if the response is too short or not trusted.
    """
    if response.truncated and len(response.body) < requirements.max_bytes:
        return None
    if requirements.verify and not _is_trusted(response):
        return None
    return replace(_truncate_body(response, requirements), is_kept=True)


def _truncate_body(response: Response, requirements: AnswerRequirements) -> Response:
    if len(response.body) <= requirements.max_bytes:
        return response
    return replace(response, body=response.body[: requirements.max_bytes], truncated=True)


def _is_trusted(response: Response) -> bool:
    """Return True if the response has no TLS faults.

    It came without TLS, or with a trusted certificate and a current TLS version.
    """
    return response.tls is None or (response.tls.trust_error is None and response.tls.version in CURRENT_TLS_VERSIONS)
