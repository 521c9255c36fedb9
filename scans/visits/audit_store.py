"""Redis cache for values that the visits of an audit share while the audit is running.

If Redis has lost a value or is down, the visit requests the data from the site again. Values are pickled, and
unpickling may execute code. So each value is signed: the signature proves that a process of this service stored it
under this name.

A page of an audit reads and stores many values. So that it needs few Redis commands, the values of a group are read
together, and each process reserves storage for many values at once.
"""

from __future__ import annotations

import hashlib
import logging
import pickle
import threading
import time
import zlib
from collections.abc import Callable, Mapping
from typing import Any

import redis
from django.utils.crypto import constant_time_compare, salted_hmac

from infrastructure.redis_client import client as _redis

logger = logging.getLogger(__name__)

# Version of the stored format, because releases may pickle different classes.
FORMAT_VERSION = 6
MAX_CACHED_AUDITS = 2  # Number of audits whose data a process caches in memory.
SALT = "scans.visits.audit_store"
SIGNATURE_BYTES = hashlib.sha256().digest_size
# A process reserves at most this share of an audit's storage at once. The unused rest of its reservation is lost to
# other processes, so the share is small.
RESERVED_SHARE = 1 / 64

# Arguments: the required and the wanted number of bytes, the maximum of the total, and its lifetime in milliseconds.
# Returns the number of reserved bytes, which is 0 if fewer than required are left, and the rest of the lifetime.
RESERVE_BYTES = """
    local total = tonumber(redis.call('GET', KEYS[1]) or 0)
    local reserved = math.min(math.max(ARGV[1], ARGV[2]), ARGV[3] - total)
    if reserved < tonumber(ARGV[1]) then return {0, 0} end
    if total == 0 then
        redis.call('SET', KEYS[1], reserved, 'PX', ARGV[4])
        return {reserved, tonumber(ARGV[4])}
    end
    redis.call('INCRBY', KEYS[1], reserved)
    return {reserved, redis.call('PTTL', KEYS[1])}
"""


class AuditStore:
    """Redis cache for values of one kind that belong to one audit.

    Thread-safe. No method raises an error. A value is cached for `lifetime_s` seconds; reading a group restarts this
    time for all its values. `max_bytes` limits the compressed size of a value, and `max_total_bytes` the size of all
    values that are added in `lifetime_s` seconds. Larger values are not stored.
    """

    def __init__(self, audit_id: str, kind: str, *, lifetime_s: int, max_bytes: int, max_total_bytes: int) -> None:
        self._prefix = f"audit:{audit_id}:{FORMAT_VERSION}:{kind}"
        self._lifetime_s = lifetime_s
        self._total_key = self._key("bytes")
        self._max_bytes = max_bytes
        self._max_total_bytes = max_total_bytes
        self._lock = threading.Lock()
        self._reserved_bytes = 0
        self._reserved_until = 0.0

    def find(self, name: str) -> object | None:
        """Return the cached value with this name, or None."""
        key = self._key(name)
        try:
            data = _redis.get(key)
        except redis.RedisError:
            return None
        return _unpack(key, data) if isinstance(data, bytes) else None

    def store(self, name: str, value: object) -> None:
        """Cache a value under this name, unless one is already cached."""
        key = self._key(name)
        if (data := self._pack(key, value)) is not None:
            try:
                _redis.set(key, data, nx=True, ex=self._lifetime_s)
            except redis.RedisError:
                return

    def find_group(self, group: str) -> Mapping[str, bytes]:
        """Return the packed values of a group by name, for `unpack_member`.

        Restarts the lifetime of the group.
        """
        key = self._key(group)
        try:
            with _redis.pipeline(transaction=False) as pipeline:
                pipeline.hgetall(key)
                pipeline.expire(key, self._lifetime_s)
                pipeline.expire(self._total_key, self._lifetime_s)
                members: dict[bytes, bytes] = pipeline.execute()[0]
        except redis.RedisError:
            return {}
        return {name.decode(errors="replace"): data for name, data in members.items()}

    def find_member(self, group: str, name: str) -> bytes | None:
        """Return the packed value of one member of a group, or None."""
        try:
            data = _redis.hget(self._key(group), name)
        except redis.RedisError:
            return None
        return data if isinstance(data, bytes) else None

    def unpack_member(self, group: str, name: str, data: bytes) -> object | None:
        """Return the value of a member of a group, or None if its signature is invalid."""
        return _unpack(f"{self._key(group)}:{name}", data)

    def store_member(self, group: str, name: str, value: object) -> None:
        """Cache a value as a member of a group, unless the group already has one of this name."""
        key = self._key(group)
        if (data := self._pack(f"{key}:{name}", value)) is not None:
            try:
                with _redis.pipeline(transaction=False) as pipeline:
                    pipeline.hsetnx(key, name, data)
                    pipeline.expire(key, self._lifetime_s)
                    pipeline.execute()
            except redis.RedisError:
                return

    def _key(self, name: str) -> str:
        return f"{self._prefix}:{name}"

    def _pack(self, key: str, value: object) -> bytes | None:
        """Return the signed and compressed value, or None if it may not be stored."""
        try:
            packed = zlib.compress(pickle.dumps(value), 1)
        except Exception:
            logger.exception("%s could not be stored", key)
            return None
        if len(packed) > self._max_bytes or not self._reserve(len(packed)):
            return None
        return _signature(key, packed) + packed

    def _reserve(self, size_bytes: int) -> bool:
        """Return True if the audit may store this many bytes more."""
        if self._use_reservation(0, size_bytes):
            return True
        limits = [size_bytes, round(self._max_total_bytes * RESERVED_SHARE), self._max_total_bytes]
        try:
            reserved_bytes, ends_in_ms = _run_reserve_script(
                keys=[self._total_key], args=[*limits, self._lifetime_s * 1000]
            )
        except redis.RedisError:
            return False
        return self._use_reservation(reserved_bytes, size_bytes, ends_in_ms / 1000)

    def _use_reservation(self, added_bytes: int, size_bytes: int, ends_in_s: float = 0) -> bool:
        """Add bytes to the reservation of this process, and use some of them if they suffice.

        A reservation ends with the lifetime of the total that it belongs to, so that the next total is not exceeded.
        """
        now = time.monotonic()
        with self._lock:
            if now >= self._reserved_until:
                self._reserved_bytes = 0
            if added_bytes:
                self._reserved_bytes += added_bytes
                self._reserved_until = now + ends_in_s
            if size_bytes > self._reserved_bytes:
                return False
            self._reserved_bytes -= size_bytes
            return True


def _unpack(key: str, data: bytes) -> object | None:
    """Return the value if its signature is valid for `key`, else None."""
    signature, packed = data[:SIGNATURE_BYTES], data[SIGNATURE_BYTES:]
    if not constant_time_compare(signature, _signature(key, packed)):
        return None
    try:
        # Unpickling is safe, because a process of this service has signed the value.
        value: object = pickle.loads(zlib.decompress(packed))  # noqa: S301
    except Exception:
        logger.exception("%s could not be read", key)
        return None
    return value


def _signature(key: str, packed: bytes) -> bytes:
    return salted_hmac(SALT, key.encode() + b"\0" + packed, algorithm="sha256").digest()


_run_reserve_script: Callable[..., Any] = _redis.register_script(RESERVE_BYTES)
