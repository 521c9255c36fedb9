"""Rate limits for attempts such as logins, counted in Redis per subject.

If Redis is down, attempts are refused.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django_ratelimit.core import get_usage
from msgspec import Struct
from redis.exceptions import RedisError

from infrastructure.cache import outage

MINUTE_S = 60
HOUR_S = 3600
DAY_S = 24 * HOUR_S
WAITS = {MINUTE_S: "a minute", HOUR_S: "an hour", DAY_S: "a day"}
# Prefix lengths by IP version of one client's network. An IPv6 customer usually has a whole /64 network.
CLIENT_PREFIXES = {4: 32, 6: 64}
# Prefix lengths by IP version of a hosting provider's network, which rents out many addresses together.
NETWORK_PREFIXES = {4: 24, 6: 48}


class Limit(Struct, frozen=True):
    """Maximum number of attempts for a subject, such as an IP address, a user account or an organization."""

    subject: str
    attempts: int


def client(request: HttpRequest) -> str:
    """Return the client's IP address, or its /64 network for IPv6.

    Empty without an address, as with a Unix socket.
    """
    return _client_network(request, CLIENT_PREFIXES)


def network(request: HttpRequest) -> str:
    """Return the client's /24 network, or its /48 network for IPv6.

    Empty without an address.
    """
    return _client_network(request, NETWORK_PREFIXES)


def refusal(
    request: HttpRequest, group: str, limits: Iterable[Limit], *, window_s: int = MINUTE_S
) -> HttpResponse | None:
    """Count an attempt for every subject.

    Returns an error page if a limit is exceeded (429) or Redis is down (503).

    Returns None if the attempt is allowed.
    """
    try:
        # A list counts the attempt for all subjects. A generator in `any` would stop at the first exceeded limit.
        exceeded = [_count_attempt(request, group, limit, window_s) > limit.attempts for limit in limits]
    except RedisError as error:
        outage.begin(error)
        return _error_page(request, 503, "This is not possible right now. Try again in a minute.", MINUTE_S)
    if any(exceeded):
        return _error_page(request, 429, f"Too many attempts. Try again in {WAITS[window_s]}.", window_s)
    return None


def _count_attempt(request: HttpRequest, group: str, limit: Limit, window_s: int) -> int:
    rate = (limit.attempts, window_s)
    usage = get_usage(request, group=group, key=lambda *_: limit.subject, rate=rate, increment=True)
    count: int = usage["count"]
    return count


def _error_page(request: HttpRequest, status: int, message: str, retry_after_s: int) -> HttpResponse:
    response = render(request, "error.html", {"status": status, "message": message}, status=status)
    response["Retry-After"] = str(retry_after_s)
    return response


def _client_network(request: HttpRequest, prefixes: Mapping[int, int]) -> str:
    raw: str = request.META.get("REMOTE_ADDR", "")
    try:
        address = ipaddress.ip_address(raw)
    except ValueError:
        return raw
    return str(ipaddress.ip_network(f"{address}/{prefixes[address.version]}", strict=False))
