"""A scan as the API shows it. Plain functions for speed; the classes describe them for openapi.yaml."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from rest_framework import serializers

from config.ids import timestamp
from scans.models import Scan


def _timestamp(moment: datetime | None) -> str | None:
    return None if moment is None else timestamp(moment)


def scan_status(scan: Scan) -> dict[str, Any]:
    """The 13 fields of POST /v1/scan and GET /v1/scan/:id."""
    error = {"code": scan.error_code, "message": scan.error_message} if scan.error_code else None
    return {
        "id": scan.id,
        "type": str(scan.type),
        "url": scan.url,
        "status": str(scan.status),
        "score": scan.score,
        "grade": scan.grade,
        "created_at": timestamp(scan.created_at),
        "started_at": _timestamp(scan.started_at),
        "completed_at": _timestamp(scan.completed_at),
        "report_url": scan.report_url,
        "progress": {
            "percent": scan.percent,
            "phase": scan.phase,
            "checks_done": scan.checks_done,
            "checks_total": scan.checks_total,
        },
        "error": error,
        "skipped_checks": scan.skipped_checks,
    }


GRADES = ("A+", "A", "B", "C", "D", "F")


class ScanSummary(serializers.Serializer):
    """2.1 of the interface."""

    id = serializers.RegexField(r"^scan_[0-9A-Za-z]{22}$")
    type = serializers.ChoiceField(Scan.Type.choices)
    url = serializers.CharField()
    status = serializers.ChoiceField(Scan.Status.choices)
    score = serializers.IntegerField(min_value=0, max_value=100, allow_null=True)
    grade = serializers.ChoiceField(GRADES, allow_null=True)
    created_at = serializers.DateTimeField()
    completed_at = serializers.DateTimeField(allow_null=True)


class ScanProgress(serializers.Serializer):
    """How far a scan is."""

    percent = serializers.IntegerField(min_value=0, max_value=100)
    phase = serializers.ChoiceField(("queued", "connecting", "collecting", "checking", "done"))
    checks_done = serializers.IntegerField(min_value=0)
    checks_total = serializers.IntegerField(min_value=0)


class ScanFailure(serializers.Serializer):
    """Why a scan failed."""

    code = serializers.CharField()
    message = serializers.CharField()


class SkippedCheck(serializers.Serializer):
    """A check that could not run."""

    name = serializers.CharField()
    reason = serializers.CharField()


class ScanDetail(ScanSummary):
    """The answer of POST /v1/scan and GET /v1/scan/:id."""

    started_at = serializers.DateTimeField(allow_null=True)
    report_url = serializers.URLField()
    progress = ScanProgress()
    error = ScanFailure(allow_null=True)
    skipped_checks = SkippedCheck(many=True)


class ScanRequest(serializers.Serializer):
    """The body of POST /v1/scan."""

    url = serializers.CharField(max_length=2048, help_text="Starts with https:// or http://.")
    type = serializers.ChoiceField(Scan.Type.choices)


class QuotaObject(serializers.Serializer):
    """2.6 of the interface."""

    used = serializers.IntegerField(min_value=0)
    limit = serializers.IntegerField(min_value=0)
    remaining = serializers.IntegerField(min_value=0)
    tier = serializers.CharField()


class ScanList(serializers.Serializer):
    """The answer of GET /v1/scans."""

    scans = ScanSummary(many=True)
    total = serializers.IntegerField(min_value=0)
    limit = serializers.IntegerField(min_value=1, max_value=100)
    offset = serializers.IntegerField(min_value=0)
    quota = QuotaObject()


class UsagePeriod(serializers.Serializer):
    """The calendar month in UTC: `start` inclusive, `end` exclusive."""

    start = serializers.DateTimeField()
    end = serializers.DateTimeField()


class ConcurrentUsage(serializers.Serializer):
    """Scans that are queued or running."""

    running = serializers.IntegerField(min_value=0)
    limit = serializers.IntegerField(min_value=0)


class RateLimitUsage(serializers.Serializer):
    """The request rate, as the X-RateLimit headers say it."""

    limit = serializers.IntegerField(min_value=0)
    remaining = serializers.IntegerField(min_value=0)
    reset = serializers.IntegerField(min_value=0)
    window_seconds = serializers.IntegerField(min_value=1)


class Usage(serializers.Serializer):
    """The answer of GET /v1/usage."""

    period = UsagePeriod()
    quota = QuotaObject()
    concurrent = ConcurrentUsage()
    rate_limit = RateLimitUsage()
    by_type = serializers.DictField(child=serializers.IntegerField(min_value=0))
    by_status = serializers.DictField(child=serializers.IntegerField(min_value=0))
