"""Create a Report row from a scan's result."""

from __future__ import annotations

from django.db import connection

from infrastructure.postgresql.statements import execute
from reports.models import Report
from scans.models import Scan
from scans.signals import Ended
from website_scan.ids import new_report_id
from website_scan.report.serialization import export_json, report_json, stored_waterfall
from website_scan.report.storage import compact_json, stored_text
from website_scan.result import ScanResult

COLUMNS = Report._meta.concrete_fields
INSERT = (
    f"INSERT INTO {Report._meta.db_table} ({', '.join(column.attname for column in COLUMNS)})"  # noqa: S608  # built from constants only
    f" VALUES ({', '.join(f'%({column.attname})s' for column in COLUMNS)})"
)


def store_reports(*, ended: Ended, **_: object) -> None:
    """Store a report for every scan that has a result.

    Receives the signal `scan_ended`.
    """
    for scan, result in ended:
        if result is not None and result.error is None:
            _insert(build_report(scan, result))


def _insert(report: Report) -> None:
    """Insert a report row with server-side parameters.

    Django would copy its long texts into the SQL.
    """
    values = {
        column.attname: column.get_db_prep_save(getattr(report, column.attname), connection) for column in COLUMNS
    }
    execute(INSERT, values)


def build_report(scan: Scan, result: ScanResult) -> Report:
    """Return the unsaved Report row for a scan that ended with a result."""
    report_id = new_report_id()
    created_at, completed_at = scan.created_at, scan.completed_at
    assert completed_at is not None
    export = export_json(result, scan_id=scan.id, report_id=report_id, created_at=created_at, completed_at=completed_at)
    return Report(
        id=report_id,
        scan=scan,
        organization_id=scan.organization_id,
        body=compact_json(report_json(export)),
        export=stored_text(export),
        facts=result.facts,
        scoring=result.scoring,
        exhibits=result.exhibits,
        waterfall=stored_waterfall(result.waterfall) if result.waterfall else None,
        screenshot=result.screenshot,
        page_picture=result.pictures.page if result.pictures else None,
        film=result.pictures.film if result.pictures else None,
        pictures=result.pictures.places if result.pictures else None,
        created_at=created_at,
        expires_at=scan.kept_until,
        shared_at=completed_at if scan.organization.shares_reports else None,
    )
