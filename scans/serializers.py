"""Serializers of scans, usage and quota, for the API and openapi.yaml."""

from __future__ import annotations

import functools
from typing import Any

from rest_framework import serializers

from infrastructure.api.fields import GRADE, SkippedCheckSerializer
from scans.models import Scan

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
