"""Models of scans, queue turns, counters, the blocklist and idempotency records."""

from scans.models.categories import WithCategories, stored_categories
from scans.models.credentials import WithCredentials, credential_columns
from scans.models.records import BlockedDomain, DomainTurn, EndedScan, IdempotencyRecord, ScanCount, ScanTally, Turn
from scans.models.requirements import WithRequirements, stored_requirements
from scans.models.scan import INDEXED_URL_LENGTH, KEPT, SCAN_LEASE, WITHOUT_LEASE, Scan, path_of, report_path
from scans.models.viewing import WithViewing, stored_viewing

__all__ = [
    "INDEXED_URL_LENGTH",
    "KEPT",
    "SCAN_LEASE",
    "WITHOUT_LEASE",
    "BlockedDomain",
    "DomainTurn",
    "EndedScan",
    "IdempotencyRecord",
    "Scan",
    "ScanCount",
    "ScanTally",
    "Turn",
    "WithCategories",
    "WithCredentials",
    "WithRequirements",
    "WithViewing",
    "credential_columns",
    "path_of",
    "report_path",
    "stored_categories",
    "stored_requirements",
    "stored_viewing",
]  # fmt: skip
