"""Report of an assessment. Members, and anybody with the link of a shared one, may read it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.branding import branding_of
from accounts.shared_pages import require_visible, surroundings
from sites.assessments.documents.formats import DOCUMENT_FORMATS, PUBLIC_FORMATS, DocumentFormat
from sites.assessments.documents.statement import accessibility_statement
from sites.assessments.pages.report import MAX_NOTES_PER_CRITERION, conformance_report
from sites.assessments.visibility import VisibleAssessment, find_visible_assessment
from website_scan.report.references import safe_link


def _not_found(request: HttpRequest) -> HttpResponse:
    return render(request, "reports/not_found.html", {"thing": "report"}, status=404)


_require_visible = require_visible(
    look=find_visible_assessment, id_name="assessment_id", page="assessment-report", not_found=_not_found
)


@require_safe
@_require_visible
def assessment_report(request: HttpRequest, visible: VisibleAssessment) -> HttpResponse:
    """Render the conformance report for reading and print."""
    context = _context(visible) | {
        "report": conformance_report(visible.assessment),
        "most_notes": MAX_NOTES_PER_CRITERION,
    }
    return render(request, "sites/assessments/report.html", context)


@require_safe
@_require_visible
def assessment_statement(request: HttpRequest, visible: VisibleAssessment) -> HttpResponse:
    """Render the draft of the site's accessibility statement."""
    context = _context(visible) | {"statement": accessibility_statement(visible.assessment)}
    return render(request, "sites/assessments/statement.html", context)


@require_safe
@_require_visible
def assessment_export(
    request: HttpRequest, visible: VisibleAssessment, export_format: str
) -> HttpResponse | StreamingHttpResponse:
    """Download the assessment in one of the API's formats."""
    chosen = _formats_for(visible).get(export_format)
    if chosen is None:
        return _not_found(request)
    return chosen.response(visible.assessment)


def _formats_for(visible: VisibleAssessment) -> Mapping[str, DocumentFormat]:
    return DOCUMENT_FORMATS if visible.membership else PUBLIC_FORMATS


def _context(visible: VisibleAssessment) -> dict[str, Any]:
    assessment = visible.assessment
    return {
        **surroundings(visible),
        "section": "assessments",
        "assessment": assessment,
        "branding": branding_of(assessment.organization_id),
        "link": safe_link(assessment.url),
        "formats": _formats_for(visible),
    }
