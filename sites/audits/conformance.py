"""Results of an audit by success criterion, from its findings on all pages, and their endpoint."""

from __future__ import annotations

from django.db.models import Sum
from django.http import HttpResponse
from rest_framework.request import Request

from accounts.authentication import caller_of
from infrastructure.api.schema import id_parameter, operation, responses
from infrastructure.api.views import ApiView
from reports.conformance_api import INVALID, QUERY_PARAMETERS, NotAccessibility, conformance_response, read_query
from reports.models import Report
from sites.audits.services import AuditNotComplete, find_audit
from sites.models import Audit, AuditPage
from website_scan.accessibility.standards import Standard
from website_scan.report.conformance import (
    CheckOfCriterion,
    Conformance,
    ConformanceOfPages,
    failure_of_checks,
    references_by_check,
)
from website_scan.report_json import checks_of
from website_scan.timestamps import timestamp

TYPE = "accessibility"


def has_conformance(audit: Audit) -> bool:
    """Return True if the audit has ended and scanned the accessibility of pages."""
    return audit.is_final and TYPE in audit.types


def conformance_of_audit(audit: Audit, standard: Standard, level: str) -> Conformance:
    """Return what the audit says about the criteria of a standard, with a bounded number of queries.

    A finding that fails on one page and warns on another one counts as a failure. Checks that found nothing are those
    of the first page, because an audit stores only findings of the others.
    """
    pages = ConformanceOfPages(audit.pages_done)
    references = references_by_check()
    rows = audit.findings.filter(type=TYPE).annotate(place_count=Sum("places__pages_affected")).order_by("check_id")
    findings = {row.check_id for row in rows}
    for row in rows:
        finding: CheckOfCriterion = {
            "id": row.check_id,
            "title": row.title,
            "message": row.message,
            "places": row.place_count or 0,
            "pages_affected": row.pages_affected,
            # States of a journey may share a URL.
            "pages": list(dict.fromkeys(sample["url"] for sample in row.samples)),
        }
        pages.add_finding(finding, references.get(row.check_id, ()), has_failed=row.status == "fail")
    report = Report.objects.filter(
        scan__type=TYPE, scan__audit_page__audit=audit, scan__audit_page__status=AuditPage.Status.DONE
    )
    first = report.order_by("scan__audit_page__position").first()
    for _, check in checks_of(first.export_json) if first is not None else ():
        if check["status"] == "pass" and check["id"] not in findings:
            pages.add_pass(check["id"], check["references"])
    return pages.conformance(standard, level)


def failure_of_audit(audit: Audit) -> str:
    """Return a sentence about the criteria of WCAG 2.2 that the audit's findings prove to fail, or an empty string."""
    if TYPE not in audit.types:
        return ""
    failed = audit.findings.filter(type=TYPE, status="fail").values_list("check_id", flat=True)
    references = references_by_check()
    return failure_of_checks(references.get(check_id, ()) for check_id in failed)


class AuditConformance(ApiView):
    """View of GET /v1/audits/:id/conformance."""

    @operation(
        operation_id="get_audit_conformance",
        summary="Get the results of all pages by success criterion",
        tags=["Audits"],
        parameters=[id_parameter("audit_id", "aud"), *QUERY_PARAMETERS],
        responses=responses(
            {200: Conformance},
            e400=INVALID,
            e404="`AUDIT_NOT_FOUND`.",
            e409="`AUDIT_NOT_COMPLETE`: the audit still runs. `NOT_ACCESSIBILITY`: it is of other types.",
        ),
    )
    def get(self, request: Request, audit_id: str) -> HttpResponse:
        """What the checks say about each success criterion of a standard on all pages. They prove failures only.

        `?format=csv` returns a table for spreadsheets, and `?format=earl` EARL 1.0 of the W3C as JSON-LD.
        """
        standard, level, body_format = read_query(request)
        audit = find_audit(caller_of(request).organization_id, audit_id)
        if not audit.is_final:
            raise AuditNotComplete("The audit is still running. Poll GET /v1/audits/:id until it has ended.")
        if TYPE not in audit.types:
            raise NotAccessibility("Only audits of accessibility have results by success criterion.")
        conformance = conformance_of_audit(audit, standard, level)
        completed_at = timestamp(audit.completed_at or audit.created_at)
        return conformance_response(conformance, body_format, audit.id, audit.url, completed_at)
