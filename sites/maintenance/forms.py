"""Form for a maintenance window, with local times."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from django import forms
from django.http import QueryDict

from accounts import access
from infrastructure.time_zones import time_zones
from infrastructure.web.forms import HintedLabel, RefusalForm, TicksField
from sites.maintenance.requests import MAX_MONITORS
from sites.models import MaintenanceWindow, Monitor
from sites.models.monitor import MAX_NAME_LENGTH
from sites.schedule import utc_moment_at

LOCAL_FORMAT = "%Y-%m-%dT%H:%M"
LOCAL_INPUT = {"type": "datetime-local"}


class WindowForm(RefusalForm):
    name = forms.CharField(label="Name", max_length=MAX_NAME_LENGTH)
    starts_at = forms.DateTimeField(
        label="From", input_formats=[LOCAL_FORMAT], widget=forms.DateTimeInput(attrs=LOCAL_INPUT, format=LOCAL_FORMAT)
    )
    ends_at = forms.DateTimeField(
        label="To", input_formats=[LOCAL_FORMAT], widget=forms.DateTimeInput(attrs=LOCAL_INPUT, format=LOCAL_FORMAT)
    )
    # The field is not a ChoiceField, because the template renders the 600 time zones.
    timezone = forms.CharField(label="Time zone", max_length=64)
    weekly = forms.BooleanField(label="Repeat every week at the same local time", required=False)
    sites = forms.CharField(
        label="Sites",
        required=False,
        max_length=40_000,
        help_text="One host per line, such as www.example.com. Without sites and monitors, the window is for all.",
        widget=forms.Textarea(attrs={"rows": 3, "autocapitalize": "none", "spellcheck": "false"}),
    )
    monitors = TicksField([], label="Monitors")

    def __init__(self, data: QueryDict | None, *, organization_id: int, window: MaintenanceWindow | None) -> None:
        super().__init__(data, initial=_initial(window))
        monitors = access.rows(Monitor, organization_id).order_by("name", "id")[:MAX_MONITORS]
        field = self.fields["monitors"]
        assert isinstance(field, TicksField)
        field.choices = [(monitor.id, HintedLabel(monitor.name, monitor.url[:100])) for monitor in monitors]

    def clean_timezone(self) -> str:
        name: str = self.cleaned_data["timezone"]
        if name not in time_zones():
            raise forms.ValidationError("Choose a time zone from the list.")
        return name

    @property
    def body(self) -> dict[str, Any]:
        """Return the body of an API request with the values of the valid form."""
        values = self.cleaned_data
        zone = ZoneInfo(values["timezone"])
        return {
            "name": values["name"],
            "starts_at": _moment(values["starts_at"], zone),
            "ends_at": _moment(values["ends_at"], zone),
            "weekly": values["weekly"],
            "timezone": values["timezone"],
            "sites": values["sites"].split(),
            "monitors": values["monitors"],
        }


def _moment(value: datetime, zone: ZoneInfo) -> str:
    """Return the entered local time as a UTC timestamp. Django has read it as a time in UTC."""
    local = value.astimezone(UTC)
    return utc_moment_at(local.date(), local.time(), zone).strftime("%Y-%m-%dT%H:%M:%SZ")


def _initial(window: MaintenanceWindow | None) -> dict[str, Any]:
    if window is None:
        return {"timezone": "UTC"}
    zone = ZoneInfo(window.timezone)
    return {
        "name": window.name,
        "starts_at": window.starts_at.astimezone(zone).strftime(LOCAL_FORMAT),
        "ends_at": window.ends_at.astimezone(zone).strftime(LOCAL_FORMAT),
        "timezone": window.timezone,
        "weekly": window.is_weekly,
        "sites": "\n".join(window.sites),
        "monitors": window.monitors,
    }
