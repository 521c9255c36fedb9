"""What visits of an audit share: the evidence of an origin, in Redis, for as long as the audit runs.

Where Redis has lost it, or does not answer, it is gathered again. What is kept is pickled, as all of Django's cache is:
nobody but our own processes writes there.
"""

from __future__ import annotations

import logging
import pickle
import zlib
from datetime import UTC, datetime

from django.core.cache import cache
from redis import RedisError

from scans.engine.catalogue import Probe
from scans.engine.kept_evidence import Kept

logger = logging.getLogger(__name__)

KEPT_S = 30 * 60
# Compressed, of one probe; who answers with more for everything is asked again.
MAX_BYTES = 256 * 1024
# What processes of another release keep may have another shape.
SHAPE = 1


class OriginEvidence:
    """The evidence of one audit. Thread-safe. See `scans.engine.kept_evidence.KeptEvidence`."""

    def __init__(self, audit_id: str) -> None:
        self._audit_id = audit_id

    def find(self, origin: str, probe: Probe) -> Kept | None:
        key = self._key(origin, probe)
        try:
            packed = cache.get(key)
            if packed is None:
                return None
            cache.touch(key, KEPT_S)
            found = pickle.loads(zlib.decompress(packed))  # noqa: S301  # our own processes wrote it
        except RedisError:
            return None
        except Exception:
            logger.exception("what was kept of %s for %s could not be read", probe.name, self._audit_id)
            return None
        return found if isinstance(found, Kept) else None

    def keep(self, origin: str, probe: Probe, evidence: object) -> None:
        packed = zlib.compress(pickle.dumps(Kept(evidence, datetime.now(UTC))), 1)
        if len(packed) > MAX_BYTES:
            return
        try:
            cache.add(self._key(origin, probe), packed, KEPT_S)
        except RedisError:
            return  # the next visit gathers it again

    def _key(self, origin: str, probe: Probe) -> str:
        return f"audit:{self._audit_id}:{SHAPE}:{probe.name}:{origin}"
