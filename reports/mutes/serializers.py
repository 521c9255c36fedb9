"""Serializers of mutes, for the API and openapi.yaml."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from infrastructure.api.fields import GRADE
from reports.serializers import FINDING_STATUSES, SEVERITIES

FINGERPRINT = r"^[0-9a-f]{16}$"
MUTE_ID = r"^mute_[0-9A-Za-z]{22}$"


class MuteSerializer(serializers.Serializer):
    """A mute that is in force."""

    id = serializers.RegexField(MUTE_ID)
    check = serializers.CharField(source="check_id")
    host = serializers.CharField()
    path_prefix = serializers.CharField(allow_null=True, help_text="Null: the whole host.")
    fingerprint = serializers.RegexField(FINGERPRINT, allow_null=True, help_text="Null: all places.")
    place = serializers.CharField(allow_null=True, help_text="The place in words, if it was muted on a page.")
    reason = serializers.CharField()
    by = serializers.CharField(allow_null=True, help_text="A member's address or an API key's name; null if removed.")
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()

    def to_representation(self, instance: Any) -> dict[str, Any]:
        shown: dict[str, Any] = super().to_representation(instance)
        return shown | {name: shown[name] or None for name in ("path_prefix", "fingerprint", "place", "by")}


class MuteListSerializer(serializers.Serializer):
    """The response of GET /v1/mutes."""

    mutes = MuteSerializer(many=True)
    total = serializers.IntegerField(min_value=0)
    limit = serializers.IntegerField(min_value=1)
    offset = serializers.IntegerField(min_value=0)


class ScoreWithoutSerializer(serializers.Serializer):
    """The score as if the muted findings had passed."""

    score = serializers.IntegerField(min_value=0, max_value=100)
    grade = serializers.RegexField(GRADE)


class MutedFindingSerializer(serializers.Serializer):
    """A failed or warned check of a report that is muted as a whole or in part."""

    check = serializers.CharField()
    title = serializers.CharField()
    status = serializers.ChoiceField(FINDING_STATUSES)
    severity = serializers.ChoiceField(SEVERITIES)
    is_whole = serializers.BooleanField(help_text="False where other places of it are not muted.")
    mutes = MuteSerializer(many=True)


class ReportMutesSerializer(serializers.Serializer):
    """The findings of a report that are muted now, and its score without them."""

    id = serializers.RegexField(r"^scan_[0-9A-Za-z]{22}$")
    score = serializers.IntegerField(min_value=0, max_value=100)
    grade = serializers.RegexField(GRADE)
    without_muted = ScoreWithoutSerializer(
        allow_null=True, help_text="Null where no finding is muted as a whole, and for reports from before mutes."
    )
    findings = MutedFindingSerializer(many=True)
