"""Models of audits, monitors and badges."""

from sites.models.audit import UNFINISHED, Audit, AuditFinding, AuditPage, AuditPlace
from sites.models.badge import Badge
from sites.models.monitor import Monitor, MonitorRun, MonitorState

__all__ = [
    "UNFINISHED",
    "Audit",
    "AuditFinding",
    "AuditPage",
    "AuditPlace",
    "Badge",
    "Monitor",
    "MonitorRun",
    "MonitorState",
]
