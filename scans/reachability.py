"""Whether a target can be reached, looked at before its scan is accepted.

Hosts that swallow packets are free to name, and each look holds a thread of web while it waits. So looks are short, few
at once, and remembered; beyond that a scan is accepted unlooked at, and its worker finds out.
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

from scanner.net.client import Network
from scanner.net.errors import Blocked, NetError, NotReachable, TlsFailed, Untrusted
from scanner.net.policy import Policy
from scanner.net.targets import Target, parse_target

# Name and connection together; a lost packet is sent again after a second.
TIMEOUT_S = 2.0
# In this process, which has four threads or more.
AT_ONCE = 2
REMEMBERED_S = 30
# What is refused sooner costs nothing to ask again, and may have been mended.
QUICK_S = 0.5

_lock = threading.Lock()
_looking: Counter[int] = Counter()

# With a scheme of its own, if a wrong one; else a host, perhaps with a port, is what stands there.
_SCHEME = re.compile(r"https?:|[a-z][a-z0-9+.-]*://", re.IGNORECASE)


def has_scheme(address: str) -> bool:
    """Whether an address as people type it says how to reach it."""
    return _SCHEME.match(address) is not None


def with_scheme(address: str, policy: Policy, organization_id: int) -> str:
    """The address, which has none, with https:// in front; with http:// where only that is spoken there.

    Connects to see. Raises InvalidUrl or Blocked. Where too many looks are under way, or nothing answers: https.
    """
    secure, plain = (parse_target(f"{scheme}://{address}", policy) for scheme in ("https", "http"))
    with place(organization_id) as has_place:
        if has_place and not _speaks_tls(secure) and _is_reachable(plain):
            return plain.url
    return secure.url


def _speaks_tls(target: Target) -> bool:
    try:
        with Network(target.policy, time_limit_s=TIMEOUT_S) as network:
            network.fetch(target, method="HEAD", verify=False, max_bytes=0)
    except Untrusted:
        return True
    except (NotReachable, TlsFailed):
        return False
    except Blocked:
        raise
    except NetError:  # whoever answers late or oddly has been reached
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
    """How many of the organization's targets this process looks at: they take a place as their scans will."""
    return _looking[organization_id]


def refuse_unreachable(target: Target, organization_id: int) -> None:
    """Connect, nothing more. Raises NotReachable, Blocked or InvalidUrl; nothing where too many looks are under way."""
    key = _key(target)
    if (message := _remembered(key)) is not None:
        raise NotReachable(message)
    with place(organization_id) as has_place:
        if not has_place:
            return
        began = time.monotonic()
        try:
            with Network(target.policy, time_limit_s=TIMEOUT_S) as network:
                network.reach(target, timeout_s=TIMEOUT_S)
        except NotReachable as error:
            if time.monotonic() - began > QUICK_S:
                _remember(key, str(error))
            raise


@contextmanager
def place(organization_id: int) -> Iterator[bool]:
    """For a look at what a name leads to; False where too many are under way, so that there is none."""
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
