"""Requests for scans: what POST /v1/scan and the pages ask for, and the body of the API's request."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from rest_framework import serializers

from infrastructure.api.inputs import Address, Choice, Chosen, Input, refusal_as_error
from scans.models import Scan
from website_scan.errors import Refusal
from website_scan.findings import ScanType
from website_scan.net.credentials import Credentials
from website_scan.net.credentials import parse as parse_credentials
from website_scan.net.targets import Target


class InvalidType(Refusal):
    code = "INVALID_TYPE"
    status = 400


TYPES_RULE = f"types must be a list with one or more of {', '.join(Scan.Type.values)}."


def types_of(names: Collection[str]) -> tuple[ScanType, ...]:
    """Return the types of scans with these names, in the order of the types. Raises InvalidType."""
    if not names or not set(names) <= set(ScanType):
        refusal = InvalidType(TYPES_RULE)
        refusal.field = "types"
        raise refusal
    return tuple(each for each in ScanType if each in names)


def chosen_types() -> Chosen:
    """Return the field `types` of a body."""
    return Chosen(Scan.Type.choices, required=False, says=TYPES_RULE, code=InvalidType.code)


@dataclass(frozen=True, slots=True)
class ScanRequest:
    """Request for a scan of one page. The credentials are sent to the target's origin alone."""

    target: Target
    type: ScanType
    credentials: Credentials | None = None


class BasicAuthSerializer(serializers.Serializer[Any]):
    """User name and password, as RFC 7617 has them."""

    username = serializers.CharField(allow_blank=True)
    password = serializers.CharField(allow_blank=True)


class CredentialsSerializer(serializers.Serializer[Any]):
    """Credentials for the target: at most 20 names and 16 KiB in all. Sent to the origin of `url` alone."""

    headers = serializers.DictField(child=serializers.CharField(), required=False, allow_null=True)
    basic_auth = BasicAuthSerializer(required=False, allow_null=True)
    cookies = serializers.DictField(child=serializers.CharField(allow_blank=True), required=False, allow_null=True)

    def run_validation(self, data: Any = serializers.empty) -> Any:
        """Return them as `Credentials`; None where there is nothing in them."""
        if data is serializers.empty:
            raise serializers.SkipField
        with refusal_as_error():
            return parse_credentials(data)


def without_credentials(body: Mapping[str, object]) -> dict[str, object]:
    """Return the body without its credentials, of which nothing is stored in plain text, not even a digest."""
    return {name: value for name, value in body.items() if name != "request"}


class ScanRequestSerializer(Input):
    """The body of POST /v1/scan."""

    url = Address()
    type = Choice(Scan.Type.choices, says=f"type must be one of {', '.join(Scan.Type.values)}.", code=InvalidType.code)
    request = CredentialsSerializer(required=False, allow_null=True)

    def validate(self, values: dict[str, Any]) -> ScanRequest:
        return ScanRequest(values["url"], ScanType(values["type"]), values.get("request"))
