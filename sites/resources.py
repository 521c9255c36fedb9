"""Resources that users access by ID, such as audits and lists."""

from __future__ import annotations

from accounts.access import Resource
from sites.models import (
    Assessment,
    Audit,
    Badge,
    Journey,
    ListEntry,
    ListRun,
    ListShare,
    MaintenanceWindow,
    Monitor,
    MonitorRun,
    SiteList,
)

ASSESSMENT = Resource(Assessment, "asm", "assessment")
AUDIT = Resource(Audit, "aud", "audit")
BADGE = Resource(Badge, "bdg", "badge", related=("monitor",))
JOURNEY = Resource(Journey, "jny", "journey")
MAINTENANCE_WINDOW = Resource(MaintenanceWindow, "mnt", "window")
MONITOR = Resource(Monitor, "mon", "monitor", related=("organization__tier",))
MONITOR_RUN = Resource(MonitorRun, "run", "run")
LIST = Resource(SiteList, "lst", "list", related=("organization__tier",))
LIST_ENTRY = Resource(ListEntry, "ent", "entry")
LIST_RUN = Resource(ListRun, "run", "run")
LIST_SHARE = Resource(ListShare, "shr", "share")
SNAPSHOT = Resource(ListRun, "run", "snapshot", related=("site_list",), hint=". A run has one when it has ended.")
