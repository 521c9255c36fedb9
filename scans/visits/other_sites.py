"""Budget for requests to third-party sites.

All visits and discoveries of an owner's organizations share it.

Pages load files of other sites, link to them and redirect to them. Politeness counts visits by the domain that somebody
typed (`politeness.py`). This budget counts requests by their destination: by registrable domain, and by IP address,
because one address can have any number of names. Names of the scanned domain count by address, too, unless they lead to
an address of the scanned host: their owner may point them at somebody else's server.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from typing import Any

import redis
from django.conf import settings
from msgspec import Struct

from accounts.usage import Account
from infrastructure.cache import outage
from infrastructure.redis_client import client as _redis
from infrastructure.telemetry.counters import count
from infrastructure.telemetry.process_metrics import OTHER_SITES, OTHER_SITES_REFUSED
from scans.models.domain import address_of, domain_of
from website_scan.net.dialer import SMTP_PORT
from website_scan.net.errors import BudgetExceeded
from website_scan.net.targets import Target
from website_scan.urls import DEFAULT_PORTS

MINUTES = 10
# Maximum requests of an account to one site, for each concurrent scan of its tier: first as a burst, then per minute.
# The two concurrent scans of the free tier allow 60 requests a minute in the first ten minutes, and 30 afterwards.
MAX_BURST_PER_SLOT = 150
MAX_REQUESTS_PER_MINUTE_AND_SLOT = 15
# Connections of all accounts together to one address of a mail server. Each process caches results, so that the domains
# of a large provider need few.
MAX_MAIL_BURST = 10
MAX_MAIL_CONNECTIONS_PER_MINUTE = 5
# Requests are reserved in Redis in growing batches, so that a page with 200 files of one site needs few round trips.
MAX_RESERVED_REQUESTS = 16

# This script implements the generic cell rate algorithm (GCRA): each key stores the time at which its budget will be
# full again, in microseconds. Arguments: the number of requests, then for each key the interval of requests and the
# longest time ahead.
RESERVE_REQUESTS = """
    local clock = redis.call('TIME')
    local now = clock[1] * 1000000 + clock[2]
    local full = {}
    for i, value in ipairs(redis.call('MGET', unpack(KEYS))) do
        local begin = math.max(now, tonumber(value or 0))
        full[i] = begin + ARGV[1] * ARGV[2 * i]
        if full[i] - now > tonumber(ARGV[2 * i + 1]) then return i end
    end
    for i, key in ipairs(KEYS) do
        redis.call('SET', key, string.format('%.0f', full[i]), 'PX', math.ceil((full[i] - now) / 1000))
    end
    return 0
