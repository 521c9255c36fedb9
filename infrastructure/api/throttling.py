"""API rate limit. Redis counts requests in one-minute windows, which begin with a client's first request."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol, cast

import redis
from django.http import HttpRequest
from msgspec import Struct
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from infrastructure.api.errors import RateLimited
from infrastructure.cache import outage
from infrastructure.redis_client import client as _redis

if TYPE_CHECKING:
    from rest_framework.views import APIView

WINDOW_S = 60
# After a Redis error, requests pass uncounted for this long. Otherwise all of them would wait for Redis to time out.
REDIS_PAUSE_S = 5
# A counter starts at the window's beginning (Unix time in seconds) times COUNTS, so that one Redis integer stores both
# the beginning and the number of requests.
COUNTS = 1_000_000


class Rate(Struct, frozen=True):
    """How many requests a caller has sent in the current window. `reset` is a Unix time in seconds."""

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


class LimitedCaller(Protocol):
    """Protocol for API callers. The rate limit needs these attributes."""

    @property
    def organization_id(self) -> int: ...

    @property
    def requests_per_minute(self) -> int: ...


class OrganizationThrottle(BaseThrottle):
    """Throttle for the REST framework. Applies the tier's rate limit to every valid key."""

    def allow_request(self, request: Request, view: APIView) -> bool:
        """Return True, or raise `RateLimited` if the organization is over its limit."""
        caller = cast("LimitedCaller | None", request.auth)
        if caller is not None:
            refuse_over_rate(request._request, caller)
        return True


def refuse_over_rate(request: HttpRequest, caller: LimitedCaller) -> None:
    """Count an API request, or a dashboard request with the same effect. Raises `RateLimited` over the limit."""
    request.organization_id = caller.organization_id  # type: ignore[attr-defined]  # The access log reads it.
    rate = count(f"api:{caller.organization_id}", caller.requests_per_minute)
    request.rate = rate  # type: ignore[attr-defined]  # ApiView.finalize_response sends it in headers.
    refuse_over_limit(request, rate, "Too many requests in this minute.")


def refuse_over_limit(request: HttpRequest, rate: Rate, message: str) -> None:
    """Raise `RateLimited` with this message if the window has more requests than the limit."""
    if rate.used > rate.limit:
        request.rate = rate  # type: ignore[attr-defined]  # ApiView.finalize_response sends it in headers.
        raise RateLimited(message, rate.reset - int(time.time()))


def count(subject: str, limit: int) -> Rate:
    """Count a request by `subject`, which may send `limit` requests a minute. Takes one round trip to Redis.

    Fails open: while Redis does not answer, all requests pass. The quota of scans in PostgreSQL still applies.
    """
    now = time.time()
    uncounted = Rate(limit, 0, int(now) + WINDOW_S)
    if now < _paused_until[0]:
        return uncounted
    key = f"rate:{subject}"
    lifetime_ms = int((int(now) + WINDOW_S - now) * 1000)
    try:
        # Without a transaction, this needs half as many Redis commands.
        with _redis.pipeline(transaction=False) as pipeline:
            pipeline.set(key, int(now) * COUNTS, nx=True, px=lifetime_ms)
            pipeline.incr(key)
            _, counter = pipeline.execute()
        if counter < COUNTS:
            # The key expired between SET and INCR, which created a key that would never expire.
            counter += int(now) * COUNTS
            _redis.set(key, counter, px=lifetime_ms)
    except redis.RedisError as error:
        outage.begin(error)
        _paused_until[0] = now + REDIS_PAUSE_S
        return uncounted
    outage.end()
    start, used = divmod(counter, COUNTS)
    return Rate(limit, used, start + WINDOW_S)


_paused_until = [0.0]
