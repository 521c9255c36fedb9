"""Report of an assessment. Members, and anybody with the link of a shared one, may read it."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.branding import branding_of
from accounts.shared_pages import require_visible, surroundings
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
    assessment = visible.assessment
    context = {
        **surroundings(visible),
        "section": "assessments",
        "assessment": assessment,
        "report": conformance_report(assessment),
        "branding": branding_of(assessment.organization_id),
        "link": safe_link(assessment.url),
        "most_notes": MAX_NOTES_PER_CRITERION,
    }
    return render(request, "sites/assessments/report.html", context)
