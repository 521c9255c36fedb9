"""Rate limits of attempts such as log-ins, counted in Redis per subject. Without Redis, all attempts are refused."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django_ratelimit.core import get_usage
from redis.exceptions import RedisError

from infrastructure.cache import outage

MINUTE_S = 60
HOUR_S = 3600
DAY_S = 24 * HOUR_S
WAITS = {MINUTE_S: "a minute", HOUR_S: "an hour", DAY_S: "a day"}
# Prefix lengths by IP version. An IPv6 customer usually has a /64 network and can use any address in that network.
CLIENT_PREFIXES = {4: 32, 6: 64}
# Prefix lengths by IP version of a network from which a provider rents out many addresses together.
NETWORK_PREFIXES = {4: 24, 6: 48}


@dataclass(frozen=True, slots=True)
class Limit:
    """Limit of attempts for one subject, such as an address, an account or an organization."""

    subject: str
    attempts: int


def client(request: HttpRequest) -> str:
    """Return the client's address, for IPv6 its /64 network; empty without an address, as behind a Unix socket."""
    return _network(request, CLIENT_PREFIXES)


def network(request: HttpRequest) -> str:
    """Return the client's /24 network, for IPv6 its /48 network; empty without an address."""
    return _network(request, NETWORK_PREFIXES)


def refusal(
    request: HttpRequest, group: str, limits: Iterable[Limit], *, window_s: int = MINUTE_S
) -> HttpResponse | None:
    """Count an attempt for every subject. Returns an error page: 429 if any limit is exceeded, 503 without Redis.

    Returns None if the attempt is allowed.
    """
    try:
        # The list, unlike a generator, counts the attempt for all subjects, even after the first exceeded limit.
        exceeded = [_count(request, group, limit, window_s) > limit.attempts for limit in limits]
    except RedisError as error:
        outage.begin(error)
        return _refuse(request, 503, "This is not possible right now. Try again in a minute.", MINUTE_S)
    if any(exceeded):
        return _refuse(request, 429, f"Too many attempts. Try again in {WAITS[window_s]}.", window_s)
    return None


def _count(request: HttpRequest, group: str, limit: Limit, window_s: int) -> int:
    rate = (limit.attempts, window_s)
    usage = get_usage(request, group=group, key=lambda *_: limit.subject, rate=rate, increment=True)
    count: int = usage["count"]
    return count


def _refuse(request: HttpRequest, status: int, message: str, retry_after_s: int) -> HttpResponse:
    response = render(request, "error.html", {"status": status, "message": message}, status=status)
    response["Retry-After"] = str(retry_after_s)
    return response


def _network(request: HttpRequest, prefixes: Mapping[int, int]) -> str:
    raw: str = request.META.get("REMOTE_ADDR", "")
    try:
        address = ipaddress.ip_address(raw)
    except ValueError:
        return raw
    return str(ipaddress.ip_network(f"{address}/{prefixes[address.version]}", strict=False))
