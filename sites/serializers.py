"""Fields and patterns that the serializers of audits, monitors, lists and badges share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from infrastructure.api.inputs import Text
from scans.models import Scan
from sites.models.monitor import NAME_LENGTH
from sites.schedule import time_zones

MONITOR_ID = r"^mon_[0-9A-Za-z]{22}$"
RUN_ID = r"^run_[0-9A-Za-z]{22}$"


def name_field(**options: Any) -> Text:
    """Return the field for the name of a monitor or a list."""
    return Text(
        max_length=NAME_LENGTH,
        says=f"name must have 1 to {NAME_LENGTH} printable characters.",
        tidy=lambda name: " ".join(name.split()),
        accepts=str.isprintable,
        **options,
    )


def zone_field() -> Text:
    """Return the field for a time zone."""
    return Text(
        required=False,
        help_text="Of the IANA time zone database; else UTC.",
        says="timezone must be a name of the IANA time zone database, such as Europe/Berlin.",
        accepts=lambda name: name in time_zones(),
    )


class ByTypeField(serializers.DictField):
    """Field for values by scan type, always in the order of the types."""

    def to_representation(self, value: Mapping[str, Any]) -> dict[str, Any]:
        return super().to_representation({each: value[each] for each in Scan.Type.values if each in value})
