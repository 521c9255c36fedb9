"""API views for the sample of an assessment: its pages, results by success criterion and automatic findings."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import caller_of
from infrastructure.api.pagination import choice, integer, parse_limit_and_offset
from infrastructure.api.parsing import LongJSONParser
from infrastructure.api.schema import PAGE_PARAMETERS, RETURNED, headers, operation, responses
from infrastructure.api.typed import Answer
from infrastructure.api.views import ApiView, json_body
from scans.policy import scan_policy
from sites.assessments import results, services
from sites.assessments.api import ASSESSMENT, BODY_REFUSALS, FINISHED, INVALID, NOT_FOUND
from sites.assessments.listing import (
    FINDING_DIGITS,
    PAGE_DIGITS,
    filter_findings,
    filter_results,
    number_of,
)
from sites.assessments.loading import criteria_rows, finding_json_of, page_json_of, result_json_of
from sites.assessments.requests import (
    DisputeSerializer,
    PageNameSerializer,
    PageSerializer,
    RemainingSerializer,
    ResultSerializer,
)
from sites.assessments.schemas import (
    FINDING_STATES,
    AssessmentCriterionList,
    AssessmentFindingJson,
    AssessmentFindingList,
    AssessmentPageJson,
    AssessmentPageList,
    AssessmentResultJson,
    AssessmentResultList,
    ResultConflictBody,
    UpdatedResults,
)
from sites.models import AssessmentResult

MAX_PAGE_NUMBER = 10**PAGE_DIGITS - 1
PAGE_NOT_FOUND = f"{NOT_FOUND} `PAGE_NOT_FOUND`: its sample has no such page."
CRITERION_NOT_FOUND = f"{NOT_FOUND} `CRITERION_NOT_FOUND`: its standard has no such criterion at its level."
FINDING_NOT_FOUND = f"{NOT_FOUND} `FINDING_NOT_FOUND`: it has no such finding."
NUMBER = OpenApiParameter("number", str, OpenApiParameter.PATH, description="The number of a page, such as `1`.")
CRITERION = OpenApiParameter(
    "criterion", str, OpenApiParameter.PATH, description="The number of a success criterion, such as `1.1.1`."
)
FINDING = OpenApiParameter("finding_id", str, OpenApiParameter.PATH, description="The `id` of a finding.")
OF_PAGE = OpenApiParameter(
    "page", {"type": "integer", "minimum": 1, "maximum": MAX_PAGE_NUMBER}, description="The number of a page."
)
SHORT_BODY_REFUSALS = BODY_REFUSALS | {"e413": "`PAYLOAD_TOO_LARGE`: over 64 KiB."}


class SamplePages(ApiView):
    """API view for GET and POST /v1/assessments/:id/pages."""

    @operation(
        operation_id="list_assessment_pages",
        summary="List the sample of an assessment",
        tags=["Assessments"],
        parameters=[ASSESSMENT, *PAGE_PARAMETERS],
        responses=responses({200: RETURNED}, e400="`INVALID_PARAMS`.", e404=NOT_FOUND),
    )
    def get(self, request: Request, assessment_id: str) -> Answer[AssessmentPageList]:
        """Lists the pages and states in the sample by number."""
        window = parse_limit_and_offset(request.query_params)
        pages = services.find_assessment(caller_of(request).organization_id, assessment_id).pages.order_by("number")
        return Answer(
            {
                "pages": [page_json_of(page) for page in window.of(pages)],
                **window.bounds(pages),
            }
        )

    @operation(
        operation_id="add_assessment_page",
        summary="Add a page or a state of a page to the sample",
        tags=["Assessments"],
        request=PageSerializer,
        parameters=[ASSESSMENT, *headers([201], Location=(str, "The address of the page."))],
        responses=responses(
            {201: RETURNED},
            e400="`INVALID_URL`, or `INVALID_PARAMS`: also for a page that is in the sample, or of another site, or "
            "for too many pages.",
            e403="`DOMAIN_BLOCKED`: the page is not publicly accessible, or blocked here.",
            e404=NOT_FOUND,
            e409=FINISHED,
            **SHORT_BODY_REFUSALS,
        ),
    )
    def post(self, request: Request, assessment_id: str) -> Answer[AssessmentPageJson]:
        """Adds a page. If the assessment's audit has the page, its automatic results are copied in the background.

        A state, such as an opened menu, needs a name. It is tested by people only, but a later audit says whether the
        page at its address has changed.
        """
        values = PageSerializer.judged(json_body(request), policy=scan_policy())
        page = services.add_page(
            caller=caller_of(request),
            assessment_id=assessment_id,
            target=values["url"],
            name=values.get("name", ""),
            is_state=values["is_state"],
        )
        location = f"/v1/assessments/{page.assessment_id}/pages/{page.number}"
        return Answer(page_json_of(page), status=201, headers={"Location": location})


class SamplePage(ApiView):
    """API view for PATCH and DELETE /v1/assessments/:id/pages/:number."""

    @operation(
        operation_id="update_assessment_page",
        summary="Name a page of the sample",
        tags=["Assessments"],
        request=PageNameSerializer,
        parameters=[ASSESSMENT, NUMBER],
        responses=responses({200: RETURNED}, e400=INVALID, e404=PAGE_NOT_FOUND, e409=FINISHED, **SHORT_BODY_REFUSALS),
    )
    def patch(self, request: Request, assessment_id: str, number: str) -> Answer[AssessmentPageJson]:
        """Changes the name of a page. An empty name removes it, except for a state."""
        values = PageNameSerializer.judged(json_body(request))
        page = services.rename_page(
            caller=caller_of(request),
            assessment_id=assessment_id,
            number=number_of(number, PAGE_DIGITS),
            name=values["name"],
        )
        return Answer(page_json_of(page))

    @operation(
        operation_id="delete_assessment_page",
        summary="Remove a page with its results from the sample",
        tags=["Assessments"],
        parameters=[ASSESSMENT, NUMBER],
        responses=responses(
            {204: None}, e400="`INVALID_PARAMS`: the sample has only this page.", e404=PAGE_NOT_FOUND, e409=FINISHED
        ),
    )
    def delete(self, request: Request, assessment_id: str, number: str) -> Response:
        """Removes a page and what people wrote about it. Its number is not used again."""
        services.remove_page(
            caller=caller_of(request), assessment_id=assessment_id, number=number_of(number, PAGE_DIGITS)
        )
        return Response(status=204)


class Criteria(ApiView):
    """API view for GET /v1/assessments/:id/criteria."""

    @operation(
        operation_id="list_assessment_criteria",
        summary="List the success criteria with their results on all pages",
        tags=["Assessments"],
        parameters=[ASSESSMENT],
        responses=responses({200: RETURNED}, e404=NOT_FOUND),
    )
    def get(self, request: Request, assessment_id: str) -> Answer[AssessmentCriterionList]:
        """Lists all criteria of the assessment's standard and level, in the order of WCAG."""
        assessment = services.find_assessment(caller_of(request).organization_id, assessment_id)
        return Answer({"criteria": criteria_rows(assessment)})


