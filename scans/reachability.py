"""Whether a target can be reached, looked at before its scan is accepted.

Hosts that swallow packets are free to name, and each look holds a thread of web while it waits. So looks are short, few
at once, and remembered; beyond that a scan is accepted unlooked at, and its worker finds out.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from django.core.cache import cache
from redis.exceptions import RedisError

from scans.net.client import Network
from scans.net.errors import NotReachable
from scans.net.targets import Target

# Name and connection together; a lost packet is sent again after a second.
TIMEOUT_S = 2.0
# In this process, which has four threads or more.
AT_ONCE = 2
REMEMBERED_S = 30
# What is refused sooner costs nothing to ask again, and may have been mended.
QUICK_S = 0.5

_lock = threading.Lock()
_looking: Counter[int] = Counter()


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
