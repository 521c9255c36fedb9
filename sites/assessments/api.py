"""API views for assessments, their refreshes, reports and logs.

`sample_api` has the views for pages, results and findings.
"""

from __future__ import annotations

from django.http import StreamingHttpResponse
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import caller_of
from infrastructure.api import idempotency
from infrastructure.api.pagination import choice, parse_limit_and_offset
from infrastructure.api.parsing import LongJSONParser
from infrastructure.api.schema import (
    FORMAT,
    PAGE_PARAMETERS,
    RETURNED,
    creation_parameters,
    headers,
    id_parameter,
    operation,
    responses,
)
from infrastructure.api.typed import Answer
from infrastructure.api.views import ApiView, json_body
from sites.assessments import services
from sites.assessments.documents.formats import DOCUMENT_FORMATS
from sites.assessments.loading import assessment_json_of, assessments_json, event_json_of, events_of
from sites.assessments.requests import AssessmentFieldsSerializer, AssessmentRequestSerializer, RefreshSerializer
from sites.assessments.schemas import AssessmentJson, AssessmentList, AssessmentLog, AssessmentReport

ASSESSMENT = id_parameter("assessment_id", "asm")
NOT_FOUND = "`ASSESSMENT_NOT_FOUND`: no such assessment, or another organization's."
INVALID = "`INVALID_PARAMS`, which names the field."
FINISHED = "`ASSESSMENT_FINISHED`: reopen it first."
BODY_REFUSALS = {
    "e413": "`PAYLOAD_TOO_LARGE`: over 1 MiB.",
    "e415": "`UNSUPPORTED_MEDIA_TYPE`: the body is not JSON.",
}
AUDIT_REFUSALS = "`AUDIT_NOT_FOUND`: no such audit, or another organization's."


class AssessmentCollection(ApiView):
    """API view for POST and GET /v1/assessments."""

    parser_classes = [LongJSONParser]

    @operation(
        operation_id="create_assessment",
        summary="Create an assessment from an audit",
        tags=["Assessments"],
        request=AssessmentRequestSerializer,
        parameters=creation_parameters(201, "assessment"),
        responses=responses(
            {201: RETURNED},
            e400="`INVALID_PARAMS`, which names the field: also for an audit without accessibility results.",
            e404=AUDIT_REFUSALS,
            e409="`ASSESSMENT_LIMIT`: as many as the plan allows. `AUDIT_NOT_COMPLETE`: the audit is in progress. "
            "`IDEMPOTENCY_CONFLICT`: a request with this key is still in progress.",
            e422="`IDEMPOTENCY_MISMATCH`: the key was used with another body.",
            **BODY_REFUSALS,
        ),
    )
    def post(self, request: Request) -> Answer[AssessmentJson]:
        """Creates an assessment and chooses a sample of the audit's pages.

        The automatic results are copied in the background: `refreshing` is true until all are there. They stay when
        the audit expires.
        """
        caller, body, key = caller_of(request), json_body(request), idempotency.key_of(request.headers)
        values = AssessmentRequestSerializer.judged(body)
        once = idempotency.once(key, {"assessment": body})
        created = services.create_assessment(caller=caller, values=values, once=once)
        return Answer(created.response, status=201, headers=created.headers("/v1/assessments"))

    @operation(
        operation_id="list_assessments",
        summary="List assessments",
        tags=["Assessments"],
        parameters=PAGE_PARAMETERS,
        responses=responses({200: RETURNED}, e400="`INVALID_PARAMS`."),
    )
    def get(self, request: Request) -> Answer[AssessmentList]:
        """Lists the organization's assessments, newest first."""
        window = parse_limit_and_offset(request.query_params)
        rows = services.assessments_of(caller_of(request).organization_id)
        return Answer(
            {
                "assessments": assessments_json(list(window.of(rows))),
                **window.bounds(rows),
            }
        )