class RemainingResults(ApiView):
    """API view for POST /v1/assessments/:id/criteria/:criterion."""

    parser_classes = [LongJSONParser]

    @operation(
        operation_id="set_remaining_results",
        summary="Store the same result on all pages on which a criterion is untested",
        tags=["Assessments"],
        request=RemainingSerializer,
        parameters=[ASSESSMENT, CRITERION],
        responses=responses(
            {200: RETURNED},
            e400="`INVALID_PARAMS`, which names the field: also for `failed` or `cannot_tell` without a note.",
            e404=CRITERION_NOT_FOUND,
            e409=FINISHED,
            **BODY_REFUSALS,
        ),
    )
    def post(self, request: Request, assessment_id: str, criterion: str) -> Answer[UpdatedResults]:
        """Stores the result, and returns the number of pages. Pages with an open automatic failure are left out.

        `failed` and `cannot_tell` need a note.
        """
        values = RemainingSerializer.judged(json_body(request))
        updated = results.set_remaining(
            caller=caller_of(request), assessment_id=assessment_id, criterion=criterion, **values
        )
        return Answer({"updated": updated})


class Results(ApiView):
    """API view for GET /v1/assessments/:id/results."""

    @operation(
        operation_id="list_assessment_results",
        summary="List the results of criteria on pages",
        tags=["Assessments"],
        parameters=[
            ASSESSMENT,
            OF_PAGE,
            OpenApiParameter("criterion", str, description="The number of a success criterion."),
            OpenApiParameter(
                "outcome", str, enum=AssessmentResult.Result.values, description="The result that counts."
            ),
            *PAGE_PARAMETERS,
        ],
        responses=responses({200: RETURNED}, e400="`INVALID_PARAMS`.", e404=f"{PAGE_NOT_FOUND} `CRITERION_NOT_FOUND`."),
    )
    def get(self, request: Request, assessment_id: str) -> Answer[AssessmentResultList]:
        """Lists the results that match all filters, by page and then by criterion."""
        query = request.query_params
        window = parse_limit_and_offset(query)
        page, outcome = _page_of(request), choice(query, "outcome", AssessmentResult.Result.values)
        assessment = services.find_assessment(caller_of(request).organization_id, assessment_id)
        rows = filter_results(assessment, page=page, criterion=query.get("criterion"), outcome=outcome)
        return Answer(
            {
                "results": [result_json_of(row, row.page) for row in window.of(rows)],
                **window.bounds(rows),
            }
        )


