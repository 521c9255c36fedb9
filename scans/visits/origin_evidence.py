"""What visits of an audit share: the evidence of an origin, in Redis, for as long as the audit runs.

Where Redis has lost it, or does not answer, it is gathered again. What is kept is pickled, and signed: unpickling runs
what stands there, so it has to be what one of our own processes wrote.
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
# Compressed: of one probe, and of an audit in all. Who answers with more is asked again.
MAX_BYTES = 256 * 1024
MAX_AUDIT_BYTES = 8 * 1024 * 1024
# What processes of another release keep may have another shape.
SHAPE = 2
SALT = "scans.visits.origin_evidence"


class OriginEvidence:
    """The evidence of one audit. Thread-safe. See `scanner.kept_evidence.KeptEvidence`.

    Nothing is raised here: without what is kept, a visit only asks the site once more.
    """

    def __init__(self, audit_id: str) -> None:
        self._prefix = f"audit:{audit_id}:{SHAPE}"
        # `cache` would be another one, with connections of its own, in each thread of a visit.
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
        # By digest: the name of a host may be longer than a key should be.
        return f"{self._prefix}:{probe.name}:{hashlib.sha256(origin.encode()).hexdigest()[:32]}"


def _signed(key: str, packed: bytes) -> str:
    return f"{_signature(key, packed)}:{base64.b64encode(packed).decode()}"


def _opened(key: str, text: str) -> bytes | None:
    """What was kept as `key`; None where somebody else wrote it, or it was kept as something else."""
    signature, _, encoded = text.partition(":")
    packed = base64.b64decode(encoded)
    return packed if constant_time_compare(signature, _signature(key, packed)) else None


def _signature(key: str, packed: bytes) -> str:
    return salted_hmac(SALT, key.encode() + b"\0" + packed, algorithm="sha256").hexdigest()
