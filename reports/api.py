"""Endpoints for a report, its exports, its mutes, and its diff with another report."""

from __future__ import annotations

from django.http import HttpResponse
from django.utils import timezone
from django.utils.http import parse_etags
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from accounts.authentication import caller_of
from infrastructure.api.pagination import choice, unknown_format
from infrastructure.api.schema import FORMAT, RETURNED, file_response, headers, id_parameter, operation, responses
from infrastructure.api.typed import Answer
from infrastructure.api.views import ApiView
from reports.diff_json import DiffJson, diff_json_of
from reports.formats import report_formats
from reports.mutes.services import active_mutes
from reports.services import PREVIOUS, access_report, load_exports_to_compare, scoring_basis
from scans.check_catalogue import check_pages
from website_scan.report import exports
from website_scan.report.diff import diff
from website_scan.report.mute_matching import NO_MUTES
from website_scan.report.muting import ReportMutesJson, serialize_muted_findings
from website_scan.report.storage import read_export
from website_scan.report_json import ExportJson, ReportJson

CACHE_CONTROL = "public, max-age=86400"
DIFF_CACHE_CONTROL = "private, no-cache"


class ReportView(ApiView):
    """View of GET /v1/report/:id."""

    @operation(
        operation_id="get_report",
        summary="Get the full report",
        tags=["Reports"],
        parameters=[
            id_parameter("scan_id", "scan"),
            OpenApiParameter("If-None-Match", str, OpenApiParameter.HEADER),
            *headers(
                [200, 304],
                ETag=(str, 'Of the form `"<scan_id>_v1"`; reports never change.'),
                Cache_Control=(str, f"`{CACHE_CONTROL}`."),
                Vary=(str, "`Authorization`."),
            ),
        ],
        responses=responses(
            {200: ReportJson, 304: None},
            e404="`SCAN_NOT_FOUND`: no such scan, another organization's, or the report has expired.",
            e409="`SCAN_NOT_COMPLETE`: the scan still runs, or it failed and has no report.",
        ),
    )
    def get(self, request: Request, scan_id: str) -> HttpResponse:
        """The stored report of a scan that is `completed` or `partial`."""
        canonical_id, body = access_report(caller_of(request).organization_id, scan_id, "body")
        etag = f'"{canonical_id}_v1"'
        is_unchanged = _matches_etag(request, etag)
        # The response is the stored text of the report, which need not be parsed or rendered.
        response = HttpResponse(
            b"" if is_unchanged else body, status=304 if is_unchanged else 200, content_type="application/json"
        )
        if is_unchanged:
            del response["Content-Type"]
        response["ETag"] = etag
        response["Cache-Control"] = CACHE_CONTROL
        response["Vary"] = "Authorization"
        return response


EXPORT_ERRORS = {"e404": "`SCAN_NOT_FOUND`.", "e409": "`SCAN_NOT_COMPLETE`."}
EXPORT_PARAMETERS = [
    id_parameter("scan_id", "scan"),
    *headers(
        [200],
        Content_Disposition=(str, "A file name for the download."),
        Cache_Control=(str, "`private`, and for how long."),
        Vary=(str, "`Authorization`."),
    ),
]


class ReportExport(ApiView):
    """View of GET /v1/report/:id/export."""

    @operation(
        operation_id="export_report",
        summary="Export the report as JSON with evidence",
        tags=["Reports"],
        parameters=[*EXPORT_PARAMETERS, FORMAT],
        responses=responses({200: ExportJson}, e400="`INVALID_PARAMS`: an unknown format.", **EXPORT_ERRORS),
    )
    def get(self, request: Request, scan_id: str) -> HttpResponse:
        """The report with check IDs, evidence, references and points.

        `?format=sarif` and `?format=csv` answer as `/export/sarif` and `/export/csv` do.
        """
        return _export_response(
            request, scan_id, choice(request.query_params, "format", list(report_formats())) or "json"
        )


def _export_view(extension: str, export_format: exports.ExportFormat) -> type[ApiView]:
    """Return the view class for GET /v1/report/:id/export/<extension>."""

    class ReportFile(ApiView):
        @operation(
            operation_id=f"export_report_{extension}",
            summary=f"Export the findings as {export_format.name}",
            description=export_format.about,
            tags=["Reports"],
            parameters=EXPORT_PARAMETERS,
            responses=responses(file_response(export_format.media_type), **EXPORT_ERRORS),
        )
        def get(self, request: Request, scan_id: str) -> HttpResponse:
            return _export_response(request, scan_id, extension)

    return ReportFile


# Maps the last part of a path to the export format's view. JSON is missing, because its path is `export`.
EXPORT_VIEWS = {
    extension: _export_view(extension, export_format)
    for extension, export_format in exports.FORMATS.items()
    if extension != "json"
}


