"""Serializers of badges, for the API and openapi.yaml."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rest_framework import serializers

from infrastructure.api.inputs import Address, Input, Pattern
from sites.models import Badge
from sites.serializers import MONITOR_ID
from website_scan.net.targets import Target

BADGE_ID = r"^bdg_[0-9A-Za-z]{22}$"


@dataclass(frozen=True, slots=True)
class BadgeRequest:
    """Request for the badge of a monitor, by its ID, or else of a page."""

    monitor: str = ""
    page: Target | None = None


class BadgeRequestSerializer(Input):
    """The body of POST /v1/badges: exactly one of the two."""

    monitor = Pattern(
        MONITOR_ID,
        required=False,
        help_text="The ID of one of your monitors.",
        says="monitor must be the ID of a monitor.",
    )
    page = Address(required=False, help_text="The URL of a page that has a report.")

    def validate(self, values: dict[str, Any]) -> BadgeRequest:
        if len(values) != 1:
            raise serializers.ValidationError("Send exactly one of monitor and page.")
        return BadgeRequest(**values)


class BadgeSerializer(serializers.Serializer):
    """A badge, of a monitor or of a page."""

    id = serializers.RegexField(BADGE_ID)
    monitor = serializers.RegexField(MONITOR_ID, source="monitor_id", required=False)
    page = serializers.CharField(required=False)
    badge_url = serializers.URLField(help_text="The picture, for anyone who has its address; with `?type=` of one.")
    created_at = serializers.DateTimeField()

    def to_representation(self, badge: Badge) -> dict[str, Any]:
        shown: dict[str, Any] = super().to_representation(badge)
        shown.pop("page" if badge.monitor_id else "monitor")
        return shown


class BadgeListSerializer(serializers.Serializer):
    badges = BadgeSerializer(many=True)
    total = serializers.IntegerField(min_value=0)
    limit = serializers.IntegerField()
    offset = serializers.IntegerField()
