"""API views for maintenance windows."""

from __future__ import annotations

from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import caller_of
from infrastructure.api.pagination import parse_limit_and_offset
from infrastructure.api.schema import PAGE_PARAMETERS, RETURNED, headers, id_parameter, operation, responses
from infrastructure.api.typed import Answer
from infrastructure.api.views import ApiView, json_body
from sites.maintenance import services
from sites.maintenance.requests import WindowFieldsSerializer, WindowRequestSerializer, parse_change, parse_window
from sites.maintenance.schemas import WindowJson, WindowList, window_json_of
from sites.resources import MAINTENANCE_WINDOW

NOT_FOUND = "`WINDOW_NOT_FOUND`: no such window, or another organization's."
INVALID = "`INVALID_PARAMS`, which names the field."
BODY_REFUSALS = {
    "e413": "`PAYLOAD_TOO_LARGE`: over 64 KiB.",
    "e415": "`UNSUPPORTED_MEDIA_TYPE`: the body is not JSON.",
}


class WindowCollection(ApiView):
    """API view for POST and GET /v1/maintenance."""

    @operation(
        operation_id="create_maintenance_window",
        summary="Create a maintenance window",
        tags=["Maintenance"],
        request=WindowRequestSerializer,
        parameters=headers([201], Location=(str, "The address of the window.")),
        responses=responses(
            {201: RETURNED},
            e400=INVALID,
            e409=f"`MAINTENANCE_LIMIT`: an organization may have {services.MAX_WINDOWS}.",
            **BODY_REFUSALS,
        ),
    )
    def post(self, request: Request) -> Answer[WindowJson]:
        """Creates a window in which alerts are held. Monitors go on running."""
        caller = caller_of(request)
        columns = parse_window(json_body(request), caller.organization_id)
        window = services.create_window(caller=caller, columns=columns)
        return Answer(window_json_of(window), status=201, headers={"Location": f"/v1/maintenance/{window.id}"})

    @operation(
        operation_id="list_maintenance_windows",
        summary="List maintenance windows",
        tags=["Maintenance"],
        parameters=PAGE_PARAMETERS,
        responses=responses({200: RETURNED}, e400="`INVALID_PARAMS`."),
    )
    def get(self, request: Request) -> Answer[WindowList]:
        """Lists the organization's windows, latest start first. Windows that are over stay until they are deleted."""
        page = parse_limit_and_offset(request.query_params)
        windows = services.windows_of(caller_of(request).organization_id)
        rows = [window_json_of(window) for window in page.of(windows)]
        return Answer({"windows": rows, **page.bounds(windows)})


class WindowItem(ApiView):
    """API view for GET, PATCH and DELETE /v1/maintenance/:id."""

    @operation(
        operation_id="get_maintenance_window",
        summary="Get a maintenance window",
        tags=["Maintenance"],
        parameters=[id_parameter("window_id", "mnt")],
        responses=responses({200: RETURNED}, e404=NOT_FOUND),
    )
    def get(self, request: Request, window_id: str) -> Answer[WindowJson]:
        """Returns a window."""
        return Answer(window_json_of(MAINTENANCE_WINDOW.find(caller_of(request).organization_id, window_id)))

    @operation(
        operation_id="update_maintenance_window",
        summary="Change a maintenance window",
        tags=["Maintenance"],
        request=WindowFieldsSerializer,
        parameters=[id_parameter("window_id", "mnt")],
        responses=responses({200: RETURNED}, e400=INVALID, e404=NOT_FOUND, **BODY_REFUSALS),
    )
    def patch(self, request: Request, window_id: str) -> Answer[WindowJson]:
        """Changes the fields in the body. To end a window now, set `ends_at`."""
        caller, body = caller_of(request), json_body(request)
        columns = parse_change(body, MAINTENANCE_WINDOW.find(caller.organization_id, window_id))
        window = services.change_window(caller=caller, window_id=window_id, columns=columns)
        return Answer(window_json_of(window))

    @operation(
        operation_id="delete_maintenance_window",
        summary="Delete a maintenance window",
        tags=["Maintenance"],
        parameters=[id_parameter("window_id", "mnt")],
        responses=responses({204: None}, e404=NOT_FOUND),
    )
    def delete(self, request: Request, window_id: str) -> Response:
        """Deletes a window. The alerts that it holds are sent."""
        services.delete_window(caller=caller_of(request), window_id=window_id)
        return Response(status=204)
