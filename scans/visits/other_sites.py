"""Budget of requests to sites that nobody asked to scan, over all visits and discoveries of a person's organizations.

Pages load files of other sites, link to them and redirect to them. Politeness counts visits by the domain that somebody
typed (`politeness.py`); this counts requests where they arrive: by registrable domain, and by address, because one
address can have any number of names.
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
# Requests of an account to one site: at once, and then in a minute, for each of its plan's concurrent scans. With the
# two of the free plan, this is 60 a minute in the first ten minutes, and 30 afterwards.
AT_ONCE_PER_PLACE = 150
PER_MINUTE_AND_PLACE = 15
# Requests are taken from Redis in growing steps, so that a page with 200 files of one site costs few round trips.
LONGEST_STEP = 16

# Generic cell rate algorithm: each key holds the time at which its budget would be full again, in microseconds.
# Arguments: the number of requests, then for each key the time that a request takes and the longest time ahead.
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
class _Taken:
    """Requests of one visit to a site: those taken from the budget, and those of them that are left."""

    total: int = 0
    left: int = 0


class OtherSites:
    """Budget for one visit or discovery (`website_scan.net.budget.SharedBudget`). The asked site is not counted.

    Use it as a context manager: the end counts the requests for /metrics. Fails open: without Redis no further visits
    begin, and each has limits of its own.
    """

    def __init__(self, asked: Target, account: Account) -> None:
        self._asked = _domain(asked.host, asked.port)
        self._account = account.key
        self._own = Rate(AT_ONCE_PER_PLACE * account.places, PER_MINUTE_AND_PLACE * account.places)
        most = settings.SCAN_REQUESTS_TO_OTHER_SITES
        self._all = Rate(most // 2, most / 2 / MINUTES)
        self._lock = threading.Lock()
        self._taken: dict[tuple[str, ...], _Taken] = {}
        self._requests = 0
        self._is_blind = False

    def __enter__(self) -> OtherSites:
        return self

    def __exit__(self, *_: object) -> None:
        if self._requests:
            count(OTHER_SITES, by=self._requests)

    def request(self, host: str, port: int, addresses: Collection[str]) -> None:
        """Count a request to a host at one of its addresses. Raises BudgetExceeded if it exceeds a limit."""
        domain = _domain(host, port)
        if domain == self._asked:
            return
        subjects = (domain, *sorted(address_of(each, port) for each in addresses))
        with self._lock:
            taken = self._taken.setdefault(subjects, _Taken())
            if not taken.left:
                taken.left = self._take(subjects, max(1, min(taken.total, LONGEST_STEP)))
                taken.total += taken.left
            taken.left -= 1
            self._requests += 1

    def _take(self, subjects: tuple[str, ...], wanted: int) -> int:
        """Take `wanted` requests to these subjects, or else one; return their number. Raises BudgetExceeded."""
        keys, limits = [], []
        for subject in subjects:
            for scope, rate in ((f"account:{self._account}", self._own), ("all", self._all)):
                keys.append(f"other-sites:{scope}:{subject}")
                limits += [rate.interval_us, rate.at_once * rate.interval_us]
        for number in dict.fromkeys((wanted, 1)):
            over = self._ask(keys, [number, *limits])
            if not over:
                return number
        is_own = over % 2 == 1
        count(OTHER_SITES_REFUSED, "account" if is_own else "installation")
        raise BudgetExceeded(_refusal(subjects[0], self._own if is_own else self._all, is_own=is_own))

    def _ask(self, keys: list[str], arguments: list[int]) -> int:
        """Return 0 if all budgets allow it, else the number of the first key, from 1, that does not."""
        if self._is_blind:
            return 0
        try:
            over: int = _take(keys=keys, args=arguments)
        except redis.RedisError as error:
            outage.begin(error)
            self._is_blind = True  # each further attempt would wait as long
            return 0
        outage.end()
        return over


def _refusal(domain: str, rate: Rate, *, is_own: bool) -> str:
    whose = "one account" if is_own else "this installation"
    return (
        f"Nobody asked for a scan of {domain}, and {whose} sends it at most {rate.at_once:,} requests at once, "
        f"then {rate.per_minute:g} a minute."
    )


def _domain(host: str, port: int) -> str:
    name = f"[{host}]" if ":" in host else host
    return domain_of(name if port in DEFAULT_PORTS.values() else f"{name}:{port}")


_redis = redis.Redis.from_url(settings.REDIS_URL, **settings.REDIS_TIMEOUTS)
_take: Callable[..., Any] = _redis.register_script(TAKE)
