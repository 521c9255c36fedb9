"""API views for journeys, their proofs of control and their runs."""

from __future__ import annotations

from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import caller_of
from infrastructure.api import idempotency
from infrastructure.api.pagination import parse_limit_and_offset
from infrastructure.api.parsing import LongJSONParser
from infrastructure.api.schema import (
    PAGE_PARAMETERS,
    RETURNED,
    creation_parameters,
    id_parameter,
    operation,
    responses,
)
from infrastructure.api.scopes import Scope
from infrastructure.api.typed import Answer
from infrastructure.api.views import ApiView, json_body
from scans.policy import scan_policy
from sites.audits.schemas import AuditJson, AuditList, audit_summary_of
from sites.journeys import services
from sites.journeys.dry_runs import dry_run_journey
from sites.journeys.requests import (
    JourneyChangeSerializer,
    JourneyRequestSerializer,
    parse_change,
    parse_new,
    without_secrets,
)
from sites.journeys.schemas import JourneyJson, JourneyList, ProofCheckJson, journey_json_of, journey_summary_of
from sites.resources import JOURNEY

ID = id_parameter("journey_id", "jny")
NOT_FOUND = "`JOURNEY_NOT_FOUND`: no such journey, or another organization's."
INVALID = (
    "`INVALID_JOURNEY`: the message names the line and the step. `INVALID_URL`, `INVALID_TYPE` or `INVALID_PARAMS`, "
    "which names the field."
)
BLOCKED = "`DOMAIN_BLOCKED`: the start is not publicly accessible, or blocked here."
UNREACHABLE = "`URL_NOT_REACHABLE` or `INVALID_URL`: the start cannot be opened."
UNREADY = (
    "`JOURNEY_NOT_PROVEN`: prove that you control the site. `MISSING_SECRET`: a secret has no value. "
    "`MISSING_BROWSER`: the service has no browser. `IDEMPOTENCY_CONFLICT`: a request with this key is still in "
    "progress."
)
OTHER_JOURNEY = "`IDEMPOTENCY_MISMATCH`: the key was used for another request."
BODY_REFUSALS = {
    "e413": "`PAYLOAD_TOO_LARGE`: over 1 MiB.",
    "e415": "`UNSUPPORTED_MEDIA_TYPE`: the body is not JSON.",
}


class JourneyCollection(ApiView):
    """API view for POST and GET /v1/journeys."""

    parser_classes = [LongJSONParser]

    @operation(
        operation_id="create_journey",
        summary="Create a journey from a recording or from steps as text",
        tags=["Journeys"],
        request=JourneyRequestSerializer,
        parameters=creation_parameters(201, "journey"),
        responses=responses(
            {201: RETURNED},
            e400=INVALID,
            e403=BLOCKED,
            e409="`JOURNEY_LIMIT`: as many as the plan allows. `IDEMPOTENCY_CONFLICT`: a request with this key is "
            "still in progress.",
            e422="`IDEMPOTENCY_MISMATCH`: the key was used with another body.",
            **BODY_REFUSALS,
        ),
    )
    def post(self, request: Request) -> Answer[JourneyJson]:
        """Creates a journey. Before it runs, the organization has to prove that it controls the site.

        Typed passwords in a recording become secrets, and `notes` says so. Values of secrets are stored encrypted and
        never returned.
        """
        caller, body, key = caller_of(request), json_body(request), idempotency.key_of(request.headers)
        journey_request = parse_new(body, scan_policy())
        once = idempotency.once(key, {"journey": without_secrets(body, journey_request)})
        created = services.create_journey(caller=caller, request=journey_request, once=once)
        return Answer(created.response, status=201, headers=created.headers("/v1/journeys"))

    @operation(
        operation_id="list_journeys",
        summary="List journeys",
        tags=["Journeys"],
        parameters=PAGE_PARAMETERS,
        responses=responses({200: RETURNED}, e400="`INVALID_PARAMS`."),
    )
    def get(self, request: Request) -> Answer[JourneyList]:
        """Lists the organization's journeys, newest first, without their steps."""
        window = parse_limit_and_offset(request.query_params)
        rows = services.journeys_of(caller_of(request).organization_id)
        return Answer(
            {
                "journeys": [journey_summary_of(journey) for journey in window.of(rows.defer("recording"))],
                **window.bounds(rows),
            }
        )


