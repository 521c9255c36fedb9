"""Services that create, change and delete maintenance windows, and record them in the activity log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from accounts import access, activity, usage
from accounts.access import Lock
from accounts.authentication import Caller
from sites.models import MaintenanceWindow
from sites.resources import MAINTENANCE_WINDOW
from website_scan.errors import Refusal

MAX_WINDOWS = 100


class MaintenanceLimit(Refusal):
    """Raised when the organization has the maximum number of maintenance windows."""

    code = "MAINTENANCE_LIMIT"
    status = 409


def windows_of(organization_id: int) -> QuerySet[MaintenanceWindow]:
    """Return the organization's windows, latest start first."""
    return access.rows(MaintenanceWindow, organization_id).order_by("-starts_at", "-id")


def create_window(*, caller: Caller, columns: Mapping[str, Any]) -> MaintenanceWindow:
    """Create a window with these columns. Raises MaintenanceLimit."""
    with transaction.atomic():
        usage.lock(caller.organization_id)
        if windows_of(caller.organization_id).count() >= MAX_WINDOWS:
            raise MaintenanceLimit(f"An organization may have {MAX_WINDOWS} maintenance windows. Delete one first.")
        window = MaintenanceWindow.objects.create(
            organization_id=caller.organization_id,
            created_by_id=caller.member.user_id if caller.member else None,
            **columns,
        )
        activity.record_by_caller(caller, "maintenance.created", window.name)
    return window


def change_window(*, caller: Caller, window_id: str, columns: Mapping[str, Any]) -> MaintenanceWindow:
    """Change columns of a window. Raises NotFound."""
    with transaction.atomic():
        window = MAINTENANCE_WINDOW.find(caller.organization_id, window_id, lock=Lock.CHANGE)
        changed = [name for name, value in columns.items() if getattr(window, name) != value]
        for name in changed:
            setattr(window, name, columns[name])
        if changed:
            window.save(update_fields=changed)
            activity.record_by_caller(caller, "maintenance.changed", window.name)
    return window


def delete_window(*, caller: Caller, window_id: str) -> None:
    """Delete a window, which sends the alerts that it holds. Raises NotFound."""
    with transaction.atomic():
        window = MAINTENANCE_WINDOW.find(caller.organization_id, window_id, lock=Lock.DELETION)
        window.delete()
        activity.record_by_caller(caller, "maintenance.deleted", window.name)
