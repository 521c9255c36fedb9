"""Redis cache for values that the visits of an audit share while the audit is running.

If Redis has lost a value or is down, the visit requests the data from the site again. Values are pickled, and
unpickling may execute code. So each value is signed: the signature proves that a process of this service stored it
under this key.
"""

from __future__ import annotations

import base64
import hashlib
import logging
import pickle
import zlib

from django.core.cache import caches
from django.utils.crypto import constant_time_compare, salted_hmac
from redis import RedisError

logger = logging.getLogger(__name__)

# Version of the stored format, because releases may pickle different classes.
FORMAT_VERSION = 5
SALT = "scans.visits.audit_store"


class AuditStore:
    """Redis cache for values of one kind that belong to one audit.

    Thread-safe. No method raises an error. A value is cached for `lifetime_s` seconds; if `is_renewed`, each reading
    restarts this time. `max_bytes` limits the compressed size of a value, and `max_total_bytes` the size of all values
    that are added in `lifetime_s` seconds. Larger values are not stored.
    """

    def __init__(
        self, audit_id: str, kind: str, *, lifetime_s: int, is_renewed: bool, max_bytes: int, max_total_bytes: int
    ) -> None:
        self._prefix = f"audit:{audit_id}:{FORMAT_VERSION}:{kind}"
        self._lifetime_s = lifetime_s
        self._is_renewed = is_renewed
        self._max_bytes = max_bytes
        self._max_total_bytes = max_total_bytes
        # `django.core.cache.cache` would open another connection in each thread of a visit.
        self._cache = caches["default"]

    def find(self, name: str, of: str) -> object | None:
        """Return the cached value `name` of the subject `of`, or None.

        The subject may be an origin or a request.
        """
        key = self._cache_key(name, of)
        try:
            text = self._cache.get(key)
            packed = _verify(key, text) if isinstance(text, str) else None
            if packed is None:
                return None
            if self._is_renewed:
                self._cache.touch(key, self._lifetime_s)
            # Unpickling is safe, because a process of this service has signed the value.
            value: object = pickle.loads(zlib.decompress(packed))  # noqa: S301
        except RedisError:
            return None
        except Exception:
            logger.exception("%s could not be read", key)
            return None
        return value

    def store(self, name: str, of: str, value: object) -> None:
        """Cache the value `name` of the subject `of`, unless one is already cached."""
        key = self._cache_key(name, of)
        try:
            packed = zlib.compress(pickle.dumps(value), 1)
            if len(packed) <= self._max_bytes and self._has_capacity(len(packed)):
                self._cache.add(key, _sign(key, packed), self._lifetime_s)
        except RedisError:
            return
        except Exception:
            logger.exception("%s could not be stored", key)

    def _has_capacity(self, size_bytes: int) -> bool:
        total = f"{self._prefix}:bytes"
        self._cache.add(total, 0, self._lifetime_s)
        if self._is_renewed:
            self._cache.touch(total, self._lifetime_s)
        try:
            return self._cache.incr(total, size_bytes) <= self._max_total_bytes
        except ValueError:  # The counter has just expired.
            return False

    def _cache_key(self, name: str, of: str) -> str:
        # The key contains a digest, because origins and requests may be too long for a Redis key.
        return f"{self._prefix}:{name}:{hashlib.sha256(of.encode()).hexdigest()[:32]}"


def _sign(key: str, packed: bytes) -> str:
    return f"{_signature(key, packed)}:{base64.b64encode(packed).decode()}"


def _verify(key: str, text: str) -> bytes | None:
    """Return the pickled content if its signature is valid for `key`, else None."""
    signature, _, encoded = text.partition(":")
    packed = base64.b64decode(encoded)
    return packed if constant_time_compare(signature, _signature(key, packed)) else None


def _signature(key: str, packed: bytes) -> str:
    return salted_hmac(SALT, key.encode() + b"\0" + packed, algorithm="sha256").hexdigest()
