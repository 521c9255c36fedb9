"""Serializers of scans, usage and quota, for the API and openapi.yaml."""

from __future__ import annotations

import functools
from typing import Any

from rest_framework import serializers

from infrastructure.api.fields import GRADE, SkippedCheckSerializer
from infrastructure.api.inputs import Address, Choice, Input, refused
from scans.models import Scan
from website_scan.errors import Refusal
from website_scan.net.credentials import InvalidRequestField
from website_scan.net.credentials import parse as parse_credentials

PHASES = ("queued", "connecting", "collecting", "checking", "done")


class ScanSummarySerializer(serializers.Serializer):
    """A scan (2.1 of the interface)."""

    id = serializers.RegexField(r"^scan_[0-9A-Za-z]{22}$")
    type = serializers.ChoiceField(Scan.Type.choices)
    url = serializers.CharField()
    status = serializers.ChoiceField(Scan.Status.choices)
    score = serializers.IntegerField(min_value=0, max_value=100, allow_null=True)
    grade = serializers.RegexField(GRADE, allow_null=True)
    created_at = serializers.DateTimeField()
    completed_at = serializers.DateTimeField(allow_null=True)


class ScanProgressSerializer(serializers.Serializer):
    """How far a scan is."""

    percent = serializers.IntegerField(min_value=0, max_value=100)
    phase = serializers.ChoiceField(PHASES)
    checks_done = serializers.IntegerField(min_value=0)
    checks_total = serializers.IntegerField(min_value=0)


class ScanFailureSerializer(serializers.Serializer):
    """Why a scan failed."""

    code = serializers.CharField(source="error_code")
    message = serializers.CharField(source="error_message")


class CredentialNamesSerializer(serializers.Serializer):
    """The credentials that are sent to the target: their names, never a value."""

    headers = serializers.ListField(child=serializers.CharField())
    basic_auth = serializers.BooleanField()
    cookies = serializers.ListField(child=serializers.CharField())


class ScanDetailSerializer(ScanSummarySerializer):
    """The answer of POST /v1/scan and GET /v1/scan/:id. `request` is there only where the scan was given one."""

    started_at = serializers.DateTimeField(allow_null=True)
    report_url = serializers.URLField()
    progress = ScanProgressSerializer(source="*")
    error = ScanFailureSerializer(source="failure", allow_null=True)
    skipped_checks = SkippedCheckSerializer(many=True)
    request = CredentialNamesSerializer(source="credential_names", required=False)

    def to_representation(self, scan: Scan) -> dict[str, Any]:
        shown: dict[str, Any] = super().to_representation(scan)
        if shown["request"] is None:
            del shown["request"]
        return shown


def scan_detail(scan: Scan) -> dict[str, Any]:
    """Return a scan as the API shows it."""
    return _scan_detail().to_representation(scan)


@functools.cache
def _scan_detail() -> ScanDetailSerializer:
    """Return the serializer of all scans: a new one would copy its fields, which takes longer than to show a scan."""
    return ScanDetailSerializer()


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


class QuotaObjectSerializer(serializers.Serializer):
    """The quota of the month (2.6 of the interface)."""

    used = serializers.IntegerField(min_value=0)
    limit = serializers.IntegerField(min_value=0)
    remaining = serializers.IntegerField(min_value=0)
    tier = serializers.CharField()


class ListedScanSerializer(ScanSummarySerializer):
    """A scan in the list."""

    audit = serializers.RegexField(r"^aud_[0-9A-Za-z]{22}$", allow_null=True, help_text="The audit that it is of.")


class ScanListSerializer(serializers.Serializer):
    """The answer of GET /v1/scans."""

    scans = ListedScanSerializer(many=True)
    total = serializers.IntegerField(min_value=0)
    limit = serializers.IntegerField(min_value=1, max_value=100)
    offset = serializers.IntegerField(min_value=0)
    quota = QuotaObjectSerializer()


class UsagePeriodSerializer(serializers.Serializer):
    """The calendar month in UTC: `start` inclusive, `end` exclusive."""

    start = serializers.DateTimeField()
    end = serializers.DateTimeField()


class ConcurrentUsageSerializer(serializers.Serializer):
    """Scans that are queued or running."""

    running = serializers.IntegerField(min_value=0)
    limit = serializers.IntegerField(min_value=0)


class RateLimitUsageSerializer(serializers.Serializer):
    """The request rate, as the X-RateLimit headers say it."""

    limit = serializers.IntegerField(min_value=0)
    remaining = serializers.IntegerField(min_value=0)
    reset = serializers.IntegerField(min_value=0)
    window_seconds = serializers.IntegerField(min_value=1)


class UsageSerializer(serializers.Serializer):
    """The answer of GET /v1/usage."""

    period = UsagePeriodSerializer()
    quota = QuotaObjectSerializer()
    concurrent = ConcurrentUsageSerializer()
    rate_limit = RateLimitUsageSerializer()
    by_type = serializers.DictField(child=serializers.IntegerField(min_value=0))
    by_status = serializers.DictField(child=serializers.IntegerField(min_value=0))
