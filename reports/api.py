"""GET /v1/report/:id and its exports."""

from __future__ import annotations

from django.http import HttpResponse
from django.utils.http import parse_etags
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request

from accounts.authentication import caller_of
from config.api.pagination import choice
from config.api.schema import RATE_HEADERS, headers, id_parameter, responses
from config.api.views import ApiView
from reports import exports
from reports.serializers import ReportExportSerializer, ReportSerializer
from reports.services import access_report

CACHE_CONTROL = "public, max-age=86400"


class ReportView(ApiView):
    """GET /v1/report/:id."""

    @extend_schema(
        operation_id="get_report",
        summary="Get the full report",
        tags=["Reports"],
        parameters=[
            id_parameter("scan_id", "scan"),
            OpenApiParameter("If-None-Match", str, OpenApiParameter.HEADER),
            *RATE_HEADERS,
            *headers(
                [200, 304],
                ETag=(str, 'Of the form `"<scan_id>_v1"`; reports never change.'),
                Cache_Control=(str, f"`{CACHE_CONTROL}`."),
                Vary=(str, "`Authorization`."),
            ),
        ],
        responses=responses(
            {200: ReportSerializer, 304: None},
            e404="`SCAN_NOT_FOUND`: no such scan, another organization's, or the report has expired.",
            e409="`SCAN_NOT_COMPLETE`: the scan still runs, or it failed and has no report.",
        ),
    )
    def get(self, request: Request, scan_id: str) -> HttpResponse:
        """The frozen report of a scan that is `completed` or `partial`."""
        found_id, body = access_report(caller_of(request).organization_id, scan_id, "body")
        etag = f'"{found_id}_v1"'
        fresh = _matches(request, etag)
        # The stored bytes go out as they are: nothing is parsed or rendered again.
        response = HttpResponse(b"" if fresh else body, status=304 if fresh else 200, content_type="application/json")
        if fresh:
            del response["Content-Type"]
        response["ETag"] = etag
        response["Cache-Control"] = CACHE_CONTROL
        response["Vary"] = "Authorization"
        return response


class ReportExport(ApiView):
    """GET /v1/report/:id/export."""

    @extend_schema(
        operation_id="export_report",
        summary="Export the report as JSON with evidence, SARIF or CSV",
        tags=["Reports"],
        parameters=[
            id_parameter("scan_id", "scan"),
            OpenApiParameter("format", str, enum=exports.FORMATS, default="json"),
            *RATE_HEADERS,
            *headers([200], Content_Disposition=(str, "A file name for the download.")),
        ],
        responses=responses(
            {
                (200, "application/json"): ReportExportSerializer,
                (200, "application/sarif+json"): OpenApiTypes.OBJECT,
                (200, "text/csv"): OpenApiTypes.STR,
            },
            e400="`INVALID_PARAMS`: an unknown format.",
            e404="`SCAN_NOT_FOUND`.",
            e409="`SCAN_NOT_COMPLETE`.",
        ),
    )
    def get(self, request: Request, scan_id: str) -> HttpResponse:
        """JSON adds check IDs, evidence, references and points to the report; SARIF 2.1.0 and CSV list findings."""
        export_format = choice(request.query_params, "format", exports.FORMATS) or "json"
        found_id, export = access_report(caller_of(request).organization_id, scan_id, "export")
        content, content_type = exports.rendered(export, export_format)
        response = HttpResponse(content, content_type=content_type)
        response["Content-Disposition"] = f'attachment; filename="{found_id}.{export_format}"'
        response["Cache-Control"] = "private, max-age=86400"
        response["Vary"] = "Authorization"
        return response


def _matches(request: Request, etag: str) -> bool:
    """If-None-Match by weak comparison (RFC 9110, section 13.1.2)."""
    sent = request.headers.get("If-None-Match")
    if sent is None:
        return False
    return any(each == "*" or each.removeprefix("W/") == etag for each in parse_etags(sent))
