"""Validation of requests to create and change lists, entries and shares, from the API and from forms."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from msgspec import Struct
from rest_framework import serializers

from accounts.models import Interval, Tier
from infrastructure.api.errors import InvalidParams
from infrastructure.api.inputs import Choice, Flag, Input, Parsed, Text, Whole, refusal_as_error
from scans.models import Scan, stored_categories, stored_requirements, stored_viewing
from scans.requests import (
    CredentialsSerializer,
    OwnRequirements,
    Widths,
    categories_field,
    categories_of,
    chosen_types,
    color_scheme_field,
    types_of,
    viewing_of,
)
from sites.inputs import name_field, refuse_shorter_than_tier, zone_field
from sites.lists.tags import MAX_NOTE_LENGTH, MAX_TAGS, tidy_note, tidy_tags
from sites.lists.targets import MAX_TARGETS, parse_targets
from sites.models import SiteList
from sites.models.site_list import MAX_WEEKLY_WINDOW_HOURS, ListInterval, StoredTarget
from sites.recipients import NotifySerializer, recipient_columns
from sites.schedule import PERIODS
from website_scan.net.credentials import Credentials
from website_scan.net.policy import Policy

# Columns that have the same name and value in the API and in forms.
COLUMNS = frozenset({"name", "pages_per_entry", "every", "window_hours", "timezone", "targets"})
USUAL_WINDOW_HOURS, MAX_WINDOW_HOURS = 24, 7 * 24
# Minimum time between two runs by interval. A month has at least 28 days.
PERIODS_OF_LISTS = {
    ListInterval.WEEK: PERIODS[Interval.WEEK],
    ListInterval.MONTH: PERIODS[Interval.MONTH],
    ListInterval.QUARTER: timedelta(days=90),
}


class ListRequest(Struct, frozen=True):
    """Validated request to create or change a list.

    `columns` has the values of database columns. `credentials` replace the stored credentials, unless
    `keeps_credentials` is True.
    """

    columns: Mapping[str, Any]
    credentials: Credentials | None = None
    keeps_credentials: bool = True


def pages_within_plan(number: int, tier: Tier) -> int:
    """Return `number` if the plan allows that many pages per site, else raise InvalidParams."""
    if number > (most := tier.pages_per_audit):
        text = f"pages_per_entry is too high; your plan allows {most} for a site."
        raise InvalidParams(text, "pages_per_entry")
    return number


def interval_within_tier(every: str, tier: Tier) -> str:
    """Return the interval if the plan allows it, else raise InvalidParams.

    An empty interval is always allowed.
    """
    if every:
        refuse_shorter_than_tier(every, PERIODS_OF_LISTS[ListInterval(every)], tier)
    return every


class Tags(Parsed, serializers.ListField):
    """Serializer field for the tags of an entry."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(child=serializers.CharField(), max_length=MAX_TAGS, **kwargs)

    def to_internal_value(self, data: Any) -> list[str]:
        if not isinstance(data, list) or not all(isinstance(tag, str) for tag in data):
            raise serializers.ValidationError(f"{self.field_name} must be a list of strings.")
        with refusal_as_error():
            return list(tidy_tags(data))


