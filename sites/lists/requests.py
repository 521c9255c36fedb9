"""Requests to create and change lists, from the API and from forms, and serializers of the bodies of /v1/lists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from rest_framework import serializers

from accounts.models import Interval, Tier
from infrastructure.api.errors import InvalidParams
from infrastructure.api.inputs import Choice, Flag, Input, Parsed, Text, Whole, refusal_as_error
from scans.requests import CredentialsSerializer, chosen_types, types_of
from sites.inputs import name_field, refuse_shorter_than_tier, zone_field
from sites.lists.tags import MAX_TAGS, NOTE_LENGTH, tidy_note, tidy_tags
from sites.models import SiteList
from sites.models.site_list import ListInterval
from sites.recipients import NotifySerializer, recipient_columns
from sites.schedule import PERIODS
from website_scan.net.credentials import Credentials
from website_scan.net.policy import Policy

# Columns whose fields have the same names and values in the API and in forms.
COLUMNS = frozenset({"name", "pages_per_entry", "every", "window_hours", "timezone"})
USUAL_WINDOW_HOURS, MAX_WINDOW_HOURS = 24, 7 * 24
# The shortest possible time between two runs of each interval; a month has 28 days.
PERIODS_OF_LISTS = {
    ListInterval.WEEK: PERIODS[Interval.WEEK],
    ListInterval.MONTH: PERIODS[Interval.MONTH],
    ListInterval.QUARTER: timedelta(days=90),
}


@dataclass(frozen=True, slots=True)
class ListRequest:
    """Request to create or change a list, as values of the row's `columns`.

    `credentials` replace the stored credentials, unless `keeps_credentials` is True.
    """

    columns: Mapping[str, Any]
    credentials: Credentials | None = None
    keeps_credentials: bool = True


def pages_within_plan(number: int, tier: Tier) -> int:
    """Return `number` if the plan allows as many pages of each site. Raises InvalidParams otherwise."""
    if number > (most := tier.pages_per_audit):
        text = f"pages_per_entry is too high; your plan allows {most} for a site."
        raise InvalidParams(text, "pages_per_entry")
    return number


def interval_within_tier(every: str, tier: Tier) -> str:
    """Return the interval, which may be empty. Raises InvalidParams if the interval is too short for the plan."""
    if every:
        refuse_shorter_than_tier(every, PERIODS_OF_LISTS[ListInterval(every)], tier)
    return every


class Tags(Parsed, serializers.ListField):
    """The tags of an entry."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(child=serializers.CharField(), max_length=MAX_TAGS, **kwargs)

    def to_internal_value(self, data: Any) -> list[str]:
        if not isinstance(data, list) or not all(isinstance(tag, str) for tag in data):
            raise serializers.ValidationError(f"{self.field_name} must be a list of strings.")
        with refusal_as_error():
            return list(tidy_tags(data))


class ListFieldsSerializer(Input):
    """The fields that POST and PATCH have in common."""

    types = chosen_types()
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
    timezone = zone_field()
    notify = NotifySerializer(required=False)
    request = CredentialsSerializer(required=False, allow_null=True)

    def validate_pages_per_entry(self, number: int) -> int:
        with refusal_as_error():
            return pages_within_plan(number, self.context["tier"])

    def validate_every(self, every: str | None) -> str:
        with refusal_as_error():
            return interval_within_tier(every or "", self.context["tier"])

    def validate(self, values: dict[str, Any]) -> ListRequest:
        columns = {name: values[name] for name in COLUMNS & values.keys()}
        if "types" in values:
            columns["types"] = [str(type) for type in types_of(values["types"])]
        columns |= recipient_columns(values.get("notify", {}))
        return ListRequest(columns, values.get("request"), keeps_credentials="request" not in values)


class ListRequestSerializer(ListFieldsSerializer):
    """The body of POST /v1/lists."""

    name = name_field()


class ListChangeSerializer(ListFieldsSerializer):
    """The body of PATCH /v1/lists/:id: what is not named stays as it is."""

    name = name_field(required=False)


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
        with refusal_as_error():
            return tidy_note(note)


def parse_new(body: Mapping[str, Any], policy: Policy, organization_id: int) -> ListRequest:
    """Parse the body of a new list. Raises the refusal of the first field that is wrong."""
    tier = Tier.objects.get(organization=organization_id)
    request: ListRequest = ListRequestSerializer.judged(body, policy=policy, tier=tier, organization_id=organization_id)
    return request


def parse_change(body: Mapping[str, Any], policy: Policy, site_list: SiteList) -> ListRequest:
    """Parse the body of a change of a list. Raises the refusal of the first field that is wrong."""
    request: ListRequest = ListChangeSerializer.judged(
        body, policy=policy, tier=site_list.organization.tier, organization_id=site_list.organization_id
    )
    return request


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
    """Return keyword arguments of `sharing.create_share` from a request body. Raises InvalidParams."""
    values: dict[str, Any] = ShareRequestSerializer.judged(body)
    return {"run_id": values.get("run_id"), "has_table": values.get("table", False)}


class EntryRequestSerializer(serializers.Serializer[Any]):
    """Site of a list. An address without a scheme gets https://."""

    url = serializers.CharField()
    tags = serializers.ListField(child=serializers.CharField(), max_length=MAX_TAGS, required=False)
    note = serializers.CharField(max_length=NOTE_LENGTH, allow_blank=True, required=False)


class EntriesRequestSerializer(serializers.Serializer[Any]):
    """The JSON body of PUT and POST /v1/lists/:id/entries. It is parsed like the other forms, in `importing`."""

    entries = EntryRequestSerializer(many=True)
