"""Models of audits, monitors, lists and badges."""

from sites.models.audit import UNFINISHED, Audit, AuditFinding, AuditPage, AuditPlace
from sites.models.badge import Badge
from sites.models.list_run import ListCount, ListResult, ListRun, ListShare
from sites.models.monitor import Monitor, MonitorRun, MonitorState
from sites.models.site_list import ListEntry, SiteList
from sites.models.site_state import SiteFinding, SiteState

__all__ = [
    "UNFINISHED",
    "Audit",
    "AuditFinding",
    "AuditPage",
    "AuditPlace",
    "Badge",
    "ListCount",
    "ListEntry",
    "ListResult",
    "ListRun",
    "ListShare",
    "Monitor",
    "MonitorRun",
    "MonitorState",
    "SiteFinding",
    "SiteList",
    "SiteState",
]
