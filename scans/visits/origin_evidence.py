"""Cache in Redis for the evidence of an origin, which the visits of an audit share while the audit runs.

If Redis has lost it, or does not answer, it is gathered again. Entries are pickled and signed: unpickling may execute
code, so the signature proves that a process of this service wrote them.
"""

from __future__ import annotations

import base64
import hashlib
import logging
import pickle
import zlib
from datetime import UTC, datetime

from django.core.cache import caches
from django.utils.crypto import constant_time_compare, salted_hmac
from redis import RedisError

from scanner.catalogue import Probe
from scanner.kept_evidence import Kept

logger = logging.getLogger(__name__)

KEPT_S = 30 * 60
# Maximum compressed size for one probe, and in total for an audit. Larger evidence is gathered again.
MAX_BYTES = 256 * 1024
MAX_AUDIT_BYTES = 8 * 1024 * 1024
# Version of the format: other releases may pickle other shapes.
SHAPE = 2
SALT = "scans.visits.origin_evidence"


class OriginEvidence:
    """Evidence cache of one audit. Thread-safe. See `scanner.kept_evidence.KeptEvidence`.

    No method raises an error: on a cache miss, a visit only requests the evidence from the site again.
    """

    def __init__(self, audit_id: str) -> None:
        self._prefix = f"audit:{audit_id}:{SHAPE}"
        # `cache` would be a separate object with its own connections in each thread of a visit.
        self._cache = caches["default"]

    def find(self, origin: str, probe: Probe) -> Kept | None:
        key = self._key(origin, probe)
        try:
            text = self._cache.get(key)
            packed = _opened(key, text) if isinstance(text, str) else None
            if packed is None:
                return None
            self._cache.touch(key, KEPT_S)
            found = pickle.loads(zlib.decompress(packed))  # noqa: S301  # signed by one of our own processes
        except RedisError:
            return None
        except Exception:
            logger.exception("evidence of %s could not be read from %s", probe.name, key)
            return None
        return found if isinstance(found, Kept) else None

    def keep(self, origin: str, probe: Probe, evidence: object) -> None:
        key = self._key(origin, probe)
        try:
            packed = zlib.compress(pickle.dumps(Kept(evidence, datetime.now(UTC))), 1)
            if len(packed) <= MAX_BYTES and self._has_room(len(packed)):
                self._cache.add(key, _signed(key, packed), KEPT_S)
        except RedisError:
            return
        except Exception:
            logger.exception("evidence of %s could not be kept as %s", probe.name, key)

    def _has_room(self, size_bytes: int) -> bool:
        total = f"{self._prefix}:bytes"
        self._cache.add(total, 0, KEPT_S)
        self._cache.touch(total, KEPT_S)
        return self._cache.incr(total, size_bytes) <= MAX_AUDIT_BYTES

    def _key(self, origin: str, probe: Probe) -> str:
        # Use a digest: a host name may be longer than a key should be.
        return f"{self._prefix}:{probe.name}:{hashlib.sha256(origin.encode()).hexdigest()[:32]}"


def _signed(key: str, packed: bytes) -> str:
    return f"{_signature(key, packed)}:{base64.b64encode(packed).decode()}"


def _opened(key: str, text: str) -> bytes | None:
    """Return the content if its signature is valid for `key`, else None."""
    signature, _, encoded = text.partition(":")
    packed = base64.b64decode(encoded)
    return packed if constant_time_compare(signature, _signature(key, packed)) else None


def _signature(key: str, packed: bytes) -> str:
    return salted_hmac(SALT, key.encode() + b"\0" + packed, algorithm="sha256").hexdigest()
