"""Helpers that insert monitors into the database."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.utils import timezone

from sites.models import Monitor
from tests.factories import Member


def make_monitor(member: Member, **columns: Any) -> Monitor:
    """Create a monitor of one page that was due a minute ago."""
    values: dict[str, Any] = {
        "name": "Shop",
        "kind": "page",
        "pages": ["https://example.com/"],
        "types": ["seo"],
        "max_pages": 1,
        "every": "day",
        "alert": {},
        "next_run_at": timezone.now() - timedelta(minutes=1),
    }
    return Monitor.objects.create(organization=member.organization, **values | columns)
