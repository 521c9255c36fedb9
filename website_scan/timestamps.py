"""Timestamps in the API's format, such as `2026-11-21T07:15:00Z`."""

from __future__ import annotations

from datetime import UTC, datetime

TIMESTAMP_FORMAT = "%Y-%m-%dT%H:%M:%SZ"


def timestamp(moment: datetime) -> str:
    """Format an aware datetime as ISO 8601 in UTC, with whole seconds and `Z`."""
    return moment.astimezone(UTC).strftime(TIMESTAMP_FORMAT)
