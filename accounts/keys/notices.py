"""Notices that an API key is about to end."""

from __future__ import annotations

from datetime import datetime

# How many days before the end.
NOTICE_DAYS = (14, 3)


def notice_days_from(now: datetime, expires_at: datetime | None) -> int | None:
    """What `ApiKey.notice_days` begins with: who has just chosen so near an end needs no notice of it."""
    if expires_at is None:
        return None
    return min((days for days in NOTICE_DAYS if (expires_at - now).days <= days), default=None)
