"""The body of POST /v1/scan."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from infrastructure.api.inputs import Address, Choice, Input, refused
from scans.models import Scan
from website_scan.errors import Refusal
from website_scan.net.credentials import InvalidRequestField
from website_scan.net.credentials import parse as parse_credentials


class BasicAuthSerializer(serializers.Serializer):
    """User name and password, as RFC 7617 has them."""

    username = serializers.CharField(allow_blank=True)
    password = serializers.CharField(allow_blank=True)


class CredentialsSerializer(serializers.Serializer):
    """Credentials for the target: at most 20 names and 16 KiB in all. Sent to the origin of `url` alone."""

    headers = serializers.DictField(child=serializers.CharField(), required=False, allow_null=True)
    basic_auth = BasicAuthSerializer(required=False, allow_null=True)
    cookies = serializers.DictField(child=serializers.CharField(allow_blank=True), required=False, allow_null=True)

    def run_validation(self, data: Any = serializers.empty) -> Any:
        """Return them as `Credentials`; None where there is nothing in them."""
        if data is serializers.empty:
            raise serializers.SkipField
        try:
            return parse_credentials(data)
        except InvalidRequestField as refusal:
            raise refused(refusal) from None


class InvalidType(Refusal):
    code = "INVALID_TYPE"
    status = 400


class ScanRequestSerializer(Input):
    """The body of POST /v1/scan."""

    url = Address()
    type = Choice(Scan.Type.choices, says=f"type must be one of {', '.join(Scan.Type.values)}.", code=InvalidType.code)
    request = CredentialsSerializer(required=False, allow_null=True)
