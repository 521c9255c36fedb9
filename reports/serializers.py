"""Serializers that describe the report and its export for openapi.yaml. `website_scan.report.documents` writes both."""

from __future__ import annotations

from rest_framework import serializers

from infrastructure.api.fields import GRADE, SkippedCheckSerializer
from website_scan.findings import ScanType, Severity

TYPES = [(str(each), each.label) for each in ScanType]
SEVERITIES = [str(severity) for severity in Severity]
CHECK_STATUSES = ("pass", "fail", "warn")
FINDING_STATUSES = ("fail", "warn")
REPORT_STATUSES = ("completed", "partial")


class CheckSerializer(serializers.Serializer):
    """A check of a report (2.4 of the interface)."""

    name = serializers.CharField()
    status = serializers.ChoiceField(CHECK_STATUSES)
    severity = serializers.ChoiceField(SEVERITIES, allow_null=True)
    message = serializers.CharField()
    fix = serializers.CharField(required=False)


class CategorySerializer(serializers.Serializer):
    """A category of a report (2.3 of the interface)."""

    name = serializers.CharField()
    score = serializers.IntegerField(min_value=0, max_value=100)
    checks = CheckSerializer(many=True)


class ReportSummarySerializer(serializers.Serializer):
    """The summary of a report: numbers of checks (2.5 of the interface)."""

    total_checks = serializers.IntegerField(min_value=0)
    passed = serializers.IntegerField(min_value=0)
    failed = serializers.IntegerField(min_value=0)
    warnings = serializers.IntegerField(min_value=0)
    critical = serializers.IntegerField(min_value=0)
    high = serializers.IntegerField(min_value=0)
    medium = serializers.IntegerField(min_value=0)
    low = serializers.IntegerField(min_value=0)


class ReportSerializer(serializers.Serializer):
    """The report of a scan (2.2 of the interface)."""

    id = serializers.RegexField(r"^scan_[0-9A-Za-z]{22}$")
    type = serializers.ChoiceField(TYPES)
    url = serializers.CharField()
    score = serializers.IntegerField(min_value=0, max_value=100)
    grade = serializers.RegexField(GRADE)
    created_at = serializers.DateTimeField()
    completed_at = serializers.DateTimeField()
    categories = CategorySerializer(many=True)
    summary = ReportSummarySerializer()


class ExportedCheckSerializer(CheckSerializer):
    """A check of an export, with more fields than in the report."""

    id = serializers.CharField()
    title = serializers.CharField(help_text="What was found; on a pass the check's name.")
    evidence = serializers.ListField(child=serializers.DictField())
    references = serializers.ListField(child=serializers.CharField())
    points = serializers.FloatField(help_text="What the score would gain if this check passed.")
    later = serializers.FloatField(help_text="What the score would gain if this check passed and no cap applied.")
    holds = serializers.BooleanField(help_text="True if a cap that lowers the score counts this failure.")
    why = serializers.CharField(
        required=False, help_text="Why a failed or warned check matters: the sentence with which `message` ends."
    )


class ExportedCategorySerializer(CategorySerializer):
    """A category of an export."""

    checks = ExportedCheckSerializer(many=True)


class CapSerializer(serializers.Serializer):
    """A cap that lowered the score."""

    limit = serializers.IntegerField(min_value=0, max_value=100)
    reason = serializers.CharField()


class OmittedCheckSerializer(serializers.Serializer):
    """A check that was left out because it needs a browser and none was available."""

    id = serializers.CharField()
    name = serializers.CharField()


class RepeatedCheckSerializer(serializers.Serializer):
    """A check that found the same fact as another one, which tells it. It costs no points."""

    id = serializers.CharField()
    name = serializers.CharField()
    told_by = serializers.CharField(help_text="ID of the check whose finding includes this one.")
    reason = serializers.CharField()


class ExportedSkippedCheckSerializer(SkippedCheckSerializer):
    """A check that could not run, with its ID."""

    id = serializers.CharField()


class ReportExportSerializer(ReportSerializer):
    """The JSON export: the report with all data stored beside it."""

    categories = ExportedCategorySerializer(many=True)
    report_id = serializers.RegexField(r"^rpt_[0-9A-Za-z]{22}$")
    status = serializers.ChoiceField(REPORT_STATUSES)
    skipped_checks = ExportedSkippedCheckSerializer(many=True)
    browser = serializers.CharField(
        allow_null=True, help_text="The browser that the page was judged in, such as Chromium 156.0; null without one."
    )
    omitted_checks = OmittedCheckSerializer(many=True)
    repeated_checks = RepeatedCheckSerializer(many=True)
    caps = CapSerializer(many=True)
    held = serializers.CharField(
        allow_blank=True,
        help_text="What holds the score, and what it is after fixing the first of it; empty if no cap lowers it.",
    )
    catalogue_version = serializers.CharField()
    site_evidence_at = serializers.DateTimeField(
        allow_null=True,
        help_text="When an earlier visit of the audit gathered the oldest evidence about the whole site; null if this "
        "scan gathered all of it.",
    )
