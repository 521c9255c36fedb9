"""The tables of scans, audits and monitors."""

from scans.models.audit import UNFINISHED, Audit, AuditFinding, AuditPage
from scans.models.badge import Badge
from scans.models.keyed import Keyed, sealed
from scans.models.monitor import Monitor, MonitorRun, MonitorState
from scans.models.records import BlockedDomain, DomainTurn, EndedScan, IdempotencyRecord, ScanCount, ScanTally, Turn
from scans.models.scan import INDEXED_URL, KEPT, LONGEST_LEASE, WITHOUT_LEASE, Scan, path_of

__all__ = [
    "INDEXED_URL", "KEPT", "LONGEST_LEASE", "UNFINISHED", "WITHOUT_LEASE", "Audit", "AuditFinding", "AuditPage",
    "Badge", "BlockedDomain", "DomainTurn", "EndedScan", "IdempotencyRecord", "Keyed", "Monitor", "MonitorRun",
    "MonitorState", "Scan", "ScanCount", "ScanTally", "Turn", "path_of", "sealed",
]  # fmt: skip
