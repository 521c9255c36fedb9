"""Validation of requests to create and change maintenance windows, from the API and from the dashboard form."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from rest_framework import serializers

from accounts import access
from infrastructure.api.errors import InvalidParams
from infrastructure.api.inputs import Flag, Input, Moment, Parsed, path_of, refusal_as_error
from sites.inputs import name_field, zone_field
from sites.models import MaintenanceWindow, Monitor
from website_scan.urls import Url

MAX_DURATION = timedelta(days=31)
MAX_WEEKLY_DURATION = timedelta(days=6)
MAX_MONITORS, MAX_SITES = 100, 100
MAX_HOST_LENGTH = 300
MOMENT_RULE = "{name} must be a time such as 2026-11-28T22:00:00Z."
# Columns by the field of the request.
COLUMNS = {"weekly": "is_weekly"}


class Strings(Parsed, serializers.ListField):
    """Serializer field for a list of strings without duplicates."""

    def __init__(self, *, most: int, noun: str, **kwargs: Any) -> None:
        super().__init__(child=serializers.CharField(), max_length=most, required=False, **kwargs)
        self.rule = f"{{name}} must be a list of at most {most} {noun}."

    def to_internal_value(self, data: Any) -> list[str]:
        if not isinstance(data, list) or not all(isinstance(value, str) for value in data):
            raise serializers.ValidationError(self.rule.format(name=path_of(self)))
        values = list(dict.fromkeys(data))
        if len(values) > (self.max_length or 0):
            raise serializers.ValidationError(self.rule.format(name=path_of(self)))
        with refusal_as_error():
            return self.parse(values)

    def parse(self, values: list[str]) -> list[str]:
        raise NotImplementedError


class Monitors(Strings):
    """Serializer field for IDs of the organization's monitors."""

    def parse(self, values: list[str]) -> list[str]:
        texts = [value for value in values if value.isascii() and value.isprintable()]
        rows = access.rows(Monitor, self.context["organization_id"]).filter(id__in=texts)
        known = set(rows.values_list("id", flat=True))
        for position, value in enumerate(values, 1):
            if value not in known:
                raise InvalidParams(f"monitors: number {position} is not the ID of a monitor.", "monitors")
        return values


class Sites(Strings):
    """Serializer field for hosts, with their port unless it is the default."""

    def parse(self, values: list[str]) -> list[str]:
        hosts = []
        for position, value in enumerate(values, 1):
            url = Url.parse(f"https://{value}/") if value.isprintable() and len(value) <= MAX_HOST_LENGTH else None
            if url is None or url.path != "/" or url.query or url.fragment or url.has_credentials or "/" in value:
                raise InvalidParams(f"sites: number {position} is not a host such as www.example.com.", "sites")
            hosts.append(url.href.removeprefix("https://").removesuffix("/"))
        return list(dict.fromkeys(hosts))


class WindowFieldsSerializer(Input):
    """Body of PATCH /v1/maintenance/:id. Fields that are missing do not change."""

    name = name_field(required=False)
    starts_at = Moment(required=False, says=MOMENT_RULE.format(name="starts_at"))
    ends_at = Moment(required=False, says=MOMENT_RULE.format(name="ends_at"))
    weekly = Flag(required=False, help_text="Repeat every week at the same local time.")
    timezone = zone_field()
    monitors = Monitors(most=MAX_MONITORS, noun="monitor IDs", help_text="Monitors by ID.")
    sites = Sites(
        most=MAX_SITES, noun="hosts", help_text="Monitors of pages on these hosts. Without monitors and sites: all."
    )


class WindowRequestSerializer(WindowFieldsSerializer):
    """Body of POST /v1/maintenance."""

    name = name_field()
    starts_at = Moment(says=MOMENT_RULE.format(name="starts_at"))
    ends_at = Moment(says=MOMENT_RULE.format(name="ends_at"))


def parse_window(body: Mapping[str, object], organization_id: int) -> dict[str, Any]:
    """Validate the body of POST /v1/maintenance, and return the window's columns. Raises InvalidParams."""
    columns = _columns(WindowRequestSerializer.judged(body, organization_id=organization_id))
    refuse_invalid_duration(columns["starts_at"], columns["ends_at"], is_weekly=columns.get("is_weekly", False))
    return columns


def parse_change(body: Mapping[str, object], window: MaintenanceWindow) -> dict[str, Any]:
    """Validate the body of PATCH /v1/maintenance/:id, and return the changed columns. Raises InvalidParams."""
    columns = _columns(WindowFieldsSerializer.judged(body, organization_id=window.organization_id))
    starts_at, ends_at = columns.get("starts_at", window.starts_at), columns.get("ends_at", window.ends_at)
    refuse_invalid_duration(starts_at, ends_at, is_weekly=columns.get("is_weekly", window.is_weekly))
    return columns


def refuse_invalid_duration(starts_at: datetime, ends_at: datetime, *, is_weekly: bool) -> None:
    """Raise InvalidParams if the window ends before it starts, or is too long."""
    if ends_at <= starts_at:
        raise InvalidParams("ends_at must be after starts_at.", "ends_at")
    most = MAX_WEEKLY_DURATION if is_weekly else MAX_DURATION
    if ends_at - starts_at > most:
        kind = "weekly window" if is_weekly else "window"
        raise InvalidParams(f"A {kind} may last {most.days} days at most.", "ends_at")


def _columns(values: Mapping[str, Any]) -> dict[str, Any]:
    return {COLUMNS.get(name, name): value for name, value in values.items()}
