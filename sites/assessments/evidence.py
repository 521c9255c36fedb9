"""Reports of an audit's pages, from which assessments copy automatic results."""

from __future__ import annotations

from accounts import access
from reports.models import Report
from sites.audits.conformance import TYPE
from sites.models import Audit, AuditPage


def report_of(audit: Audit, url: str) -> Report | None:
    """Return the accessibility report of a page of the audit, or None if the audit has none."""
    rows = AuditPage.objects.filter(audit=audit, url=url, status=AuditPage.Status.DONE)
    result = next((results[TYPE] for results in rows.values_list("results", flat=True) if TYPE in results), None)
    if result is None:
        return None
    reports = access.rows(Report, audit.organization_id).filter(scan_id=result["scan_id"])
    return reports.defer("body", "exhibits", "waterfall", "screenshot", "page_picture", "film", "pictures").first()


def digest_of(report: Report | None) -> str:
    """Return the digest of the page's structure and text, or an empty string if it is unknown."""
    return report.facts.get("content_digest", "") if report else ""