class PageResult(ApiView):
    """API view for PUT /v1/assessments/:id/pages/:number/results/:criterion."""

    parser_classes = [LongJSONParser]

    @operation(
        operation_id="set_assessment_result",
        summary="Store the result of a criterion on a page",
        tags=["Assessments"],
        request=ResultSerializer,
        parameters=[ASSESSMENT, NUMBER, CRITERION],
        responses=responses(
            {
                200: RETURNED,
                409: OpenApiResponse(
                    ResultConflictBody,
                    f"{FINISHED} `RESULT_CHANGED`: somebody has changed the result since you read it.",
                ),
            },
            e400="`INVALID_PARAMS`: also for `passed` or `not_applicable` against an open automatic failure, and for "
            "`failed` or `cannot_tell` without a note and without an open automatic failure.",
            e404=f"{PAGE_NOT_FOUND} `CRITERION_NOT_FOUND`.",
            **BODY_REFUSALS,
        ),
    )
    def put(self, request: Request, assessment_id: str, number: str, criterion: str) -> Answer[AssessmentResultJson]:
        """Stores a person's result, note and remedy. Fields that are missing do not change.

        `failed` and `cannot_tell` need a note, unless an automatic failure is open.

        `version` is the version that you read. So two people at the same result lose nothing: the second one gets a
        409 with the result of the first one.
        """
        values = ResultSerializer.judged(json_body(request))
        row = results.set_result(
            caller=caller_of(request),
            assessment_id=assessment_id,
            number=number_of(number, PAGE_DIGITS),
            criterion=criterion,
            values=values,
        )
        return Answer(result_json_of(row, row.page))


class Findings(ApiView):
    """API view for GET /v1/assessments/:id/findings."""

    @operation(
        operation_id="list_assessment_findings",
        summary="List the automatic findings of an assessment",
        tags=["Assessments"],
        parameters=[
            ASSESSMENT,
            OF_PAGE,
            OpenApiParameter(
                "state", str, enum=FINDING_STATES, description="Compared with the audit before the latest one."
            ),
            OpenApiParameter("disputed", str, enum=("true", "false")),
            *PAGE_PARAMETERS,
        ],
        responses=responses({200: RETURNED}, e400="`INVALID_PARAMS`.", e404=PAGE_NOT_FOUND),
    )
    def get(self, request: Request, assessment_id: str) -> Answer[AssessmentFindingList]:
        """Lists the findings that match all filters, by page and then by check."""
        query = request.query_params
        window = parse_limit_and_offset(query)
        page, state = _page_of(request), choice(query, "state", FINDING_STATES)
        disputed = {"true": True, "false": False}.get(choice(query, "disputed", ("true", "false")) or "")
        assessment = services.find_assessment(caller_of(request).organization_id, assessment_id)
        rows = filter_findings(assessment, page=page, state=state, disputed=disputed)
        return Answer(
            {
                "findings": [finding_json_of(row, row.page) for row in window.of(rows)],
                **window.bounds(rows),
            }
        )


class FindingDispute(ApiView):
    """API view for PUT and DELETE /v1/assessments/:id/findings/:finding_id/dispute."""

    @operation(
        operation_id="dispute_assessment_finding",
        summary="Dispute an automatic finding",
        tags=["Assessments"],
        request=DisputeSerializer,
        parameters=[ASSESSMENT, FINDING],
        responses=responses(
            {200: RETURNED},
            e400=INVALID,
            e404=FINDING_NOT_FOUND,
            e409=f"{FINISHED} `MUTE_LIMIT`: the organization has the maximum number of mutes.",
            **SHORT_BODY_REFUSALS,
        ),
    )
    def put(self, request: Request, assessment_id: str, finding_id: str) -> Answer[AssessmentFindingJson]:
        """Disputes a finding with a reason. It no longer fails its criteria, and is muted in the page's reports.

        The dispute ends when a later audit finds new places.
        """
        values = DisputeSerializer.judged(json_body(request))
        finding = results.dispute(
            caller=caller_of(request),
            assessment_id=assessment_id,
            finding_id=number_of(finding_id, FINDING_DIGITS),
            reason=values["reason"],
        )
        return Answer(finding_json_of(finding, finding.page))

    @operation(
        operation_id="withdraw_assessment_dispute",
        summary="Withdraw the dispute of a finding",
        tags=["Assessments"],
        parameters=[ASSESSMENT, FINDING],
        responses=responses({200: RETURNED}, e404=FINDING_NOT_FOUND, e409=FINISHED),
    )
    def delete(self, request: Request, assessment_id: str, finding_id: str) -> Answer[AssessmentFindingJson]:
        """Ends the dispute and the mutes that it created. A finding without a dispute does not change."""
        finding = results.withdraw_dispute(
            caller=caller_of(request),
            assessment_id=assessment_id,
            finding_id=number_of(finding_id, FINDING_DIGITS),
        )
        return Answer(finding_json_of(finding, finding.page))


def _page_of(request: Request) -> int | None:
    """Return the page number in the query, or None if it is absent. Raises InvalidParams."""
    return integer(request.query_params, "page", default=0, least=1, most=MAX_PAGE_NUMBER) or None
