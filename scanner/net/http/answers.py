"""Answers that need not be asked for again: several probes read the same files, and pages of a site share them.

No HTTP cache: what a site says of its own caching is for browsers. Here an answer is kept for minutes, for who judges
it, and only where it is the site's last word: no error, no refusal, no wish to be asked later.
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
# Of one answer; what is longer would drive out everything else.
LONGEST_BYTES = KEPT_BYTES // 4
HEAD_BYTES = 1024  # about what an answer takes beside its body
# Of a page that was asked for anew: enough for who only wants to know whether it is there.
BEGINNING_BYTES = 16 * 1024
# Who refuses may think better of it, and who fails may come back.
FINAL_ERRORS = frozenset({404, 410})
CURRENT_TLS = frozenset({"TLSv1.2", "TLSv1.3"})

Key = tuple[str, bool, frozenset[tuple[str, str]]]


class Reuse(Enum):
    """What a request has to do with the answers that are kept."""

    NEVER = auto()
    FOR_OTHERS = auto()  # asked for anew; who takes kept answers gets the beginning of this one
    ALLOWED = auto()


@dataclass(frozen=True, slots=True)
class Wish:
    """How much of the body is wanted, and whether the certificate has to be trusted."""

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
    """What has to be the same for two requests to have one answer. Of a Referer that is its origin."""
    sent = {"accept": "*/*"} | {name.lower(): value for name, value in headers.items()}
    if referer := sent.get("referer"):
        parts = urlsplit(referer)
        sent["referer"] = f"{parts.scheme}://{parts.netloc}"
    return (url, decode, frozenset(sent.items()))


class Answers:
    """Kept for one visit, or from visit to visit of an audit. Thread-safe; `clock` tells seconds."""

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
        """The kept answer, else what `ask` brings, which is kept; raises what it raises.

        Who wants what somebody is asking for at this moment waits for that; raises TimedOut after `wait_s`.
        """
        with self._lock:
            if (found := self._find(key, wish)) is not None:
                return found
            under_way = self._under_way.get(key)
            if under_way is None:
                mine = self._under_way[key] = threading.Event()
        if under_way is not None:
            if not under_way.wait(wait_s):
                self._end(key, under_way)  # whoever began it may have been ended at any step
                raise TimedOut("The site did not answer in time.")
            with self._lock:
                if (found := self._find(key, wish)) is not None:
                    return found
            response = ask()  # it failed for the other one, or brought too little
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
        """For who asks for the same."""
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
        """As `keep`, for who only wants to know what is there."""
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
    """Whether who insists on a trusted certificate and current TLS would have got it, too."""
    return response.tls is None or (response.tls.trust_error is None and response.tls.version in CURRENT_TLS)
