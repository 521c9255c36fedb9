"""Requests for badges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rest_framework import serializers

from infrastructure.api.inputs import Address, Input, Pattern
from website_scan.net.targets import Target

MONITOR_ID = r"^mon_[0-9A-Za-z]{22}$"


@dataclass(frozen=True, slots=True)
class BadgeRequest:
    """Request for the badge of a monitor, by its ID, or of a page."""

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
