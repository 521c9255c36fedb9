"""API views for audits."""

from __future__ import annotations

from django.http import StreamingHttpResponse
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import caller_of
from infrastructure.api import idempotency
from infrastructure.api.pagination import choice, parse_limit_and_offset, unknown_format
from infrastructure.api.parsing import LongJSONParser
from infrastructure.api.schema import (
    FORMAT,
    PAGE_PARAMETERS,
    RETURNED,
    creation_parameters,
    file_response,
    headers,
    id_parameter,
    operation,
    responses,
)
from infrastructure.api.scopes import Scope
from infrastructure.api.typed import Answer
from infrastructure.api.views import ApiView, json_body
from reports.mutes.services import active_mutes
from scans.models import Scan
from scans.policy import scan_policy
from scans.requests import without_credentials
from sites.audits import services
from sites.audits.exports import WRITERS, export
from sites.audits.findings import in_order, listed
from sites.audits.listing import audit_list
from sites.audits.muting import AuditMutes
from sites.audits.requests import AuditRequestSerializer
from sites.audits.schemas import (
    AuditExportJson,
    AuditFindingList,
    AuditJson,
    AuditList,
    AuditPageList,
    audit_finding_of,
    audit_json_of,
    audit_page_of,
)
from sites.models import Audit, AuditPage
from website_scan.report.exports import FORMATS

POLL_AFTER_S = 2
NOT_FOUND = "`AUDIT_NOT_FOUND`: no such audit, or another organization's."


class AuditCollection(ApiView):
    """API view for POST and GET /v1/audits."""

    parser_classes = [LongJSONParser]
    scopes = {"POST": Scope.SCAN}

    @operation(
        operation_id="create_audit",
        summary="Create an audit of a page, a list of pages or a site",
        tags=["Audits"],
        request=AuditRequestSerializer,
        parameters=creation_parameters(202, "audit"),
        responses=responses(
            {202: RETURNED},
            e400="`INVALID_URL`, `INVALID_TYPE`, `INVALID_PAGES` (`pages` has the `position`, `code` and `error` of "
            "each), `URL_NOT_REACHABLE` or `INVALID_PARAMS`.",
            e403="`DOMAIN_BLOCKED`: the target is not publicly accessible, or blocked here.",
            e409="`IDEMPOTENCY_CONFLICT`: a request with this key is still in progress.",
            e413="`PAYLOAD_TOO_LARGE`: over 1 MiB.",
            e415="`UNSUPPORTED_MEDIA_TYPE`: the body is not JSON.",
            e422="`IDEMPOTENCY_MISMATCH`: the key was used with another body.",
            e429="`RATE_LIMITED`, `QUOTA_EXCEEDED`, or `CONCURRENT_LIMIT`: too many audits are in progress.",
        ),
    )
    def post(self, request: Request) -> Answer[AuditJson]:
        """Creates an audit. Its pages are scanned for all types together as soon as the organization has free slots."""
        caller, body, key = caller_of(request), json_body(request), idempotency.key_of(request.headers)
        pages_per_audit = caller.limits.pages_per_audit
        audit_request = AuditRequestSerializer.judged(body, policy=scan_policy(), pages_per_audit=pages_per_audit)
        once = idempotency.once(key, {"audit": without_credentials(body)})
        created = services.create_audit(caller=caller, request=audit_request, once=once)
        return Answer(created.response, status=202, headers=created.headers("/v1/audits"))

    @operation(
        operation_id="list_audits",
        summary="List audits",
        tags=["Audits"],
        parameters=[*PAGE_PARAMETERS, OpenApiParameter("status", str, enum=Audit.Status.values)],
        responses=responses({200: RETURNED}, e400="`INVALID_PARAMS`."),
    )
    def get(self, request: Request) -> Answer[AuditList]:
        """Lists the organization's audits, newest first, without dry runs of journeys."""
        query = request.query_params
        page_slice = parse_limit_and_offset(query)
        status = choice(query, "status", Audit.Status.values)
        organization_id = caller_of(request).organization_id
        return Answer(audit_list(organization_id=organization_id, status=status, page_slice=page_slice))


class AuditItem(ApiView):
    """API view for GET and DELETE /v1/audits/:id."""

    scopes = {"DELETE": Scope.SCAN}

    @operation(
        operation_id="get_audit",
        summary="Get the status, progress and scores of an audit",
        tags=["Audits"],
        parameters=[
            id_parameter("audit_id", "aud"),
            *headers([200], Retry_After=(int, "Seconds to wait before asking again; absent once final.")),
        ],
        responses=responses({200: RETURNED}, e404=NOT_FOUND),
    )
    def get(self, request: Request, audit_id: str) -> Answer[AuditJson]:
        """Returns an audit. Poll it until the status is `completed`, `partial`, `failed` or `cancelled`."""
        audit = services.find_audit(caller_of(request).organization_id, audit_id)
        retry_headers = {} if audit.is_final else {"Retry-After": str(POLL_AFTER_S)}
        return Answer(audit_json_of(audit), headers=retry_headers)

    @operation(
        operation_id="cancel_audit",
        summary="Cancel an audit",
        tags=["Audits"],
        parameters=[id_parameter("audit_id", "aud")],
        responses=responses({200: RETURNED}, e404=NOT_FOUND),
    )
    def delete(self, request: Request, audit_id: str) -> Answer[AuditJson]:
        """Cancels an audit. Running scans continue, waiting scans do not start. A finished audit does not change."""
        return Answer(audit_json_of(services.cancel_audit(caller=caller_of(request), audit_id=audit_id)))


