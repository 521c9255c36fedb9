"""Fields and patterns that the serializers of audits, monitors, lists and badges share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from scans.models import Scan

MONITOR_ID = r"^mon_[0-9A-Za-z]{22}$"
RUN_ID = r"^run_[0-9A-Za-z]{22}$"


class ByTypeField(serializers.DictField):
    """Field for values by scan type, always in the order of the types."""

    def to_representation(self, value: Mapping[str, Any]) -> dict[str, Any]:
        return super().to_representation({each: value[each] for each in Scan.Type.values if each in value})
