"""Row types for exporting an organization's reports and mutes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet

from accounts import access
from accounts.export.kinds import Kind
from reports.models import Mute, Report
from website_scan.report.exports import export_for_users


def _report_rows(organization_id: int) -> QuerySet[Report]:
    rows = access.rows(Report, organization_id).filter(scan__organization_id=organization_id)
    return rows.select_related("scan").only("id", "export", "scan__created_at")


def _report_json(report: Report) -> Iterator[bytes]:
    yield export_for_users(report.export).encode()


def _mute_json(mute: Mute) -> dict[str, Any]:
    return {
        "id": mute.id,
        "check": mute.check_id,
        "host": mute.host,
        "path_prefix": mute.path_prefix or None,
        "outcome": mute.outcome or None,
        "fingerprint": mute.fingerprint or None,
        "place": mute.place or None,
        "reason": mute.reason,
        "created_by": mute.created_by.email if mute.created_by else None,
        "api_key": mute.api_key_id,
        "created_at": mute.created_at,
        "expires_at": mute.expires_at,
        "ended_at": mute.ended_at,
    }


KINDS = (
    Kind("reports", _report_rows, _report_json, ("scan__created_at", "scan_id"), has_own_files=True),
    Kind("mutes", lambda id: access.rows(Mute, id).select_related("created_by"), _mute_json),
)
