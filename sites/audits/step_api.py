"""API views for the steps of a journey's run."""

from __future__ import annotations

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from accounts.authentication import caller_of
from infrastructure.api.errors import NotFound
from infrastructure.api.schema import RETURNED, file_response, headers, id_parameter, operation, responses
from infrastructure.api.typed import Answer
from infrastructure.api.views import ApiView
from infrastructure.web.pictures import picture_response
from sites.audits.services import find_audit
from sites.audits.steps import StepList, picture_of_step, step_json_of, steps_of
from website_scan.picture_types import picture_type

AUDIT_ID = id_parameter("audit_id", "aud")
NUMBER = OpenApiParameter("number", int, location=OpenApiParameter.PATH, description="The number of a step, from 1.")
AUDIT_NOT_FOUND = "`AUDIT_NOT_FOUND`: no such audit, or another organization's."
MAX_DIGITS = 4


class StepNotFound(NotFound):
    """Raised for a step that an audit does not have, or that has no picture."""

    code = "STEP_NOT_FOUND"

    def __init__(self) -> None:
        super().__init__("The audit has no step with this number that has a picture.", self.code)


class AuditSteps(ApiView):
    """API view for GET /v1/audits/:id/steps."""

    @operation(
        operation_id="list_audit_steps",
        summary="List the steps of a journey's run with durations and errors",
        tags=["Journeys"],
        parameters=[AUDIT_ID],
        responses=responses({200: RETURNED}, e404=AUDIT_NOT_FOUND),
    )
    def get(self, request: Request, audit_id: str) -> Answer[StepList]:
        """Lists all steps of a run or a dry run, in order. The list is empty before its end, and for other audits."""
        audit = find_audit(caller_of(request).organization_id, audit_id)
        return Answer({"steps": [step_json_of(step) for step in steps_of(audit)]})


class AuditStepPicture(ApiView):
    """API view for GET /v1/audits/:id/steps/:number/picture."""

    @operation(
        operation_id="get_audit_step_picture",
        summary="Get the picture of the screen after a step",
        tags=["Journeys"],
        parameters=[
            AUDIT_ID,
            NUMBER,
            *headers(
                [200],
                ETag=(str, "Of the picture, which never changes."),
                Cache_Control=(str, "`private, no-cache`."),
                Vary=(str, "`Authorization`."),
            ),
        ],
        responses=responses(
            {**file_response("image/jpeg"), **file_response("image/webp")},
            e404="`AUDIT_NOT_FOUND`: no such audit, or another organization's. `STEP_NOT_FOUND`: it has no step with "
            "this number, or the step has no picture.",
        ),
    )
    def get(self, request: Request, audit_id: str, number: str) -> HttpResponse:
        """Returns a JPEG or a WebP. Fields that contain a secret are masked."""
        audit = find_audit(caller_of(request).organization_id, audit_id)
        is_number = number.isascii() and number.isdigit() and not number.startswith("0") and len(number) <= MAX_DIGITS
        position = int(number) - 1 if is_number else None
        picture = None if position is None else picture_of_step(audit, position)
        if picture is None:
            raise StepNotFound
        response = picture_response(request._request, f"{audit.id}-{position}", picture, picture_type(picture))
        response["Vary"] = "Authorization"
        return response
