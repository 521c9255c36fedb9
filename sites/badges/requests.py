"""Validation of requests to create badges."""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from rest_framework import serializers

from infrastructure.api.inputs import Address, Input, Pattern
from website_scan.net.targets import Target

MONITOR_ID = r"^mon_[0-9A-Za-z]{22}$"


class BadgeRequest(Struct, frozen=True):
    """Validated request to create the badge of a monitor (by ID) or of a page."""

    monitor: str = ""
    page: Target | None = None


class BadgeRequestSerializer(Input):
    """Body of POST /v1/badges with exactly one of `monitor` and `page`."""

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