EXPORT_ERRORS = {"e404": NOT_FOUND, "e409": "`AUDIT_NOT_COMPLETE`: the audit is still in progress."}
EXPORT_PARAMETERS = [
    id_parameter("audit_id", "aud"),
    *headers(
        [200],
        Content_Disposition=(str, "A file name for the download."),
        Cache_Control=(str, "`private, no-cache`."),
        Vary=(str, "`Authorization`."),
    ),
]


class AuditExport(ApiView):
    """API view for GET /v1/audits/:id/export."""

    @operation(
        operation_id="export_audit",
        summary="Export an audit that has ended as JSON",
        tags=["Audits"],
        parameters=[*EXPORT_PARAMETERS, FORMAT],
        responses=responses({200: AuditExportJson}, e400="`INVALID_PARAMS`: an unknown format.", **EXPORT_ERRORS),
    )
    def get(self, request: Request, audit_id: str) -> StreamingHttpResponse:
        """Returns all findings and pages of an audit in one JSON document.

        `?format=sarif` and `?format=csv` answer as `/export/sarif` and `/export/csv` do.
        """
        return _export_response(request, audit_id, choice(request.query_params, "format", list(WRITERS)) or "json")


def _export_view(ending: str) -> type[ApiView]:
    """Return the API view of GET /v1/audits/:id/export/<ending>."""
    export_format = FORMATS[ending]

    class AuditFile(ApiView):
        @operation(
            operation_id=f"export_audit_{ending}",
            summary=f"Export the findings of an audit that has ended as {export_format.name}",
            description=WRITERS[ending].about,
            tags=["Audits"],
            parameters=EXPORT_PARAMETERS,
            responses=responses(file_response(export_format.media_type), **EXPORT_ERRORS),
        )
        def get(self, request: Request, audit_id: str) -> StreamingHttpResponse:
            return _export_response(request, audit_id, ending)

    return AuditFile


class UnknownAuditExport(ApiView):
    """API view that returns an error for unknown export formats of audits."""

    @operation(exclude=True)
    def get(self, request: Request, audit_id: str, ending: str) -> Response:
        raise unknown_format(WRITERS)


# Keys are the last segments of the paths. JSON is missing, because its path ends with `export`.
EXPORT_VIEWS = {ending: _export_view(ending) for ending in WRITERS if ending != "json"}


class AuditPages(ApiView):
    """API view for GET /v1/audits/:id/pages."""

    @operation(
        operation_id="list_audit_pages",
        summary="List the pages of an audit with their scans and scores",
        tags=["Audits"],
        parameters=[
            id_parameter("audit_id", "aud"),
            *PAGE_PARAMETERS,
            OpenApiParameter("status", str, enum=AuditPage.Status.values),
        ],
        responses=responses({200: RETURNED}, e400="`INVALID_PARAMS`.", e404=NOT_FOUND),
    )
    def get(self, request: Request, audit_id: str) -> Answer[AuditPageList]:
        """Lists the pages of an audit in the order in which they were requested or discovered."""
        page_slice = parse_limit_and_offset(request.query_params)
        audit = services.find_audit(caller_of(request).organization_id, audit_id)
        pages = audit.pages.all()
        if (status := choice(request.query_params, "status", AuditPage.Status.values)) is not None:
            pages = pages.filter(status=status)
        pages_json = [audit_page_of(page) for page in page_slice.of(pages.order_by("position"))]
        return Answer({"pages": pages_json, **page_slice.bounds(pages)})


class AuditFindings(ApiView):
    """API view for GET /v1/audits/:id/findings."""

    @operation(
        operation_id="list_audit_findings",
        summary="List the findings, each check once for all its places and pages",
        tags=["Audits"],
        parameters=[
            id_parameter("audit_id", "aud"),
            *PAGE_PARAMETERS,
            OpenApiParameter("type", str, enum=Scan.Type.values),
            OpenApiParameter("outcome", str, description="Only this outcome of a check, such as `hsts.short`."),
        ],
        responses=responses({200: RETURNED}, e400="`INVALID_PARAMS`.", e404=NOT_FOUND),
    )
    def get(self, request: Request, audit_id: str) -> Answer[AuditFindingList]:
        """Lists the findings of an audit, critical failures first.

        Findings that cause score caps are next, then those with the most points to gain. A failed or warned check is
        one finding with its places, however many pages have it. A fact that two types find is listed once, under the
        check that reports it; with `type`, also under the other check.
        """
        page_slice = parse_limit_and_offset(request.query_params)
        audit = services.find_audit(caller_of(request).organization_id, audit_id)
        mutes = _mutes_of(audit)
        rows = in_order(audit, choice(request.query_params, "type", Scan.Type.values) or "")
        if (outcome := request.query_params.get("outcome")) is not None:
            rows = [row for row in rows if outcome in row.outcome_names]
        findings_json = [audit_finding_of(finding, mutes) for finding in listed(audit, page_slice.of(rows), mutes)]
        return Answer(
            {"findings": findings_json, "total": len(rows), "limit": page_slice.limit, "offset": page_slice.offset}
        )


def _export_response(request: Request, audit_id: str, ending: str) -> StreamingHttpResponse:
    audit = services.find_ended_audit(caller_of(request).organization_id, audit_id)
    pieces = export(audit, ending, _mutes_of(audit))
    response = StreamingHttpResponse(pieces, content_type=FORMATS[ending].media_type)
    response["Content-Disposition"] = f'attachment; filename="{audit.id}.{ending}"'
    response["Cache-Control"] = "private, no-cache"
    response["Vary"] = "Authorization"
    return response


def _mutes_of(audit: Audit) -> AuditMutes:
    return AuditMutes(audit, active_mutes(audit.organization_id, timezone.now()))
