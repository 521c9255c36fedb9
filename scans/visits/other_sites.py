"""Budget of requests to third-party sites, over all visits and discoveries of a person's organizations.

Pages load files of other sites, link to them and redirect to them. Politeness counts visits by the domain that somebody
typed (`politeness.py`). This budget counts requests by their destination: by registrable domain, and by IP address,
because one address can have any number of names.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import redis
from django.conf import settings

from accounts.usage import Account
from infrastructure.cache import outage
from infrastructure.telemetry.counters import count
from infrastructure.telemetry.process_metrics import OTHER_SITES, OTHER_SITES_REFUSED
from scans.models.domain import address_of, domain_of
from website_scan.net.errors import BudgetExceeded
from website_scan.net.targets import Target
from website_scan.urls import DEFAULT_PORTS

MINUTES = 10
# Requests of an account to one site, for each concurrent scan of its tier: first as a burst, then per minute. The two
# concurrent scans of the free tier allow 60 requests a minute in the first ten minutes, and 30 afterwards.
AT_ONCE_PER_SLOT = 150
PER_MINUTE_AND_SLOT = 15
# Requests are reserved in Redis in growing batches, so that a page with 200 files of one site needs few round trips.
MAX_BATCH = 16

# Generic cell rate algorithm: each key stores the time at which its budget will be full again, in microseconds.
# Arguments: the number of requests, then for each key the interval of requests and the longest time ahead.
TAKE = """
    local clock = redis.call('TIME')
    local now = clock[1] * 1000000 + clock[2]
    local full = {}
    for i, key in ipairs(KEYS) do
        local begin = math.max(now, tonumber(redis.call('GET', key) or 0))
        full[i] = begin + ARGV[1] * ARGV[2 * i]
        if full[i] - now > tonumber(ARGV[2 * i + 1]) then return i end
    end
    for i, key in ipairs(KEYS) do
        redis.call('SET', key, string.format('%.0f', full[i]), 'PX', math.ceil((full[i] - now) / 1000))
    end
    return 0
"""


@dataclass(frozen=True, slots=True)
class Rate:
    """Limit of requests: `at_once`, and `per_minute` after these."""

    at_once: int
    per_minute: float

    @property
    def interval_us(self) -> int:
        return round(60_000_000 / self.per_minute)


@dataclass(slots=True)
class _Reservation:
    """Requests of one visit to a site: reserved in all, and reserved but not yet sent."""

    total: int = 0
    left: int = 0


class OtherSites:
    """Budget for one visit or discovery (`website_scan.net.budget.SharedBudget`). The scanned site is not counted.

    Use as a context manager: leaving it counts the requests for /metrics. If Redis is down, all requests are allowed,
    because no further visits begin then, and each visit has limits of its own.
    """

    def __init__(self, target: Target, account: Account) -> None:
        self._scanned_domain = _domain(target.host, target.port)
        self._account = account.key
        self._account_rate = Rate(AT_ONCE_PER_SLOT * account.places, PER_MINUTE_AND_SLOT * account.places)
        total = settings.SCAN_REQUESTS_TO_OTHER_SITES
        self._installation_rate = Rate(total // 2, total / 2 / MINUTES)
        self._lock = threading.Lock()
        self._reservations: dict[tuple[str, ...], _Reservation] = {}
        self._requests = 0
        self._is_redis_down = False

    def __enter__(self) -> OtherSites:
        return self

    def __exit__(self, *_: object) -> None:
        if self._requests:
            count(OTHER_SITES, by=self._requests)

    def request(self, host: str, port: int, addresses: Collection[str]) -> None:
        """Count a request to a host at one of its addresses. Raises BudgetExceeded if a limit is reached."""
        domain = _domain(host, port)
        if domain == self._scanned_domain:
            return
        subjects = (domain, *sorted(address_of(address, port) for address in addresses))
        with self._lock:
            reservation = self._reservations.setdefault(subjects, _Reservation())
            if not reservation.left:
                reservation.left = self._reserve(subjects, max(1, min(reservation.total, MAX_BATCH)))
                reservation.total += reservation.left
            reservation.left -= 1
            self._requests += 1

    def _reserve(self, subjects: tuple[str, ...], number: int) -> int:
        """Reserve `number` requests to these subjects, or else one. Returns how many. Raises BudgetExceeded."""
        keys, limits = [], []
        for subject in subjects:
            for scope, rate in ((f"account:{self._account}", self._account_rate), ("all", self._installation_rate)):
                keys.append(f"other-sites:{scope}:{subject}")
                limits += [rate.interval_us, rate.at_once * rate.interval_us]
        for batch in dict.fromkeys((number, 1)):
            exceeded_key = self._try_to_reserve(keys, [batch, *limits])
            if not exceeded_key:
                return batch
        is_account_limit = exceeded_key % 2 == 1
        count(OTHER_SITES_REFUSED, "account" if is_account_limit else "installation")
        raise BudgetExceeded(
            _refusal(
                subjects[0],
                self._account_rate if is_account_limit else self._installation_rate,
                is_account_limit=is_account_limit,
            )
        )

    def _try_to_reserve(self, keys: list[str], arguments: list[int]) -> int:
        """Return 0 if all budgets allow the requests, else the number of the first exceeded key, counted from 1."""
        if self._is_redis_down:
            return 0
        try:
            exceeded_key: int = _run_take_script(keys=keys, args=arguments)
        except redis.RedisError as error:
            outage.begin(error)
            self._is_redis_down = True  # Each further attempt would wait for the same timeout.
            return 0
        outage.end()
        return exceeded_key


def _refusal(domain: str, rate: Rate, *, is_account_limit: bool) -> str:
    whose = "one account" if is_account_limit else "this installation"
    return (
        f"Nobody asked for a scan of {domain}, and {whose} sends it at most {rate.at_once:,} requests at once, "
        f"then {rate.per_minute:g} a minute."
    )


def _domain(host: str, port: int) -> str:
    name = f"[{host}]" if ":" in host else host
    return domain_of(name if port in DEFAULT_PORTS.values() else f"{name}:{port}")


_redis = redis.Redis.from_url(settings.REDIS_URL, **settings.REDIS_TIMEOUTS)
_run_take_script: Callable[..., Any] = _redis.register_script(TAKE)
