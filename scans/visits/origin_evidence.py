"""Redis cache for the evidence of an origin.

The visits of an audit share it while the audit is running.
"""

from __future__ import annotations

from datetime import UTC, datetime

from scans.visits.audit_store import AuditStore
from website_scan.catalogue import Probe
from website_scan.evidence_cache import Kept

EVIDENCE_LIFETIME_S = 30 * 60
# Maximum compressed size of one probe's evidence, and of all evidence of an audit. Larger evidence is not cached.
MAX_PROBE_BYTES = 256 * 1024
MAX_BYTES_PER_AUDIT = 8 * 1024 * 1024


class OriginEvidence:
    """Cache for the origin evidence of one audit.

    Thread-safe. Implements `website_scan.evidence_cache.EvidenceCache`.

    No method raises an error: if Redis is down, visits request the evidence from the site again.
    """

    def __init__(self, audit_id: str) -> None:
        self._store = AuditStore(
            audit_id,
            "evidence",
            lifetime_s=EVIDENCE_LIFETIME_S,
            is_renewed=True,
            max_bytes=MAX_PROBE_BYTES,
            max_total_bytes=MAX_BYTES_PER_AUDIT,
        )

    def find(self, origin: str, probe: Probe) -> Kept | None:
        stored = self._store.find(probe.name, origin)
        return stored if isinstance(stored, Kept) else None

    def keep(self, origin: str, probe: Probe, evidence: object) -> None:
        self._store.store(probe.name, origin, Kept(evidence, datetime.now(UTC)))
