"""Rate limit of the API, counted in Redis in windows of a minute that begin with their first request."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, cast

import redis
from django.conf import settings
from django.http import HttpRequest
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from infrastructure.api.errors import RateLimited
from infrastructure.cache import outage

if TYPE_CHECKING:
    from rest_framework.views import APIView

WINDOW_S = 60
# After Redis failed, requests pass uncounted for this long, instead of each waiting for Redis.
REDIS_PAUSE_S = 5
# A counter starts at the window's first second (Unix time) times COUNTS, so that one number holds both.
COUNTS = 1_000_000


@dataclass(frozen=True, slots=True)
class Rate:
    """A caller's use of the current window. `reset` is a Unix time in seconds."""

    limit: int
    used: int
    reset: int
    window_seconds: int = WINDOW_S

    @property
    def remaining(self) -> int:
        return max(0, self.limit - self.used)

    def headers(self) -> dict[str, str]:
        return {
            "X-RateLimit-Limit": str(self.limit),
            "X-RateLimit-Remaining": str(self.remaining),
            "X-RateLimit-Reset": str(self.reset),
        }


class Counted(Protocol):
    """Protocol: the attributes of a caller that the throttle reads."""

    @property
    def organization_id(self) -> int: ...

    @property
    def requests_per_minute(self) -> int: ...


class OrganizationThrottle(BaseThrottle):
    """Counts every request with a valid key against its organization's tier."""

    def allow_request(self, request: Request, view: APIView) -> bool:
        """Return True if the request may pass, else raise `RateLimited`."""
        caller = cast("Counted | None", request.auth)
        if caller is not None:
            refuse_over_rate(request._request, caller)
        return True


def refuse_over_rate(request: HttpRequest, caller: Counted) -> None:
    """Count a request to the API, or a page's request that does the same. Raises `RateLimited` over the limit."""
    request.organization_id = caller.organization_id  # type: ignore[attr-defined]  # for the access log
    rate = count(f"api:{caller.organization_id}", caller.requests_per_minute)
    request.rate = rate  # type: ignore[attr-defined]  # read by infrastructure.api.views for the headers
    refuse_over(request, rate, "Too many requests in this minute.")


def refuse_over(request: HttpRequest, rate: Rate, message: str) -> None:
    """Raise `RateLimited` with this message if the window has more requests than the limit."""
    if rate.used > rate.limit:
        request.rate = rate  # type: ignore[attr-defined]  # as above
        raise RateLimited(message, rate.reset - int(time.time()))


def count(subject: str, limit: int) -> Rate:
    """Count a request of `subject`, who may send `limit` a minute, in one round trip to Redis.

    Fails open: without Redis all requests pass, and the quota in PostgreSQL still applies.
    """
    now = time.time()
    uncounted = Rate(limit, 0, int(now) + WINDOW_S)
    if now < _paused_until[0]:
        return uncounted
    key = f"rate:{subject}"
    lifetime_ms = int((int(now) + WINDOW_S - now) * 1000)
    try:
        # In a transaction, so that a key that SET finds does not expire before INCR.
        with _redis.pipeline(transaction=True) as pipeline:
            pipeline.set(key, int(now) * COUNTS, nx=True, px=lifetime_ms)
            pipeline.incr(key)
            _, counter = pipeline.execute()
    except redis.RedisError as error:
        outage.begin(error)
        _paused_until[0] = now + REDIS_PAUSE_S
        return uncounted
    outage.end()
    start, used = divmod(counter, COUNTS)
    return Rate(limit, used, start + WINDOW_S)


_redis = redis.Redis.from_url(settings.REDIS_URL, **settings.REDIS_TIMEOUTS)
_paused_until = [0.0]
