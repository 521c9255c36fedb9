"""Endpoint for the results of an accessibility report by success criterion."""

from __future__ import annotations

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from accounts.authentication import caller_of
from infrastructure.api.pagination import choice
from infrastructure.api.schema import FORMAT, headers, id_parameter, operation, responses
from infrastructure.api.typed import Answer
from infrastructure.api.views import ApiView
from reports.conformance_files import FILES, conformance_file
from reports.services import access_report
from website_scan.accessibility.standards import LEVELS, Standard
from website_scan.errors import Refusal
from website_scan.report.conformance import DEFAULT_LEVEL, DEFAULT_STANDARD, Conformance, conformance_of_reports
from website_scan.report.storage import read_export


class NotAccessibility(Refusal):
    code = "NOT_ACCESSIBILITY"
    status = 409


QUERY_PARAMETERS = [
    OpenApiParameter("standard", str, enum=[one.value for one in Standard], default=DEFAULT_STANDARD.value),
    OpenApiParameter("level", str, enum=list(LEVELS), default=DEFAULT_LEVEL),
    FORMAT,
]
INVALID = "`INVALID_PARAMS`: an unknown standard, level or format."


class ReportConformance(ApiView):
    """View of GET /v1/report/:id/conformance."""

    @operation(
        operation_id="get_report_conformance",
        summary="Get the results by success criterion",
        tags=["Reports"],
        parameters=[
            id_parameter("scan_id", "scan"),
            *QUERY_PARAMETERS,
            *headers([200], Cache_Control=(str, "`private`, and for how long."), Vary=(str, "`Authorization`.")),
        ],
        responses=responses(
            {200: Conformance},
            e400=INVALID,
            e404="`SCAN_NOT_FOUND`.",
            e409="`SCAN_NOT_COMPLETE`, or `NOT_ACCESSIBILITY`: the scan is of another type.",
        ),
    )
    def get(self, request: Request, scan_id: str) -> HttpResponse:
        """What the checks say about each success criterion of a standard. They prove failures only.

        Muted findings count, because a mute changes nothing on the page.

        `?format=csv` returns a table for spreadsheets, and `?format=earl` EARL 1.0 of the W3C as JSON-LD.
        """
        standard, level, body_format = read_query(request)
        canonical_id, text = access_report(caller_of(request).organization_id, scan_id, "export")
        report = read_export(text)
        if report["type"] != "accessibility":
            raise NotAccessibility("Only reports of accessibility scans have results by success criterion.")
        conformance = conformance_of_reports([report], standard, level)
        url = report.get("final_url") or report["url"]
        response = conformance_response(conformance, body_format, canonical_id, url, report["completed_at"])
        response["Cache-Control"] = "private, max-age=86400"
        response["Vary"] = "Authorization"
        return response


def read_query(request: Request) -> tuple[Standard, str, str]:
    """Return the standard, the level and the format that a request asks for. Raises InvalidParams."""
    query = request.query_params
    standard = Standard(choice(query, "standard", [one.value for one in Standard]) or DEFAULT_STANDARD)
    return standard, choice(query, "level", LEVELS) or DEFAULT_LEVEL, choice(query, "format", list(FILES)) or "json"


def conformance_response(
    conformance: Conformance, body_format: str, id: str, url: str, completed_at: str
) -> HttpResponse:
    """Return the results of the page or site `url` in the requested format."""
    if body_format == "json":
        return Answer[Conformance](conformance)
    return conformance_file(conformance, body_format, id, url, completed_at)
