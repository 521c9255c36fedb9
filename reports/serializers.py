"""The report's shape, for openapi.yaml. Reports themselves are stored and sent as bytes."""

from __future__ import annotations

from rest_framework import serializers

from scans.engine.findings import Severity
from scans.models import Scan
from scans.serializers import GRADES, SkippedCheck

SEVERITIES = [str(severity) for severity in Severity]
CHECK_STATUSES = ("pass", "fail", "warn")
REPORT_STATUSES = (str(Scan.Status.COMPLETED), str(Scan.Status.PARTIAL))


class Check(serializers.Serializer):
    """2.4 of the interface."""

    name = serializers.CharField()
    status = serializers.ChoiceField(CHECK_STATUSES)
    severity = serializers.ChoiceField(SEVERITIES, allow_null=True)
    message = serializers.CharField()
    fix = serializers.CharField(required=False)


class Category(serializers.Serializer):
    """2.3 of the interface."""

    name = serializers.CharField()
    score = serializers.IntegerField(min_value=0, max_value=100)
    checks = Check(many=True)


class ReportSummary(serializers.Serializer):
    """2.5 of the interface."""

    total_checks = serializers.IntegerField(min_value=0)
    passed = serializers.IntegerField(min_value=0)
    failed = serializers.IntegerField(min_value=0)
    warnings = serializers.IntegerField(min_value=0)
    critical = serializers.IntegerField(min_value=0)
    high = serializers.IntegerField(min_value=0)
    medium = serializers.IntegerField(min_value=0)
    low = serializers.IntegerField(min_value=0)


class Report(serializers.Serializer):
    """2.2 of the interface."""

    id = serializers.RegexField(r"^scan_[0-9A-Za-z]{22}$")
    type = serializers.ChoiceField(Scan.Type.choices)
    url = serializers.CharField()
    score = serializers.IntegerField(min_value=0, max_value=100)
    grade = serializers.ChoiceField(GRADES)
    created_at = serializers.DateTimeField()
    completed_at = serializers.DateTimeField()
    categories = Category(many=True)
    summary = ReportSummary()


class ExportedCheck(Check):
    """A check with what exports add."""

    id = serializers.CharField()
    evidence = serializers.ListField(child=serializers.DictField())
    references = serializers.ListField(child=serializers.CharField())
    points = serializers.FloatField(help_text="What the score would gain if this check passed.")


class ExportedCategory(Category):
    """A category of an export."""

    checks = ExportedCheck(many=True)


class Cap(serializers.Serializer):
    """A ceiling that lowered the score."""

    limit = serializers.IntegerField(min_value=0, max_value=100)
    reason = serializers.CharField()


class ExportedSkippedCheck(SkippedCheck):
    """A check that could not run, with its ID."""

    id = serializers.CharField()


class ReportExport(Report):
    """The JSON export: the report and everything else that was stored with it."""

    categories = ExportedCategory(many=True)
    report_id = serializers.RegexField(r"^rpt_[0-9A-Za-z]{22}$")
    status = serializers.ChoiceField(REPORT_STATUSES)
    skipped_checks = ExportedSkippedCheck(many=True)
    caps = Cap(many=True)
    catalogue_version = serializers.CharField()
