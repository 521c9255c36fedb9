"""Reachability test that a target must pass before its scan is accepted.

Anybody can submit a host that drops packets, and each test blocks a thread of the web process. So tests have a short
timeout, few run at once, and failures are cached. If too many tests are running, the scan is accepted without a test.
"""

from __future__ import annotations

import hashlib
import re
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from django.core.cache import cache
from redis.exceptions import RedisError

from scans.addresses import known_addresses
from website_scan.net.client import Network
from website_scan.net.errors import Blocked, NetError, NotReachable, TlsFailed, Untrusted
from website_scan.net.http.request import Request
from website_scan.net.policy import Policy
from website_scan.net.targets import Target, parse_target

# Time limit for DNS and TCP together. TCP retransmits a lost packet after one second.
TEST_TIMEOUT_S = 2.0
# Maximum number of concurrent tests in this process, which has at least four threads.
MAX_CONCURRENT_TESTS = 2
FAILURE_CACHE_TIME_S = 30
# Failures that take less time are not cached, because a retry costs little and the site may have been repaired.
QUICK_FAILURE_S = 0.5

_lock = threading.Lock()
_running_tests: Counter[int] = Counter()

# Regular expression for the scheme of a URL, supported or not. Without a scheme, an address begins with a host, perhaps
# with a port.
_SCHEME = re.compile(r"https?:|[a-z][a-z0-9+.-]*://", re.IGNORECASE)


def has_scheme(address: str) -> bool:
    """Return True if the entered address has a scheme."""
    return _SCHEME.match(address) is not None


def complete_url(address: str, policy: Policy, organization_id: int) -> str:
    """Return the URL for an address without a scheme.

    The scheme is https, or http if the site has no TLS. Connects to the site to test TLS. Chooses https if too many
    tests are running or the site does not respond. Raises InvalidUrl or Blocked.
    """
    secure, plain = (parse_target(f"{scheme}://{address}", policy) for scheme in ("https", "http"))
    with reserve_slot(organization_id) as has_slot:
        if has_slot and not _supports_tls(secure) and _is_reachable(plain):
            return plain.url
    return secure.url


def _supports_tls(target: Target) -> bool:
    try:
        with Network(target.policy, time_limit_s=TEST_TIMEOUT_S) as network:
            network.fetch(Request(target, method="HEAD", verify=False, max_bytes=0))
    except Untrusted:
        return True
    except (NotReachable, TlsFailed):
        return False
    except Blocked:
        raise
    except NetError:
        # A late or invalid response also proves that the server supports TLS.
        return True
    return True


def _is_reachable(target: Target) -> bool:
    try:
        with Network(target.policy, time_limit_s=TEST_TIMEOUT_S) as network:
            network.reach(target, timeout_s=TEST_TIMEOUT_S)
    except NotReachable:
        return False
    return True


def running_tests(organization_id: int) -> int:
    """Return how many reachability tests the organization has running in this process.

    They count for its concurrency limit.
    """
    return _running_tests[organization_id]


def refuse_unreachable(target: Target, organization_id: int) -> list[str] | None:
    """Connect to a target and return its addresses in the format of `address_of`.

    Raises NotReachable, Blocked or InvalidUrl. Returns None without a test if too many tests are running.
    """
    key = _cache_key(target)
    if (message := _cached_failure(key)) is not None:
        raise NotReachable(message)
    with reserve_slot(organization_id) as has_slot:
        if not has_slot:
            return None
        started = time.monotonic()
        try:
            with Network(target.policy, time_limit_s=TEST_TIMEOUT_S) as network:
                network.reach(target, timeout_s=TEST_TIMEOUT_S)
                return known_addresses(network, target)
        except NotReachable as error:
            if time.monotonic() - started > QUICK_FAILURE_S:
                _cache_failure(key, str(error))
            raise


@contextmanager
def reserve_slot(organization_id: int) -> Iterator[bool]:
    """Reserve a slot for a reachability test.

    Yields False if too many tests are running.
    """
    with _lock:
        has_slot = _running_tests.total() < MAX_CONCURRENT_TESTS
        if has_slot:
            _running_tests[organization_id] += 1
    try:
        yield has_slot
    finally:
        if has_slot:
            with _lock:
                _running_tests[organization_id] -= 1
                if not _running_tests[organization_id]:
                    del _running_tests[organization_id]


def _cache_key(target: Target) -> str:
    return f"unreachable:{hashlib.sha256(f'{target.host}:{target.port}'.encode()).hexdigest()}"


def _cached_failure(key: str) -> str | None:
    try:
        message: str | None = cache.get(key)
    except RedisError:
        return None
    return message


def _cache_failure(key: str, message: str) -> None:
    try:
        cache.set(key, message, FAILURE_CACHE_TIME_S)
    except RedisError:
        return
