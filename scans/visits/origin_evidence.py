"""Redis cache for the evidence of an origin.

The visits of an audit share it while the audit is running.
"""

from __future__ import annotations

import functools
import hashlib
import threading
from datetime import UTC, datetime

from scans.visits.audit_store import MAX_CACHED_AUDITS, AuditStore
from website_scan.catalogue import Probe
from website_scan.evidence_cache import Kept

EVIDENCE_LIFETIME_S = 30 * 60
# Maximum compressed size of one probe's evidence, and of all evidence of an audit. Larger evidence is not cached.
MAX_PROBE_BYTES = 256 * 1024
MAX_BYTES_PER_AUDIT = 8 * 1024 * 1024


class OriginEvidence:
    """Cache for the origin evidence of one audit, as one visit sees it.

    Thread-safe. Implements `website_scan.evidence_cache.EvidenceCache`. The first look-up reads all evidence of the
    origin, because a visit needs most of it.

    No method raises an error: if Redis is down, visits request the evidence from the site again.
    """

    def __init__(self, audit_id: str) -> None:
        self._store = _store_of_audit(audit_id)
        self._lock = threading.Lock()
        self._packed: dict[str, dict[str, bytes]] = {}

    def find(self, origin: str, probe: Probe) -> Kept | None:
        group = _group_name(origin)
        with self._lock:
            if group not in self._packed:
                self._packed[group] = dict(self._store.find_group(group))
            data = self._packed[group].pop(probe.name, None)
        # A concurrent visit may have stored the evidence since then.
        data = data or self._store.find_member(group, probe.name)
        stored = self._store.unpack_member(group, probe.name, data) if data else None
        return stored if isinstance(stored, Kept) else None

    def keep(self, origin: str, probe: Probe, evidence: object) -> None:
        self._store.store_member(_group_name(origin), probe.name, Kept(evidence, datetime.now(UTC)))


@functools.lru_cache(MAX_CACHED_AUDITS)
def _store_of_audit(audit_id: str) -> AuditStore:
    return AuditStore(
        audit_id,
        "evidence",
        lifetime_s=EVIDENCE_LIFETIME_S,
        max_bytes=MAX_PROBE_BYTES,
        max_total_bytes=MAX_BYTES_PER_AUDIT,
    )


def _group_name(origin: str) -> str:
    """Return a name with a digest, because origins may be too long for a Redis key."""
    return hashlib.sha256(origin.encode()).hexdigest()[:32]