"""


class Rate(Struct, frozen=True):
    """Rate limit of requests.

    A burst of `max_burst` requests is allowed, then `max_per_minute`.
    """

    max_burst: int
    max_per_minute: float

    @property
    def interval_us(self) -> int:
        return round(60_000_000 / self.max_per_minute)


MAIL_RATE = Rate(MAX_MAIL_BURST, MAX_MAIL_CONNECTIONS_PER_MINUTE)


class _Reservation(Struct):
    """Requests that a visit has reserved for one site.

    `left` is the number of requests that have not been sent yet.
    """

    total: int = 0
    left: int = 0


class OtherSites:
    """Budget of one visit or discovery for requests to third-party sites.

    Implements `SharedBudget`.

    Use as a context manager: leaving it counts the requests for /metrics. If Redis is down, all requests are allowed,
    because no further visits begin then, and each visit has limits of its own.
    """

    def __init__(self, target: Target, account: Account) -> None:
        self._scanned_host = target.host
        self._scanned_addresses: frozenset[str] = frozenset()
        self._scanned_domain = _domain_of_host(target.host, target.port)
        self._account = account.key
        self._account_rate = Rate(MAX_BURST_PER_SLOT * account.slots, MAX_REQUESTS_PER_MINUTE_AND_SLOT * account.slots)
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
        """Count a request to a host at one of its addresses.

        Raises BudgetExceeded.
        """
        if port == SMTP_PORT:
            self._count_mail_connection(host, addresses)
            return
        domain = _domain_of_host(host, port)
        keys = frozenset(address_of(address, port) for address in addresses)
        with self._lock:
            subjects = self._subjects(host, domain, keys)
            if not subjects:
                return
            reservation = self._reservations.setdefault(subjects, _Reservation())
            if not reservation.left:
                reservation.left = self._reserve_requests(
                    host, port, subjects, max(1, min(reservation.total, MAX_RESERVED_REQUESTS))
                )
                reservation.total += reservation.left
            reservation.left -= 1
            self._requests += 1

    def _count_mail_connection(self, host: str, addresses: Collection[str]) -> None:
        """Count a connection to a mail server, whoever has the name: its owner may point it at anybody's server."""
        keys = [f"other-sites:mail:{address}" for address in sorted(addresses)]
        limits = [MAIL_RATE.interval_us, MAIL_RATE.max_burst * MAIL_RATE.interval_us]
        if self._try_to_reserve(keys, [1, *limits * len(keys)]):
            count(OTHER_SITES_REFUSED, "installation")
            raise BudgetExceeded(
                f"This installation connects to one mail server at most {MAX_MAIL_BURST} times at once, then "
                f"{MAX_MAIL_CONNECTIONS_PER_MINUTE} times a minute, and the limit for {host} is reached."
            )
        with self._lock:
            self._requests += 1

    def _subjects(self, host: str, domain: str, addresses: frozenset[str]) -> tuple[str, ...]:
        """Return the domain and addresses whose budgets a request uses.

        Requests to the scanned host use no budget.
        """
        if domain != self._scanned_domain:
            return (domain, *sorted(addresses))
        if host == self._scanned_host:
            self._scanned_addresses |= addresses
            return ()
        return tuple(sorted(addresses - self._scanned_addresses))

    def _reserve_requests(self, host: str, port: int, subjects: tuple[str, ...], number: int) -> int:
        """Reserve `number` requests for these subjects, or only one, and return the reserved number.

        Raises BudgetExceeded.
        """
        keys, limits = [], []
        for subject in subjects:
            for scope, rate in ((f"account:{self._account}", self._account_rate), ("all", self._installation_rate)):
                keys.append(f"other-sites:{scope}:{subject}")
                limits += [rate.interval_us, rate.max_burst * rate.interval_us]
        for batch in dict.fromkeys((number, 1)):
            exceeded_key = self._try_to_reserve(keys, [batch, *limits])
            if not exceeded_key:
                return batch
        is_account_limit = exceeded_key % 2 == 1
        count(OTHER_SITES_REFUSED, "account" if is_account_limit else "installation")
        raise BudgetExceeded(
            self._refusal(
                host,
                port,
                self._account_rate if is_account_limit else self._installation_rate,
                is_account_limit=is_account_limit,
            )
        )

    def _refusal(self, host: str, port: int, rate: Rate, *, is_account_limit: bool) -> str:
        domain = _domain_of_host(host, port)
        whose = "one account" if is_account_limit else "this installation"
        reason = (
            f"{host} has another address than {self._scanned_host}"
            if domain == self._scanned_domain
            else f"Nobody requested a scan of {domain}"
        )
        return (
            f"{reason}, and {whose} sends it at most {rate.max_burst:,} requests at once, "
            f"then {rate.max_per_minute:g} a minute."
        )

    def _try_to_reserve(self, keys: list[str], arguments: list[int]) -> int:
        """Return 0 if all budgets allow the requests.

        Otherwise, returns the position of the first exceeded budget, counted from 1.
        """
        if self._is_redis_down:
            return 0
        try:
            exceeded_key: int = _run_reserve_script(keys=keys, args=arguments)
        except redis.RedisError as error:
            outage.begin(error)
            # After a Redis error, further requests do not wait for a timeout.
            self._is_redis_down = True
            return 0
        outage.end()
        return exceeded_key


def _domain_of_host(host: str, port: int) -> str:
    name = f"[{host}]" if ":" in host else host
    return domain_of(name if port in DEFAULT_PORTS.values() else f"{name}:{port}")


_run_reserve_script: Callable[..., Any] = _redis.register_script(RESERVE_REQUESTS)