class JourneyItem(ApiView):
    """API view for GET, PATCH and DELETE /v1/journeys/:id."""

    parser_classes = [LongJSONParser]

    @operation(
        operation_id="get_journey",
        summary="Get a journey, its steps in words and its proof of control",
        tags=["Journeys"],
        parameters=[ID],
        responses=responses({200: RETURNED}, e404=NOT_FOUND),
    )
    def get(self, request: Request, journey_id: str) -> Answer[JourneyJson]:
        """Returns a journey. Secrets appear by name only."""
        return Answer(journey_json_of(JOURNEY.find(caller_of(request).organization_id, journey_id)))

    @operation(
        operation_id="update_journey",
        summary="Change a journey or its secrets",
        tags=["Journeys"],
        request=JourneyChangeSerializer,
        parameters=[ID],
        responses=responses({200: RETURNED}, e400=INVALID, e403=BLOCKED, e404=NOT_FOUND, **BODY_REFUSALS),
    )
    def patch(self, request: Request, journey_id: str) -> Answer[JourneyJson]:
        """Changes the fields in the body. Secrets that the body does not name keep their values.

        If the start has another origin, or a place of log-in is new, the stored values are deleted, and control has to
        be proven again.
        """
        caller = caller_of(request)
        journey = JOURNEY.find(caller.organization_id, journey_id)
        journey_request = parse_change(json_body(request), scan_policy(), journey)
        journey = services.change_journey(caller=caller, journey_id=journey_id, request=journey_request)
        return Answer(journey_json_of(journey, journey_request.notes))

    @operation(
        operation_id="delete_journey",
        summary="Delete a journey with its secrets and monitors",
        tags=["Journeys"],
        parameters=[ID],
        responses=responses({204: None}, e404=NOT_FOUND),
    )
    def delete(self, request: Request, journey_id: str) -> Response:
        """Deletes a journey, and the monitors that repeat it.

        Reports of its runs are retained as long as other reports.
        """
        services.delete_journey(caller=caller_of(request), journey_id=journey_id)
        return Response(status=204)


class JourneyProofView(ApiView):
    """API view for POST /v1/journeys/:id/proof."""

    @operation(
        operation_id="check_journey_proof",
        summary="Check now that you control the site of a journey",
        tags=["Journeys"],
        request=None,
        parameters=[ID],
        responses=responses(
            {200: RETURNED}, e404=NOT_FOUND, e503="`SERVICE_UNAVAILABLE`: too many sites are being checked."
        ),
    )
    def post(self, request: Request, journey_id: str) -> Answer[ProofCheckJson]:
        """Looks for the journey's token in the DNS, in the file and in the start page of the host.

        `problems` says why none of them proves control. Control is checked again before each run.
        """
        return Answer(services.check_proof(caller=caller_of(request), journey_id=journey_id))


class JourneyDryRun(ApiView):
    """API view for POST /v1/journeys/:id/dry-run."""

    scopes = {"POST": Scope.SCAN}

    @operation(
        operation_id="dry_run_journey",
        summary="Try the steps of a journey without judging anything",
        tags=["Journeys"],
        request=None,
        parameters=[ID, *creation_parameters(202, "audit")],
        responses=responses(
            {202: RETURNED},
            e400=UNREACHABLE,
            e403=BLOCKED,
            e404=NOT_FOUND,
            e409=UNREADY,
            e422=OTHER_JOURNEY,
            e429="`RATE_LIMITED`, or `CONCURRENT_LIMIT`: too many audits are in progress, or too many dry runs were "
            "started within an hour.",
        ),
    )
    def post(self, request: Request, journey_id: str) -> Answer[AuditJson]:
        """Starts a dry run, which is an audit without types. Its steps have pictures, durations and near matches.

        It uses no quota. No list contains it, and it is deleted after a day.
        """
        caller, key = caller_of(request), idempotency.key_of(request.headers)
        once = idempotency.once(key, {"journey_dry_run": journey_id})
        created = dry_run_journey(caller=caller, journey_id=journey_id, once=once)
        return Answer(created.response, status=202, headers=created.headers("/v1/audits"))


class JourneyRuns(ApiView):
    """API view for GET and POST /v1/journeys/:id/runs."""

    scopes = {"POST": Scope.SCAN}

    @operation(
        operation_id="list_journey_runs",
        summary="List the runs of a journey",
        tags=["Journeys"],
        parameters=[ID, *PAGE_PARAMETERS],
        responses=responses({200: RETURNED}, e400="`INVALID_PARAMS`.", e404=NOT_FOUND),
    )
    def get(self, request: Request, journey_id: str) -> Answer[AuditList]:
        """Lists the audits that are runs of a journey, newest first."""
        window = parse_limit_and_offset(request.query_params)
        runs = services.runs_of(JOURNEY.find(caller_of(request).organization_id, journey_id))
        return Answer(
            {
                "audits": [audit_summary_of(audit) for audit in window.of(runs)],
                **window.bounds(runs),
            }
        )

    @operation(
        operation_id="run_journey",
        summary="Run a journey at once",
        tags=["Journeys"],
        request=None,
        parameters=[ID, *creation_parameters(202, "audit")],
        responses=responses(
            {202: RETURNED},
            e400=UNREACHABLE,
            e403=BLOCKED,
            e404=NOT_FOUND,
            e409=UNREADY,
            e422=OTHER_JOURNEY,
            e429="`RATE_LIMITED`, `QUOTA_EXCEEDED`, or `CONCURRENT_LIMIT`: too many audits are in progress.",
        ),
    )
    def post(self, request: Request, journey_id: str) -> Answer[AuditJson]:
        """Starts a run, which is an audit whose pages are the states of the journey.

        It reserves scans for `states_planned` states, or for as many as the plan allows pages in one audit. Those of
        states that were not judged are refunded.
        """
        caller, key = caller_of(request), idempotency.key_of(request.headers)
        once = idempotency.once(key, {"journey_run": journey_id})
        created = services.run_journey(caller=caller, journey_id=journey_id, once=once)
        return Answer(created.response, status=202, headers=created.headers("/v1/audits"))
