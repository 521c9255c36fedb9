"""Timestamps in the format of the API: `2026-11-21T07:15:00Z`."""

from __future__ import annotations

from datetime import UTC, datetime

TIMESTAMP_FORMAT = "%Y-%m-%dT%H:%M:%SZ"


def timestamp(moment: datetime) -> str:
    """Format as ISO 8601 in UTC, whole seconds, `Z`. `moment` must be aware."""
    return moment.astimezone(UTC).strftime(TIMESTAMP_FORMAT)
