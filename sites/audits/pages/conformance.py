"""View model for the page with an audit's results by success criterion."""

from __future__ import annotations

from django.urls import reverse

from reports.page.conformance import TYPE, ConformancePage, ConformanceQuery, conformance_page
from scans.models import report_path
from sites.audits.pages.findings import finding_anchor
from sites.models import Audit
from website_scan.report.conformance import Conformance


def page_of_audit(audit: Audit, results: Conformance, query: ConformanceQuery) -> ConformancePage:
    """Return the template context for an audit's results, with links to its findings and reports.

    The findings of a single page are those of its report.
    """
    rows = audit.findings.filter(type=TYPE).values_list("check_id", "samples")
    report_urls = {
        (check_id, sample["url"]): f"{report_path(sample['scan_id'])}#check-{check_id}"
        for check_id, samples in rows
        for sample in samples
    }
    first_report_urls = {check_id: url for (check_id, _), url in reversed(report_urls.items())}
    audit_url = reverse("audit-page", args=[audit.id])

    def finding_url(check_id: str) -> str:
        return f"{audit_url}?type={TYPE}#{finding_anchor(TYPE, check_id)}"

    def report_url(check_id: str, page: str) -> str:
        return report_urls.get((check_id, page), "")

    if audit.kind == Audit.Kind.PAGE:
        return conformance_page(results, query, finding_url=lambda check_id: first_report_urls.get(check_id, audit_url))
    return conformance_page(results, query, finding_url=finding_url, report_url=report_url)