class UnknownReportExport(ApiView):
    """View of GET /v1/report/:id/export/<format>, for formats of plug-ins and unknown ones."""

    @operation(exclude=True)
    def get(self, request: Request, scan_id: str, ending: str) -> HttpResponse:
        if ending in (formats := report_formats()):
            return _export_response(request, scan_id, ending)
        raise unknown_format(formats)


class ReportDiff(ApiView):
    """View of GET /v1/report/:id/diff."""

    @operation(
        operation_id="diff_reports",
        summary="What changed since another report of the page",
        tags=["Reports"],
        parameters=[
            id_parameter("scan_id", "scan"),
            OpenApiParameter(
                "with",
                str,
                default=PREVIOUS,
                description="The ID of the scan to compare with, or `previous`: the last report before this one of the "
                "same page and type.",
            ),
            OpenApiParameter("If-None-Match", str, OpenApiParameter.HEADER),
            *headers(
                [200, 304],
                ETag=(str, "Names both reports, which never change, and what is muted."),
                Cache_Control=(str, f"`{DIFF_CACHE_CONTROL}`."),
                Vary=(str, "`Authorization`."),
            ),
        ],
        responses=responses(
            {200: DiffJson, 304: None},
            e400="`REPORTS_NOT_COMPARABLE`: the reports are of different pages or types.",
            e404="`SCAN_NOT_FOUND`: one of the scans does not exist, is another organization's, or its report has "
            "expired. `NO_PREVIOUS_REPORT`: there is none to compare with.",
            e409="`SCAN_NOT_COMPLETE`: one of the scans still runs, or it failed and has no report.",
        ),
    )
    def get(self, request: Request, scan_id: str) -> HttpResponse:
        """New, fixed, worse and better findings, compared by their places. Muted findings are listed separately."""
        other = request.query_params.get("with", PREVIOUS)
        organization_id = caller_of(request).organization_id
        before, after = load_exports_to_compare(organization_id, scan_id, other)
        mutes = active_mutes(organization_id, timezone.now()).of_page(after["url"])
        etag = f'"{before["id"]}_{after["id"]}_v1{mutes.digest and "_"}{mutes.digest}"'
        response: HttpResponse
        if _matches_etag(request, etag):
            response = HttpResponse(status=304)
            del response["Content-Type"]
        else:
            response = Answer[DiffJson](diff_json_of(diff(before, after, mutes)))
        response["ETag"] = etag
        # The diff is not immutable, because the previous report and the code that compares reports may change.
        response["Cache-Control"] = DIFF_CACHE_CONTROL
        response["Vary"] = "Authorization"
        return response


class ReportMutes(ApiView):
    """View of GET /v1/report/:id/mutes."""

    @operation(
        operation_id="get_report_mutes",
        summary="List what is muted in a report, with its score without it",
        tags=["Mutes"],
        parameters=[id_parameter("scan_id", "scan")],
        responses=responses(
            {200: RETURNED},
            e404="`SCAN_NOT_FOUND`.",
            e409="`SCAN_NOT_COMPLETE`.",
        ),
    )
    def get(self, request: Request, scan_id: str) -> Answer[ReportMutesJson]:
        """The mutes that are in force now. The report itself never changes."""
        organization_id = caller_of(request).organization_id
        canonical_id, export = access_report(organization_id, scan_id, "export")
        mutes = active_mutes(organization_id, timezone.now())
        return Answer(
            serialize_muted_findings(read_export(export), scoring_basis(organization_id, canonical_id), mutes)
        )


def _export_response(request: Request, scan_id: str, ending: str) -> HttpResponse:
    organization_id = caller_of(request).organization_id
    canonical_id, export = access_report(organization_id, scan_id, "export")
    export_format = report_formats()[ending]
    mutes = active_mutes(organization_id, timezone.now()) if export_format.has_mutes else NO_MUTES
    content = export_format.render(export, mutes.findings, check_pages())
    response = HttpResponse(content, content_type=export_format.media_type)
    response["Content-Disposition"] = f'attachment; filename="{canonical_id}.{ending}"'
    # Only formats without mutes are immutable, because mutes may change.
    response["Cache-Control"] = "private, no-cache" if export_format.has_mutes else "private, max-age=86400"
    response["Vary"] = "Authorization"
    return response


def _matches_etag(request: Request, etag: str) -> bool:
    """Return True if the header If-None-Match matches the ETag, by weak comparison (RFC 9110, section 13.1.2)."""
    if_none_match = request.headers.get("If-None-Match")
    if if_none_match is None:
        return False
    return any(tag == "*" or tag.removeprefix("W/") == etag for tag in parse_etags(if_none_match))
