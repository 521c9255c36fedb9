"""Store in Redis for values that the visits of an audit share while the audit runs.

If Redis has lost a value, or does not answer, the visit requests it from the site again. Values are pickled and signed:
unpickling may execute code, so the signature proves that a process of this service wrote them for this place.
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

# Version of the format: other releases may pickle other shapes.
SHAPE = 4
SALT = "scans.visits.audit_store"


class AuditStore:
    """Values of one kind of one audit. Thread-safe; no method raises an error.

    A value is kept for `kept_s` seconds, and for as long again whenever it is read if `is_renewed`. `max_bytes` is the
    maximum compressed size of a value, and `max_total_bytes` of all that are added in such a time. Larger ones are not
    kept.
    """

    def __init__(
        self, audit_id: str, kind: str, *, kept_s: int, is_renewed: bool, max_bytes: int, max_total_bytes: int
    ) -> None:
        self._prefix = f"audit:{audit_id}:{SHAPE}:{kind}"
        self._kept_s = kept_s
        self._is_renewed = is_renewed
        self._max_bytes = max_bytes
        self._max_total_bytes = max_total_bytes
        # `cache` would be a separate object with its own connections in each thread of a visit.
        self._cache = caches["default"]

    def find(self, name: str, of: str) -> object | None:
        """Return the value with this name of what `of` says, such as an origin or a request; None if there is none."""
        key = self._key(name, of)
        try:
            text = self._cache.get(key)
            packed = _opened(key, text) if isinstance(text, str) else None
            if packed is None:
                return None
            if self._is_renewed:
                self._cache.touch(key, self._kept_s)
            found: object = pickle.loads(zlib.decompress(packed))  # noqa: S301  # signed by one of our own processes
        except RedisError:
            return None
        except Exception:
            logger.exception("%s could not be read", key)
            return None
        return found

    def keep(self, name: str, of: str, value: object) -> None:
        """Keep a value, unless there is one already."""
        key = self._key(name, of)
        try:
            packed = zlib.compress(pickle.dumps(value), 1)
            if len(packed) <= self._max_bytes and self._has_room(len(packed)):
                self._cache.add(key, _signed(key, packed), self._kept_s)
        except RedisError:
            return
        except Exception:
            logger.exception("%s could not be kept", key)

    def _has_room(self, size_bytes: int) -> bool:
        total = f"{self._prefix}:bytes"
        self._cache.add(total, 0, self._kept_s)
        if self._is_renewed:
            self._cache.touch(total, self._kept_s)
        try:
            return self._cache.incr(total, size_bytes) <= self._max_total_bytes
        except ValueError:  # it has just expired
            return False

    def _key(self, name: str, of: str) -> str:
        # Use a digest: an origin or a request may be longer than a key should be.
        return f"{self._prefix}:{name}:{hashlib.sha256(of.encode()).hexdigest()[:32]}"


def _signed(key: str, packed: bytes) -> str:
    return f"{_signature(key, packed)}:{base64.b64encode(packed).decode()}"


def _opened(key: str, text: str) -> bytes | None:
    """Return the content if its signature is valid for `key`, else None."""
    signature, _, encoded = text.partition(":")
    packed = base64.b64decode(encoded)
    return packed if constant_time_compare(signature, _signature(key, packed)) else None


def _signature(key: str, packed: bytes) -> str:
    return salted_hmac(SALT, key.encode() + b"\0" + packed, algorithm="sha256").hexdigest()
