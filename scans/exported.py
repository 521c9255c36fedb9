"""Export of an organization's scans in the API's format."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from accounts import access
from accounts.export.kinds import Kind
from scans.models import Scan
from scans.schemas import scan_detail_of


def _scan_rows(organization_id: int) -> QuerySet[Scan]:
    rows = access.rows(Scan, organization_id).defer("encrypted_credentials")
    return rows.select_related("api_key", "created_by", "audit_page")


def _scan_json(scan: Scan) -> dict[str, Any]:
    scan_json = {key: value for key, value in scan_detail_of(scan).items() if key != "progress"}
    return scan_json | {
        "catalogue_version": scan.catalogue_version or None,
        "audit_id": scan.audit_page.audit_id if scan.audit_page else None,
        "api_key": scan.api_key_id,
        "created_by": scan.created_by.email if scan.created_by else None,
    }


KINDS = (Kind("scans", _scan_rows, _scan_json, ("created_at", "pk")),)
