"""Parsers of the bodies of POST and PATCH /v1/lists, and of a change of an entry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from rest_framework import serializers

from accounts.models import Interval, Tier
from infrastructure.api.errors import InvalidParams
from infrastructure.api.inputs import Choice, Chosen, Flag, Input, Parsed, Text, Whole, refused
from scans.models import Scan
from scans.serializers import CredentialsSerializer, InvalidType
from sites.lists.tags import MAX_TAGS, NOTE_LENGTH, tidy_note, tidy_tags
from sites.models import SiteList
from sites.models.monitor import NAME_LENGTH
from sites.models.site_list import ListInterval
from sites.recipients import NotifySerializer
from sites.schedule import PERIODS, time_zones
from website_scan.findings import ScanType
from website_scan.net.credentials import Credentials
from website_scan.net.policy import Policy

USUAL_WINDOW_HOURS, MAX_WINDOW_HOURS = 24, 7 * 24
# The shortest time between two runs; a month counts as its shortest, February.
PERIODS_OF_LISTS = {
    ListInterval.WEEK: PERIODS[Interval.WEEK],
    ListInterval.MONTH: PERIODS[Interval.MONTH],
    ListInterval.QUARTER: timedelta(days=90),
}


@dataclass(frozen=True, slots=True)
class ListRequest:
    """Parsed request: `columns` are the row's columns to set; `credentials` only count if `has_request`."""

    columns: dict[str, Any]
    has_request: bool
    credentials: Credentials | None


class Tags(Parsed, serializers.ListField):
    """The tags of an entry."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(child=serializers.CharField(), max_length=MAX_TAGS, **kwargs)

    def to_internal_value(self, data: Any) -> list[str]:
        if not isinstance(data, list) or not all(isinstance(each, str) for each in data):
            raise serializers.ValidationError(f"{self.field_name} must be a list of strings.")
        try:
            return list(tidy_tags(data))
        except InvalidParams as refusal:
            raise refused(refusal) from None


class ListFieldsSerializer(Input):
    """The fields that POST and PATCH have in common."""

    types = Chosen(
        Scan.Type.choices,
        required=False,
        says=f"types must be a list with one or more of {', '.join(Scan.Type.values)}.",
        code=InvalidType.code,
    )
    pages_per_entry = Whole(
        min_value=1,
        required=False,
        help_text="1 judges the address alone; more judge its site up to this number of pages.",
        says="pages_per_entry must be a whole number of at least 1.",
    )
    every = Choice(
        ListInterval.choices,
        required=False,
        allow_null=True,
        help_text="Null: only when somebody asks for a run.",
        says=f"every must be one of {', '.join(ListInterval.values)}, or null.",
    )
    window_hours = Whole(
        min_value=0,
        max_value=MAX_WINDOW_HOURS,
        required=False,
        help_text=f"The starts of a run are spread over it; {USUAL_WINDOW_HOURS} where none is given, 0 for at once.",
        says=f"window_hours must be a whole number from 0 to {MAX_WINDOW_HOURS}.",
    )
    timezone = Text(
        required=False,
        help_text="Of the IANA time zone database; else UTC.",
        says="timezone must be a name of the IANA time zone database, such as Europe/Berlin.",
        accepts=lambda name: name in time_zones(),
    )
    notify = NotifySerializer(required=False)
    request = CredentialsSerializer(required=False, allow_null=True)

    def validate_pages_per_entry(self, number: int) -> int:
        if number > (most := self.context["tier"].pages_per_audit):
            raise serializers.ValidationError(f"pages_per_entry is too high; your plan allows {most} for a site.")
        return number

    def validate_every(self, every: str | None) -> str:
        shortest = Interval(self.context["tier"].shortest_interval)
        if every is not None and PERIODS_OF_LISTS[ListInterval(every)] < PERIODS[shortest]:
            raise serializers.ValidationError(f"every is {every}; your plan allows {shortest.label} at most.")
        return every or ""

    def validate(self, values: dict[str, Any]) -> Any:
        names = ("name", "pages_per_entry", "every", "window_hours", "timezone")
        columns = {name: values[name] for name in names if name in values}
        if "types" in values:
            columns["types"] = [str(each) for each in ScanType if each in values["types"]]
        notify = values.get("notify", {})
        if "emails" in notify:
            columns["recipients"] = notify["emails"]
        if "webhooks" in notify:
            columns["tells_webhooks"] = notify["webhooks"]
        return ListRequest(columns, "request" in values, values.get("request"))


def _name(**options: Any) -> Text:
    return Text(
        max_length=NAME_LENGTH,
        says=f"name must have 1 to {NAME_LENGTH} printable characters.",
        tidy=lambda name: " ".join(name.split()),
        accepts=str.isprintable,
        **options,
    )


class ListRequestSerializer(ListFieldsSerializer):
    """The body of POST /v1/lists."""

    name = _name()


class ListChangeSerializer(ListFieldsSerializer):
    """The body of PATCH /v1/lists/:id: what is not named stays as it is."""

    name = _name(required=False)


class EntryChangeSerializer(Input):
    """The body of PATCH /v1/lists/:id/entries/:entry_id: what is not named stays as it is."""

    tags = Tags(required=False)
    note = Text(
        max_length=NOTE_LENGTH,
        required=False,
        allow_blank=True,
        says=f"note must have at most {NOTE_LENGTH} printable characters, and not begin with an equals sign.",
    )

    def validate_note(self, note: str) -> str:
        try:
            return tidy_note(note)
        except InvalidParams as refusal:
            raise refused(refusal) from None


def parse_new(body: Mapping[str, Any], policy: Policy, tier: Tier, organization_id: int) -> ListRequest:
    """Parse the body of a new list. Raises the refusal of the first field that is wrong."""
    request: ListRequest = ListRequestSerializer.judged(body, policy=policy, tier=tier, organization_id=organization_id)
    usual = {"types": list(Scan.Type.values), "window_hours": USUAL_WINDOW_HOURS}
    return ListRequest(usual | request.columns, request.has_request, request.credentials)


def parse_change(body: Mapping[str, Any], policy: Policy, tier: Tier, site_list: SiteList) -> ListRequest:
    """Parse the body of a change. Raises as `parse_new` does."""
    request: ListRequest = ListChangeSerializer.judged(
        body, policy=policy, tier=tier, organization_id=site_list.organization_id
    )
    return request


def parse_entry_change(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of an entry that a change names: `tags` and `note`. Raises InvalidParams."""
    columns: dict[str, Any] = EntryChangeSerializer.judged(body)
    return columns


class ShareRequestSerializer(Input):
    """The body of POST /v1/lists/:id/shares."""

    run_id = Text(
        max_length=40,
        required=False,
        allow_null=True,
        help_text="Null, or none: always the latest snapshot.",
        says="run_id must be the ID of a run that has ended, or null.",
    )
    table = Flag(required=False)


def parse_share(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `sharing.create_share` that a body names. Raises InvalidParams."""
    values: dict[str, Any] = ShareRequestSerializer.judged(body)
    return {"run_id": values.get("run_id"), "has_table": values.get("table", False)}
