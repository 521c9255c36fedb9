"""Validated requests for scans, from the API and from the dashboard, and serializers of their bodies."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from msgspec import Struct
from rest_framework import serializers

from infrastructure.api.errors import InvalidParams
from infrastructure.api.inputs import Address, Choice, Chosen, Input, SingleMessage, Whole, refusal_as_error
from infrastructure.api.typed import ItemField
from scans.models import Scan
from website_scan.errors import Refusal
from website_scan.findings import ScanType
from website_scan.net.credentials import Credentials
from website_scan.net.credentials import parse as parse_credentials
from website_scan.net.targets import Target
from website_scan.requirements.model import FileKind, Metric, Requirements, RequirementsJson
from website_scan.requirements.reading import read_requirements
from website_scan.security_categories import CATEGORIES_RULE, CATEGORY_KEYS, Categories, parse_categories
from website_scan.viewing import COLOR_SCHEMES, MAX_WIDTH, MAX_WIDTHS, MIN_WIDTH, WIDTHS_RULE, Viewing, are_valid_widths


class InvalidType(Refusal):
    code = "INVALID_TYPE"
    status = 400


TYPES_RULE = f"types must be a list with one or more of {', '.join(Scan.Type.values)}."


def types_of(names: Collection[str]) -> tuple[ScanType, ...]:
    """Return the scan types with these names in the usual order.

    Raises InvalidType.
    """
    if not names or not set(names) <= set(ScanType):
        refusal = InvalidType(TYPES_RULE)
        refusal.field = "types"
        raise refusal
    return tuple(scan_type for scan_type in ScanType if scan_type in names)


def chosen_types() -> Chosen:
    """Return the serializer field `types` for the body of a request."""
    return Chosen(Scan.Type.choices, required=False, says=TYPES_RULE, code=InvalidType.code)


def categories_field() -> Chosen:
    """Return the serializer field for the categories of security checks."""
    return Chosen(
        CATEGORY_KEYS,
        required=False,
        allow_null=True,
        help_text="Categories of security checks to judge; null, the default: all.",
        says=CATEGORIES_RULE,
    )


def categories_of(names: Collection[str] | None, types: Collection[str]) -> Categories | None:
    """Return the categories with these names in the usual order, or None for all. Raises InvalidParams."""
    try:
        return parse_categories(names, types)
    except ValueError as error:
        raise InvalidParams(str(error), "categories") from None


class Widths(SingleMessage, serializers.ListField):
    """Serializer field for the widths at which accessibility is judged."""

    def __init__(self, **kwargs: Any) -> None:
        child = Whole(min_value=MIN_WIDTH, max_value=MAX_WIDTH, says=WIDTHS_RULE)
        super().__init__(
            child=child,
            min_length=1,
            max_length=MAX_WIDTHS,
            says=WIDTHS_RULE,
            accepts=are_valid_widths,
            help_text="Widths in CSS pixels at which accessibility is judged; default: 412 and 1440. The first one is "
            "the main one, on a phone if it is below 600.",
            **kwargs,
        )


def color_scheme_field() -> Choice:
    """Return the serializer field for the colour scheme that the browser prefers."""
    return Choice(
        COLOR_SCHEMES,
        required=False,
        help_text="Colour scheme that the browser prefers; default: light.",
        says=f"color_scheme must be one of {', '.join(COLOR_SCHEMES)}.",
    )


# Names of the metrics and of the kinds of files that own requirements limit.
METRICS, FILE_KINDS = list(map(str, Metric)), list(map(str, FileKind))


class OwnRequirements(ItemField):
    """Serializer field for own requirements. Its value is None for a set without rules."""

    def __init__(self) -> None:
        super().__init__(
            RequirementsJson,
            required=False,
            allow_null=True,
            help_text="Own requirements that the pages must fulfil. Null, like a set without rules: none.",
        )

    def to_internal_value(self, data: object) -> Requirements | None:
        try:
            requirements = read_requirements(data)
        except ValueError as error:
            raise serializers.ValidationError(f"requirements: {error}") from None
        return requirements if requirements.rules else None


def viewing_of(values: Mapping[str, Any], current: Viewing | None = None) -> Viewing | None:
    """Return the widths and colour scheme of a valid body, with those of `current` for missing fields."""
    usual = current or Viewing()
    if "widths" not in values and "color_scheme" not in values:
        return current
    return Viewing(tuple(values.get("widths", usual.widths)), values.get("color_scheme", usual.color_scheme))


class ScanRequest(Struct, frozen=True):
    """Request for a scan of one page.

    Its credentials are sent to the target's origin only. `viewing` is None if the usual one applies, and `requirements`
    is None without own requirements. `categories` are the only categories of security checks to judge, None for all.
    """

    target: Target
    type: ScanType
    credentials: Credentials | None = None
    viewing: Viewing | None = None
    requirements: Requirements | None = None
    categories: Categories | None = None


class BasicAuthSerializer(serializers.Serializer[Any]):
    """User name and password of HTTP basic authentication (RFC 7617)."""

    username = serializers.CharField(allow_blank=True)
    password = serializers.CharField(allow_blank=True)


class CredentialsSerializer(serializers.Serializer[Any]):
    """Credentials for the target.

    They have at most 20 names and 16 KiB, and are sent only to the origin of `url`.
    """

    headers = serializers.DictField(child=serializers.CharField(), required=False, allow_null=True)
    basic_auth = BasicAuthSerializer(required=False, allow_null=True)
    cookies = serializers.DictField(child=serializers.CharField(allow_blank=True), required=False, allow_null=True)

    def run_validation(self, data: Any = serializers.empty) -> Any:
        """Return the validated credentials, or None for an empty object."""
        if data is serializers.empty:
            raise serializers.SkipField
        with refusal_as_error():
            return parse_credentials(data)


def without_credentials(body: Mapping[str, object]) -> dict[str, object]:
    """Return the body without credentials.

    No unencrypted copy of credentials may be stored, not even a digest.
    """
    return {name: value for name, value in body.items() if name != "request"}


class ScanRequestSerializer(Input):
    """The body of POST /v1/scan."""

    url = Address()
    type = Choice(Scan.Type.choices, says=f"type must be one of {', '.join(Scan.Type.values)}.", code=InvalidType.code)
    request = CredentialsSerializer(required=False, allow_null=True)
    widths = Widths(required=False)
    color_scheme = color_scheme_field()
    requirements = OwnRequirements()
    categories = categories_field()

    def validate(self, values: dict[str, Any]) -> ScanRequest:
        return ScanRequest(
            values["url"],
            ScanType(values["type"]),
            values.get("request"),
            viewing_of(values),
            values.get("requirements"),
            categories_of(values.get("categories"), [values["type"]]),
        )
