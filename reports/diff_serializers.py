"""Serializers of the diff of two reports, for the API and the command `diff`."""

from __future__ import annotations

from rest_framework import serializers

from infrastructure.api.fields import GRADE
from reports.serializers import FINDING_STATUSES, REPORT_STATUSES, SEVERITIES
from website_scan.document import ExportDocument
from website_scan.report.diff import Reason

SIDES = ("from", "to")
REASONS = [str(each) for each in Reason]


class PlaceSerializer(serializers.Serializer):
    """A place of a finding: an element, an address, a header or a cookie."""

    fingerprint = serializers.RegexField(
        r"^[0-9a-f]{16}$", help_text="The same in every report that has this finding at this place."
    )
    text = serializers.CharField(help_text="The place as the report names it.")


class FindingStateSerializer(serializers.Serializer):
    """The verdict of a report on a check that did not pass."""

    status = serializers.ChoiceField(FINDING_STATUSES)
    severity = serializers.ChoiceField(SEVERITIES)


class ChangeSerializer(serializers.Serializer):
    """A check that failed or warned in at least one of the reports."""

    id = serializers.CharField()
    name = serializers.CharField()
    title = serializers.CharField(help_text="What was found.")
    category = serializers.CharField()
    message = serializers.CharField(help_text="That of the newer finding.")
    before = FindingStateSerializer(allow_null=True)
    after = FindingStateSerializer(allow_null=True)
    new_places = PlaceSerializer(many=True)
    fixed_places = PlaceSerializer(many=True)


class NotComparedSerializer(serializers.Serializer):
    """A finding of one report on which the other has no verdict: neither new nor fixed."""

    id = serializers.CharField()
    name = serializers.CharField()
    title = serializers.CharField()
    category = serializers.CharField()
    severity = serializers.ChoiceField(SEVERITIES)
    found_in = serializers.ChoiceField(SIDES)
    reason = serializers.ChoiceField(REASONS, help_text="Why the other report is silent.")


class ComparedReportSerializer(serializers.Serializer):
    """One of the two reports."""

    id = serializers.RegexField(r"^scan_[0-9A-Za-z]{22}$")
    url = serializers.CharField()
    created_at = serializers.DateTimeField()
    completed_at = serializers.DateTimeField()
    status = serializers.ChoiceField(REPORT_STATUSES)
    score = serializers.IntegerField(min_value=0, max_value=100)
    grade = serializers.RegexField(GRADE)
    browser = serializers.CharField(allow_null=True)
    catalogue_version = serializers.CharField()

    def to_representation(self, document: ExportDocument) -> dict[str, object]:
        # The stored document has the values in their final form.
        return {str(name): document.get(str(name)) for name in self.fields}


class ScoreChangeSerializer(serializers.Serializer):
    """Both scores, and the difference of the newer one to the older."""

    before = serializers.IntegerField(min_value=0, max_value=100, source="before.score")
    after = serializers.IntegerField(min_value=0, max_value=100, source="after.score")
    change = serializers.IntegerField(
        allow_null=True, source="points", help_text="Null where the scores come from different rules."
    )


class DiffSerializer(serializers.Serializer):
    """Diff of two reports of the same page and type."""

    score = ScoreChangeSerializer(source="*")
    same_rules = serializers.BooleanField(help_text="False where the reports have different catalogue versions.")
    same_browser = serializers.BooleanField(help_text="False where only one of them was judged in a browser.")
    new = ChangeSerializer(many=True)
    fixed = ChangeSerializer(many=True)
    worse = ChangeSerializer(many=True, help_text="More severe, failed instead of warned, or at new places.")
    better = ChangeSerializer(many=True)
    not_compared = NotComparedSerializer(many=True)
    muted = ChangeSerializer(many=True, help_text="Findings of either that are muted; they are in none of the others.")
    same = serializers.IntegerField(
        min_value=0, source="same_count", help_text="How many findings of both have not changed."
    )

    def get_fields(self) -> dict[str, serializers.Field]:
        """Add the fields `from` and `to` here, because `from` is a keyword and cannot be an attribute in Python."""
        reports = {"from": ComparedReportSerializer(source="before"), "to": ComparedReportSerializer(source="after")}
        return {**reports, **super().get_fields()}
