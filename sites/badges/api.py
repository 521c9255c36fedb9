"""API views for badges."""

from __future__ import annotations

from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import caller_of
from infrastructure.api.pagination import parse_limit_and_offset
from infrastructure.api.parsing import LongJSONParser
from infrastructure.api.schema import PAGE_PARAMETERS, RETURNED, id_parameter, operation, responses
from infrastructure.api.typed import Answer
from infrastructure.api.views import ApiView, json_body
from scans.policy import scan_policy
from sites.badges import services
from sites.badges.requests import BadgeRequestSerializer
from sites.badges.schemas import BadgeJson, BadgeList, badge_json_of


class BadgeCollection(ApiView):
    """API view for POST and GET /v1/badges."""

    parser_classes = [LongJSONParser]

    @operation(
        operation_id="create_badge",
        summary="Switch on the badge of a monitor or a page",
        tags=["Badges"],
        request=BadgeRequestSerializer,
        responses=responses(
            {200: RETURNED, 201: RETURNED},
            e400="`INVALID_PARAMS`: also for a page that has no report. `INVALID_URL`.",
            e403="`DOMAIN_BLOCKED`: the page is not publicly accessible, or blocked here.",
            e404="`MONITOR_NOT_FOUND`: no such monitor, or another organization's.",
            e409=f"`BADGE_LIMIT`: an organization may have {services.MAX_BADGES:,}.",
            e413="`PAYLOAD_TOO_LARGE`: over 1 MiB.",
            e415="`UNSUPPORTED_MEDIA_TYPE`: the body is not JSON.",
        ),
    )
    def post(self, request: Request) -> Answer[BadgeJson]:
        """Creates the badge of a monitor or a page. If the badge exists, the response is 200 with that badge."""
        badge_request = BadgeRequestSerializer.judged(json_body(request), policy=scan_policy())
        badge, is_new_badge = services.create_badge(caller=caller_of(request), request=badge_request)
        return Answer(badge_json_of(badge), status=201 if is_new_badge else 200)

    @operation(
        operation_id="list_badges",
        summary="List badges",
        tags=["Badges"],
        parameters=PAGE_PARAMETERS,
        responses=responses({200: RETURNED}, e400="`INVALID_PARAMS`."),
    )
    def get(self, request: Request) -> Answer[BadgeList]:
        """Lists the organization's badges, newest first."""
        window = parse_limit_and_offset(request.query_params)
        badges = services.badges_of(caller_of(request).organization_id)
        badges_json = [badge_json_of(badge) for badge in window.of(badges)]
        return Answer({"badges": badges_json, **window.bounds(badges)})


class BadgeItem(ApiView):
    """API view for DELETE /v1/badges/:id."""

    @operation(
        operation_id="delete_badge",
        summary="Switch off a badge",
        tags=["Badges"],
        parameters=[id_parameter("badge_id", "bdg")],
        responses=responses({204: None}, e404="`BADGE_NOT_FOUND`: no such badge, or another organization's."),
    )
    def delete(self, request: Request, badge_id: str) -> Response:
        """Deletes a badge and revokes its URL. A new badge of the same monitor or page has another URL."""
        services.delete_badge(caller=caller_of(request), badge_id=badge_id)
        return Response(status=204)