class Targets(Parsed, serializers.ListField):
    """Serializer field for the targets of a list."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(child=serializers.DictField(), max_length=MAX_TARGETS, **kwargs)

    def to_internal_value(self, data: Any) -> list[StoredTarget]:
        with refusal_as_error():
            return parse_targets(data)


class ListFieldsSerializer(Input):
    """Common fields of POST and PATCH for lists."""

    types = chosen_types()
    pages_per_entry = Whole(
        min_value=1,
        required=False,
        help_text="1 scans the address alone; a higher number scans its site, up to that many pages.",
        says="pages_per_entry must be a whole number of at least 1.",
    )
    every = Choice(
        ListInterval.choices,
        required=False,
        allow_null=True,
        help_text="Null: only on request.",
        says=f"every must be one of {', '.join(ListInterval.values)}, or null.",
    )
    window_hours = Whole(
        min_value=0,
        max_value=MAX_WINDOW_HOURS,
        required=False,
        help_text=f"The starts of a run are spread over these hours; default: {USUAL_WINDOW_HOURS}, 0: all at once."
        f" A weekly list uses at most {MAX_WEEKLY_WINDOW_HOURS}.",
        says=f"window_hours must be a whole number from 0 to {MAX_WINDOW_HOURS}.",
    )
    timezone = zone_field()
    notify = NotifySerializer(required=False)
    targets = Targets(
        required=False, help_text="Shares of sites, each with `tag`, `check` or `type` and `least`, `percent`, `by`."
    )
    request = CredentialsSerializer(required=False, allow_null=True)
    widths = Widths(required=False)
    color_scheme = color_scheme_field()
    requirements = OwnRequirements()
    categories = categories_field()

    def validate_pages_per_entry(self, number: int) -> int:
        with refusal_as_error():
            return pages_within_plan(number, self.context["tier"])

    def validate_every(self, every: str | None) -> str:
        with refusal_as_error():
            return interval_within_tier(every or "", self.context["tier"])

    def validate(self, values: dict[str, Any]) -> ListRequest:
        current: SiteList | None = self.context.get("site_list")
        columns = {name: values[name] for name in COLUMNS & values.keys()}
        if "types" in values:
            columns["types"] = [str(type) for type in types_of(values["types"])]
        columns |= recipient_columns(values.get("notify", {}))
        if {"widths", "color_scheme"} & values.keys():
            columns["viewing"] = stored_viewing(viewing_of(values, current.chosen_viewing if current else None))
        if "requirements" in values:
            columns["requirements"] = stored_requirements(values["requirements"])
        if {"types", "categories"} & values.keys():
            types = values.get("types", current.types if current else Scan.Type.values)
            names = values.get("categories", current.categories if current else None)
            columns["categories"] = stored_categories(categories_of(names, types))
        return ListRequest(columns, values.get("request"), keeps_credentials="request" not in values)


class ListRequestSerializer(ListFieldsSerializer):
    """Body of POST /v1/lists."""

    name = name_field()


class ListChangeSerializer(ListFieldsSerializer):
    """Body of PATCH /v1/lists/:id.

    Fields that are missing in the body do not change.
    """

    name = name_field(required=False)


class EntryChangeSerializer(Input):
    """Body of PATCH /v1/lists/:id/entries/:entry_id.

    Fields that are missing in the body do not change.
    """

    tags = Tags(required=False)
    note = Text(
        max_length=MAX_NOTE_LENGTH,
        required=False,
        allow_blank=True,
        says=f"note must have at most {MAX_NOTE_LENGTH} printable characters, and not begin with an equals sign.",
    )

    def validate_note(self, note: str) -> str:
        with refusal_as_error():
            return tidy_note(note)


def parse_new(body: Mapping[str, Any], policy: Policy, organization_id: int) -> ListRequest:
    """Validate the body of POST /v1/lists.

    Raises the refusal of the first invalid field.
    """
    tier = Tier.objects.get(organization=organization_id)
    request: ListRequest = ListRequestSerializer.judged(body, policy=policy, tier=tier, organization_id=organization_id)
    return request


def parse_change(body: Mapping[str, Any], policy: Policy, site_list: SiteList) -> ListRequest:
    """Validate the body of PATCH /v1/lists/:id.

    Raises the refusal of the first invalid field.
    """
    request: ListRequest = ListChangeSerializer.judged(
        body,
        policy=policy,
        tier=site_list.organization.tier,
        organization_id=site_list.organization_id,
        site_list=site_list,
    )
    return request


class ShareRequestSerializer(Input):
    """Body of POST /v1/lists/:id/shares."""

    run_id = Text(
        max_length=40,
        required=False,
        allow_null=True,
        help_text="Null or omitted: always the latest snapshot.",
        says="run_id must be the ID of a run that has ended, or null.",
    )
    table = Flag(required=False)
    password = Text(
        max_length=128,
        required=False,
        allow_null=True,
        help_text="Visitors must enter it. Null or omitted: everybody with the address sees the page.",
        says="password must be a text of 8 to 128 characters, or null.",
    )


def parse_share(body: Mapping[str, Any]) -> dict[str, Any]:
    """Validate the body of POST /v1/lists/:id/shares and return keyword arguments of `create_share`."""
    values: dict[str, Any] = ShareRequestSerializer.judged(body)
    return {
        "run_id": values.get("run_id"),
        "has_table": values.get("table", False),
        "password": values.get("password") or "",
    }


class EntryRequestSerializer(serializers.Serializer[Any]):
    """Site to add to a list. URLs without a scheme get https://."""

    url = serializers.CharField()
    tags = serializers.ListField(child=serializers.CharField(), max_length=MAX_TAGS, required=False)
    note = serializers.CharField(max_length=MAX_NOTE_LENGTH, allow_blank=True, required=False)


class EntriesRequestSerializer(serializers.Serializer[Any]):
    """JSON body of PUT and POST /v1/lists/:id/entries.

    The module `uploads` parses this and the other formats.
    """

    entries = EntryRequestSerializer(many=True)
