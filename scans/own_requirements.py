"""Own requirements of scans. Scans of an audit have those of the audit, so that each of them needs no copy."""

from __future__ import annotations

import json

from infrastructure.postgresql.statements import fetch
from scans.audit_sql import audit_sql
from website_scan.requirements.model import Requirements
from website_scan.requirements.reading import read_requirements


def requirements_of_scan(scan_id: str) -> Requirements | None:
    """Return the own requirements that the scan, or its audit, has."""
    query = f"SELECT ({audit_sql().requirements_of_scan})::text FROM scans_scan AS scan WHERE scan.id = %(scan)s"  # noqa: S608  # of constants
    for (text,) in fetch(query, {"scan": scan_id}):
        return requirements_of_column(text)
    return None


def requirements_of_column(text: str | None) -> Requirements | None:
    """Return the own requirements from a column's text, or None for null."""
    return read_requirements(json.loads(text)) if text else None
