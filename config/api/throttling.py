"""The request rate: django-ratelimit counts on Redis, per organization, in windows of a minute."""

from __future__ import annotations

import itertools
import logging
import time
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, cast

from django.core.cache import cache
from django.http import HttpRequest
from django_ratelimit.core import get_usage
from redis.exceptions import RedisError
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from config.api.errors import RateLimited

if TYPE_CHECKING:
    from rest_framework.views import APIView

logger = logging.getLogger(__name__)

WINDOW_S = 60
# After Redis failed, requests are let through uncounted for this long instead of each waiting for it.
REDIS_PAUSE_S = 5


@dataclass(frozen=True, slots=True)
class Rate:
    """Where a caller stands in the window. `reset` is a Unix time in seconds."""

    limit: int
    remaining: int
    reset: int

    def headers(self) -> dict[str, str]:
        """The three X-RateLimit headers."""
        return {
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(self.remaining),
            "X-RateLimit-Reset": str(self.reset),
        }


class Counted(Protocol):
    """What the throttle asks of a caller."""

    @property
    def organization_id(self) -> int: ...

    @property
    def requests_per_minute(self) -> int: ...


class OrganizationThrottle(BaseThrottle):
    """Counts every request with a valid key against its organization's tier."""

    def allow_request(self, request: Request, view: APIView) -> bool:
        """Always True for who may pass; raises `RateLimited` for who may not."""
        caller = cast("Counted | None", request.auth)
        if caller is None:
            return True
        refuse_over_rate(request._request, caller)
        return True


def refuse_over_rate(request: HttpRequest, caller: Counted) -> None:
    """Count a request of the API, or one from a page that does the same; raises `RateLimited`."""
    rate, over = count(request, "api", str(caller.organization_id), caller.requests_per_minute)
    request.rate = rate  # type: ignore[attr-defined]  # read by config.api.views for the headers
    if over:
        raise RateLimited("Too many requests in this minute.", rate.reset - int(time.time()))


def count(request: HttpRequest, group: str, subject: str, limit: int) -> tuple[Rate, bool]:
    """Count a request of `subject` and say where it stands, and whether it is over `limit` a minute.

    Fails open: without Redis everybody passes, and the quota in PostgreSQL still holds.
    """
    now = int(time.time())
    if now < _paused_until[0]:
        return Rate(limit, limit, now + WINDOW_S), False
    try:
        window = _windows.current(f"{group}:{subject}", now)
        usage = get_usage(request, group=group, key=lambda *_: window.key, rate=(limit, WINDOW_S), increment=True)
    except RedisError as error:
        logger.error("the rate limit is not enforced, Redis does not answer: %s", error)
        _paused_until[0] = now + REDIS_PAUSE_S
        return Rate(limit, limit, now + WINDOW_S), False
    used = usage["count"]
    return Rate(limit, max(0, limit - used), window.start + WINDOW_S), used > limit


_paused_until = [0]


@dataclass(frozen=True, slots=True)
class _Window:
    """A minute from `start` (Unix time), and the key to count it under."""

    start: int
    key: str


class _Windows:
    """Each subject's current window: its start in Redis for all processes, remembered in this one."""

    def __init__(self) -> None:
        self._known: dict[str, _Window] = {}

    def current(self, subject: str, now: int) -> _Window:
        window = self._known.get(subject)
        if window is None or not window.start <= now < window.start + WINDOW_S:
            if len(self._known) > 10_000:
                self._known.clear()
            name = f"window:{subject}"
            # Two steps, but no race: `add` decides, everybody else reads the winner's time.
            stored = now if cache.add(name, now, WINDOW_S) else cache.get(name, now)
            start = stored if now - WINDOW_S < stored <= now else now
            window = self._known[subject] = _Window(start, _window_key(subject, start))
        return window


_windows = _Windows()


def _window_key(subject: str, start: int) -> str:
    """A key whose window, as django-ratelimit lays it, is [start, start + 60).

    The library puts a window's last second where `time % 60 == crc32(key) % 60`, so that windows of
    different keys don't all end at once. Ours begins with the caller's first request: a salt is chosen
    that gives the key the right remainder (60 tries on average, some 20 µs).
    """
    wanted = (start - 1) % WINDOW_S
    return next(
        key
        for salt in itertools.count()
        if zlib.crc32((key := f"{subject}:{start}:{salt}").encode()) % WINDOW_S == wanted
    )
