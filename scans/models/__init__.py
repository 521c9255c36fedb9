"""Models of scans, turns in queues, counters, the blocklist and idempotency records."""

from scans.models.keyed import Keyed, sealed
from scans.models.records import BlockedDomain, DomainTurn, EndedScan, IdempotencyRecord, ScanCount, ScanTally, Turn
from scans.models.scan import INDEXED_URL, KEPT, SCAN_LEASE, WITHOUT_LEASE, Scan, path_of, report_path

__all__ = [
    "INDEXED_URL", "KEPT", "SCAN_LEASE", "WITHOUT_LEASE", "BlockedDomain", "DomainTurn", "EndedScan",
    "IdempotencyRecord", "Keyed", "Scan", "ScanCount", "ScanTally", "Turn", "path_of",
    "report_path", "sealed",
]  # fmt: skip
