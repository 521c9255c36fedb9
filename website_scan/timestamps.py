"""Timestamps in the format of the API: `2026-11-21T07:15:00Z`."""

from __future__ import annotations

from datetime import UTC, datetime

TIMESTAMP_FORMAT = "%Y-%m-%dT%H:%M:%SZ"


def timestamp(moment: datetime) -> str:
    """Return an aware datetime in UTC as ISO 8601 with whole seconds and `Z`."""
    return moment.astimezone(UTC).strftime(TIMESTAMP_FORMAT)
