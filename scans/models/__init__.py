"""The tables of scans and audits."""

from scans.models.audit import Audit, AuditFinding, AuditPage
from scans.models.records import BlockedDomain, IdempotencyRecord, ScanCount, Turn
from scans.models.scan import LONGEST_LEASE, WITHOUT_LEASE, Scan, is_kept, path_of, sealed

__all__ = [
    "LONGEST_LEASE", "WITHOUT_LEASE", "Audit", "AuditFinding", "AuditPage", "BlockedDomain", "IdempotencyRecord",
    "Scan", "ScanCount", "Turn", "is_kept", "path_of", "sealed",
]  # fmt: skip
