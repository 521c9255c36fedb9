"""Endpoints for mutes in /v1."""

from __future__ import annotations

from typing import Annotated, TypedDict

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import caller_of
from infrastructure.api.pagination import parse_limit_and_offset
from infrastructure.api.schema import PAGE_PARAMETERS, RETURNED, id_parameter, operation, responses
from infrastructure.api.typed import Answer
from infrastructure.api.views import ApiView, json_body
from reports.mutes import services
from reports.mutes.requests import MuteRequestSerializer
from website_scan.json_types import Count, Keywords
from website_scan.report.muting import MuteJson, serialize_mute

NOT_FOUND = "`MUTE_NOT_FOUND`: no such mute, another organization's, or it has ended."


class MuteList(TypedDict):
    """The response of GET /v1/mutes."""

    mutes: list[MuteJson]
    total: Count
    limit: Annotated[int, Keywords(minimum=1)]
    offset: Count


class MuteCollection(ApiView):
    """View of POST and GET /v1/mutes."""

    @operation(
        operation_id="create_mute",
        summary="Mute a finding",
        tags=["Mutes"],
        request=MuteRequestSerializer,
        responses=responses(
            {200: RETURNED, 201: RETURNED},
            e400="`INVALID_PARAMS`: a field is missing, unknown or out of range.",
            e409="`MUTE_LIMIT`: 1,000 mutes are in force.",
            e413="`PAYLOAD_TOO_LARGE`: over 64 KiB.",
            e415="`UNSUPPORTED_MEDIA_TYPE`: the body is not JSON.",
        ),
    )
    def post(self, request: Request) -> Answer[MuteJson]:
        """If the finding is already muted, its mute gets the new reason and end, and the status is 200."""
        mute_request = MuteRequestSerializer.judged(json_body(request), now=timezone.now())
        mute, is_new = services.create_mute(caller=caller_of(request), request=mute_request)
        headers = {"Location": f"/v1/mutes/{mute.id}"} if is_new else {}
        mute_json = serialize_mute(services.mute_rule(mute))
        return Answer(mute_json, status=201 if is_new else 200, headers=headers)

    @operation(
        operation_id="list_mutes",
        summary="List what is muted",
        tags=["Mutes"],
        parameters=[
            *PAGE_PARAMETERS,
            OpenApiParameter("check", str, description="Only of the check with this ID."),
            OpenApiParameter("host", str, description="Only on this host."),
        ],
        responses=responses({200: RETURNED}, e400="`INVALID_PARAMS`."),
    )
    def get(self, request: Request) -> Answer[MuteList]:
        """The organization's mutes that are in force, ordered by their end, the earliest first."""
        page_slice = parse_limit_and_offset(request.query_params)
        mutes_in_force = services.list_mutes_in_force(caller_of(request).organization_id, timezone.now())
        for name, column in (("check", "check_id"), ("host", "host")):
            if (value := request.query_params.get(name)) is not None:
                mutes_in_force = mutes_in_force.filter(**{column: value.replace("\0", "")})
        mutes = [serialize_mute(services.mute_rule(mute)) for mute in page_slice.of(mutes_in_force)]
        return Answer({"mutes": mutes, **page_slice.bounds(mutes_in_force)})


class MuteItem(ApiView):
    """View of GET and DELETE /v1/mutes/:id."""

    @operation(
        operation_id="get_mute",
        summary="Get a mute",
        tags=["Mutes"],
        parameters=[id_parameter("mute_id", "mute")],
        responses=responses({200: RETURNED}, e404=NOT_FOUND),
    )
    def get(self, request: Request, mute_id: str) -> Answer[MuteJson]:
        """The mute, with its reason and its end."""
        mute = services.MUTE.find_in_rows(
            services.list_mutes_in_force(caller_of(request).organization_id, timezone.now()), mute_id
        )
        return Answer(serialize_mute(services.mute_rule(mute)))

    @operation(
        operation_id="end_mute",
        summary="Stop muting",
        tags=["Mutes"],
        parameters=[id_parameter("mute_id", "mute")],
        responses=responses({204: None}, e404=NOT_FOUND),
    )
    def delete(self, request: Request, mute_id: str) -> Response:
        """The finding is shown again, even in earlier reports."""
        services.end_mute(caller=caller_of(request), mute_id=mute_id)
        return Response(status=204)
