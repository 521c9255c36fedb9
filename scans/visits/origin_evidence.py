"""Redis cache for the evidence of an origin, which the visits of an audit share while the audit runs."""

from __future__ import annotations

from datetime import UTC, datetime

from scans.visits.audit_store import AuditStore
from website_scan.catalogue import Probe
from website_scan.evidence_cache import Kept

LIFETIME_S = 30 * 60
# Maximum compressed size for one probe, and in total for an audit. Larger evidence is not cached.
MAX_BYTES = 256 * 1024
MAX_AUDIT_BYTES = 8 * 1024 * 1024


class OriginEvidence:
    """Evidence cache of one audit. Thread-safe. See `website_scan.evidence_cache.EvidenceCache`.

    No method raises an error: if Redis is down, visits request the evidence from the site again.
    """

    def __init__(self, audit_id: str) -> None:
        self._store = AuditStore(
            audit_id,
            "evidence",
            lifetime_s=LIFETIME_S,
            is_renewed=True,
            max_bytes=MAX_BYTES,
            max_total_bytes=MAX_AUDIT_BYTES,
        )

    def find(self, origin: str, probe: Probe) -> Kept | None:
        stored = self._store.find(probe.name, origin)
        return stored if isinstance(stored, Kept) else None

    def keep(self, origin: str, probe: Probe, evidence: object) -> None:
        self._store.store(probe.name, origin, Kept(evidence, datetime.now(UTC)))
