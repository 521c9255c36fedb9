"""Retention of reports and mutes."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import Q
from django.utils import timezone

from infrastructure.postgresql.deletion import delete_with_references
from infrastructure.retention import HasTime, Retention, always
from reports.models import Mute, Report

# Mutes stay in the database for this time after their end, so that members can look up what was muted, by whom and why.
MUTES_RETENTION = timedelta(days=90)


def delete_reports(has_time: HasTime = always) -> bool:
    """Delete expired reports to free disk space.

    Visitors cannot open expired reports anyway.
    """
    return delete_with_references(Report.objects.filter(expires_at__lte=timezone.now()), has_time)


def delete_mutes(has_time: HasTime = always) -> bool:
    """Delete mutes 90 days after they ended."""
    before = timezone.now() - MUTES_RETENTION
    return delete_with_references(Mute.objects.filter(Q(ended_at__lte=before) | Q(expires_at__lte=before)), has_time)


RETENTION = (Retention("reports", delete_reports), Retention("mutes", delete_mutes))