class AssessmentItem(ApiView):
    """API view for GET, PATCH and DELETE /v1/assessments/:id."""

    parser_classes = [LongJSONParser]

    @operation(
        operation_id="get_assessment",
        summary="Get an assessment and its progress",
        tags=["Assessments"],
        parameters=[ASSESSMENT],
        responses=responses({200: RETURNED}, e404=NOT_FOUND),
    )
    def get(self, request: Request, assessment_id: str) -> Answer[AssessmentJson]:
        """Returns an assessment. `GET …/criteria` lists its results by success criterion."""
        assessment = services.find_assessment(caller_of(request).organization_id, assessment_id)
        return Answer(assessment_json_of(assessment))

    @operation(
        operation_id="update_assessment",
        summary="Change, finish, reopen or share an assessment",
        tags=["Assessments"],
        request=AssessmentFieldsSerializer,
        parameters=[ASSESSMENT],
        responses=responses({200: RETURNED}, e400=INVALID, e404=NOT_FOUND, e409=FINISHED, **BODY_REFUSALS),
    )
    def patch(self, request: Request, assessment_id: str) -> Answer[AssessmentJson]:
        """Changes the fields in the body. A finished assessment cannot be changed until `status` is `open` again.

        If it is `shared`, anyone with the link `assessment_url` can read the report and the statement.
        """
        values = AssessmentFieldsSerializer.judged(json_body(request))
        assessment = services.change_assessment(caller=caller_of(request), assessment_id=assessment_id, values=values)
        return Answer(assessment_json_of(assessment))

    @operation(
        operation_id="delete_assessment",
        summary="Delete an assessment with all its results",
        tags=["Assessments"],
        parameters=[ASSESSMENT],
        responses=responses({204: None}, e404=NOT_FOUND),
    )
    def delete(self, request: Request, assessment_id: str) -> Response:
        """Deletes an assessment with its sample, results, disputes and log. Mutes of disputed findings remain."""
        services.delete_assessment(caller=caller_of(request), assessment_id=assessment_id)
        return Response(status=204)


class AssessmentRefresh(ApiView):
    """API view for POST /v1/assessments/:id/refresh."""

    @operation(
        operation_id="refresh_assessment",
        summary="Replace the automatic results by those of a later audit",
        tags=["Assessments"],
        request=RefreshSerializer,
        parameters=[ASSESSMENT],
        responses=responses(
            {202: RETURNED},
            e400="`INVALID_PARAMS`: also for an audit of another site, or one that is older.",
            e404=f"{NOT_FOUND} {AUDIT_REFUSALS}",
            e409=f"{FINISHED} `ASSESSMENT_BUSY`: results of an audit are still being copied. "
            "`AUDIT_NOT_COMPLETE`: the audit is still in progress.",
            e413="`PAYLOAD_TOO_LARGE`: over 64 KiB.",
            e415="`UNSUPPORTED_MEDIA_TYPE`: the body is not JSON.",
        ),
    )
    def post(self, request: Request, assessment_id: str) -> Answer[AssessmentJson]:
        """Copies the results of a later audit in the background: `refreshing` is true until all are there.

        What people wrote stays. A finding that is no longer there is `fixed`. A dispute ends if the finding has new
        places.
        """
        values = RefreshSerializer.judged(json_body(request))
        assessment = services.refresh_assessment(
            caller=caller_of(request), assessment_id=assessment_id, audit_id=values["audit"]
        )
        return Answer(assessment_json_of(assessment), status=202)


class AssessmentEvents(ApiView):
    """API view for GET /v1/assessments/:id/log."""

    @operation(
        operation_id="list_assessment_events",
        summary="List who changed what in an assessment",
        tags=["Assessments"],
        parameters=[ASSESSMENT, *PAGE_PARAMETERS],
        responses=responses({200: RETURNED}, e400="`INVALID_PARAMS`.", e404=NOT_FOUND),
    )
    def get(self, request: Request, assessment_id: str) -> Answer[AssessmentLog]:
        """Lists the changes of an assessment, newest first. Long texts are shortened to 2,000 characters."""
        window = parse_limit_and_offset(request.query_params)
        events = events_of(services.find_assessment(caller_of(request).organization_id, assessment_id))
        return Answer(
            {
                "events": [event_json_of(event) for event in window.of(events)],
                **window.bounds(events),
            }
        )


class AssessmentReportView(ApiView):
    """API view for GET /v1/assessments/:id/report."""

    @operation(
        operation_id="get_assessment_report",
        summary="Get the whole assessment as one document",
        tags=["Assessments"],
        parameters=[
            ASSESSMENT,
            FORMAT,
            *headers(
                [200],
                Content_Disposition=(str, "A file name for the download."),
                Cache_Control=(str, "`private, no-cache`."),
                Vary=(str, "`Authorization`."),
            ),
        ],
        responses=responses({200: AssessmentReport}, e400="`INVALID_PARAMS`: an unknown format.", e404=NOT_FOUND),
    )
    def get(self, request: Request, assessment_id: str) -> StreamingHttpResponse:
        """Returns the assessment with its sample, all criteria, and their results and findings.

        Untested results without a note or an automatic failure are left out.

        `?format=openacr` returns OpenACR, the machine-readable VPAT, as YAML, `?format=earl` EARL 1.0 of the W3C as
        JSON-LD, `?format=csv` a table for spreadsheets, and `?format=statement` the draft of an accessibility statement
        as Markdown.
        """
        document_format = DOCUMENT_FORMATS[choice(request.query_params, "format", list(DOCUMENT_FORMATS)) or "json"]
        assessment = services.find_assessment(caller_of(request).organization_id, assessment_id)
        response = document_format.response(assessment)
        response["Cache-Control"] = "private, no-cache"
        response["Vary"] = "Authorization"
        return response
