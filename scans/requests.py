"""Validated requests for scans, from the API and from the dashboard, and serializers of their bodies."""

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


@dataclass(frozen=True, slots=True)
class ScanRequest:
    """Request for a scan of one page.

    Its credentials are sent to the target's origin only.
    """

    target: Target
    type: ScanType
    credentials: Credentials | None = None


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

    def validate(self, values: dict[str, Any]) -> ScanRequest:
        return ScanRequest(values["url"], ScanType(values["type"]), values.get("request"))
