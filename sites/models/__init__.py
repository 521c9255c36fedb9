"""Models of audits, journeys, monitors, alerts, lists, badges and assessments."""

from sites.models.alert import Alert, Cause
from sites.models.assessment import (
    Assessment,
    AssessmentCount,
    AssessmentEvent,
    AssessmentFinding,
    AssessmentPage,
    AssessmentResult,
)
from sites.models.audit import UNFINISHED, Audit, AuditPage
from sites.models.audit_finding import AuditFinding, AuditPlace
from sites.models.badge import Badge
from sites.models.journey import Journey
from sites.models.journey_step import JourneyStep
from sites.models.list_import import ListImport, ListImportSite
from sites.models.list_run import ListComparison, ListCount, ListResult, ListRun, ListShare
from sites.models.maintenance import MaintenanceWindow
from sites.models.monitor import Monitor, MonitorRun, MonitorState
from sites.models.site_list import ListEntry, SiteList
from sites.models.site_state import SiteFinding, SiteState

__all__ = [
    "UNFINISHED",
    "Alert",
    "Assessment",
    "AssessmentCount",
    "AssessmentEvent",
    "AssessmentFinding",
    "AssessmentPage",
    "AssessmentResult",
    "Audit",
    "AuditFinding",
    "AuditPage",
    "AuditPlace",
    "Badge",
    "Cause",
    "Journey",
    "JourneyStep",
    "ListComparison",
    "ListCount",
    "ListEntry",
    "ListImport",
    "ListImportSite",
    "ListResult",
    "ListRun",
    "ListShare",
    "MaintenanceWindow",
    "Monitor",
    "MonitorRun",
    "MonitorState",
    "SiteFinding",
    "SiteList",
    "SiteState",
]
