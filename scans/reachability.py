"""Reachability test of a target before its scan is accepted.

Anybody can name a host that drops packets, and each test blocks a thread of the web process. So tests have a short
timeout, few run at once, and failures are cached; beyond that a scan is accepted untested, and its worker finds out.
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

# Time limit for name resolution and connection together; a lost packet is sent again after a second.
TIMEOUT_S = 2.0
# Maximum number of concurrent tests in this process, which has four threads or more.
AT_ONCE = 2
REMEMBERED_S = 30
# Quicker failures are not cached: a retry costs nothing, and the site may have been fixed.
QUICK_S = 0.5

_lock = threading.Lock()
_looking: Counter[int] = Counter()

# A scheme, valid or not; an address without one begins with a host, perhaps with a port.
_SCHEME = re.compile(r"https?:|[a-z][a-z0-9+.-]*://", re.IGNORECASE)


def has_scheme(address: str) -> bool:
    """Return True if an address as people type it has a scheme."""
    return _SCHEME.match(address) is not None


def with_scheme(address: str, policy: Policy, organization_id: int) -> str:
    """Return an address without a scheme with https:// in front, or http:// if the site does not support TLS.

    Connects to find out. Uses https if too many tests are running, or nothing answers. Raises InvalidUrl or Blocked.
    """
    secure, plain = (parse_target(f"{scheme}://{address}", policy) for scheme in ("https", "http"))
    with place(organization_id) as has_place:
        if has_place and not _speaks_tls(secure) and _is_reachable(plain):
            return plain.url
    return secure.url


def _speaks_tls(target: Target) -> bool:
    try:
        with Network(target.policy, time_limit_s=TIMEOUT_S) as network:
            network.fetch(Request(target, method="HEAD", verify=False, max_bytes=0))
    except Untrusted:
        return True
    except (NotReachable, TlsFailed):
        return False
    except Blocked:
        raise
    except NetError:  # a late or invalid response still shows that TLS works
        return True
    return True


def _is_reachable(target: Target) -> bool:
    try:
        with Network(target.policy, time_limit_s=TIMEOUT_S) as network:
            network.reach(target, timeout_s=TIMEOUT_S)
    except NotReachable:
        return False
    return True


def looking(organization_id: int) -> int:
    """Count the organization's running tests in this process: each counts for the concurrency limit, like its scan."""
    return _looking[organization_id]


def refuse_unreachable(target: Target, organization_id: int) -> list[str] | None:
    """Connect to a target, and return its addresses (`address_of`). Raises NotReachable, Blocked or InvalidUrl.

    Skips the test and returns None if too many are running.
    """
    key = _key(target)
    if (message := _remembered(key)) is not None:
        raise NotReachable(message)
    with place(organization_id) as has_place:
        if not has_place:
            return None
        began = time.monotonic()
        try:
            with Network(target.policy, time_limit_s=TIMEOUT_S) as network:
                network.reach(target, timeout_s=TIMEOUT_S)
                return known_addresses(network, target)
        except NotReachable as error:
            if time.monotonic() - began > QUICK_S:
                _remember(key, str(error))
            raise


@contextmanager
def place(organization_id: int) -> Iterator[bool]:
    """Reserve a slot for a reachability test; yields False if too many tests are running."""
    with _lock:
        has_place = _looking.total() < AT_ONCE
        if has_place:
            _looking[organization_id] += 1
    try:
        yield has_place
    finally:
        if has_place:
            with _lock:
                _looking[organization_id] -= 1
                if not _looking[organization_id]:
                    del _looking[organization_id]


def _key(target: Target) -> str:
    return f"unreachable:{hashlib.sha256(f'{target.host}:{target.port}'.encode()).hexdigest()}"


def _remembered(key: str) -> str | None:
    try:
        message: str | None = cache.get(key)
    except RedisError:
        return None
    return message


def _remember(key: str, message: str) -> None:
    try:
        cache.set(key, message, REMEMBERED_S)
    except RedisError:
        return
