"""API views for monitors."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import access
from accounts.authentication import caller_of
from infrastructure.api import idempotency
from infrastructure.api.pagination import choice, parse_limit_and_offset
from infrastructure.api.parsing import LongJSONParser
from infrastructure.api.schema import (
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
from scans.policy import scan_policy
from scans.requests import without_credentials
from sites.models import Monitor
from sites.models.monitor import STATUS_FILTERS, monitors_of_host
from sites.monitors import services
from sites.monitors.requests import MonitorChangeSerializer, MonitorRequestSerializer, parse_change, parse_new
from sites.monitors.schemas import (
    STATUSES,
    MonitorJson,
    MonitorList,
    MonitorRunJson,
    MonitorRunList,
    monitor_json_of,
    monitor_run_of,
    monitors_json_of,
)
from sites.resources import MONITOR, MONITOR_RUN

NOT_FOUND = "`MONITOR_NOT_FOUND`: no such monitor, or another organization's."
INVALID = (
    "`INVALID_URL`, `INVALID_TYPE`, `INVALID_PAGES`, `URL_NOT_REACHABLE` or `INVALID_PARAMS`, which names the field."
)
BLOCKED = "`DOMAIN_BLOCKED`: the target is not publicly accessible, or blocked here."
NO_JOURNEY = "`JOURNEY_NOT_FOUND`: no such journey, or another organization's."
UNREADY = (
    "`JOURNEY_NOT_PROVEN`: prove that you control the journey's site. `MISSING_SECRET`: a secret of the journey has no "
    "value. `MISSING_BROWSER`: the service has no browser for journeys."
)


class MonitorCollection(ApiView):
    """API view for POST and GET /v1/monitors."""

    parser_classes = [LongJSONParser]

    @operation(
        operation_id="create_monitor",
        summary="Create a monitor of a page, a list of pages, a site or a journey",
        tags=["Monitors"],
        request=MonitorRequestSerializer,
        parameters=creation_parameters(201, "monitor"),
        responses=responses(
            {201: RETURNED},
            e400=INVALID,
            e403=BLOCKED,
            e404=NO_JOURNEY,
            e409=f"`MONITOR_LIMIT`: as many as the plan allows. {UNREADY} `IDEMPOTENCY_CONFLICT`: a request with this "
            "key is still in progress.",
            e413="`PAYLOAD_TOO_LARGE`: over 1 MiB.",
            e415="`UNSUPPORTED_MEDIA_TYPE`: the body is not JSON.",
            e422="`IDEMPOTENCY_MISMATCH`: the key was used with another body.",
        ),
    )
    def post(self, request: Request) -> Answer[MonitorJson]:
        """Creates a monitor, which repeats an audit or a journey.

        The first run is scheduled. `POST …/runs` starts a run at once.
        """
        caller, body, key = caller_of(request), json_body(request), idempotency.key_of(request.headers)
        monitor_request = parse_new(body, scan_policy(), caller.organization_id)
        once = idempotency.once(key, {"monitor": without_credentials(body)})
        created = services.create_monitor(caller=caller, request=monitor_request, once=once)
        return Answer(created.response, status=201, headers=created.headers("/v1/monitors"))

    @operation(
        operation_id="list_monitors",
        summary="List monitors",
        tags=["Monitors"],
        parameters=[
            *PAGE_PARAMETERS,
            OpenApiParameter("status", str, enum=STATUSES),
            OpenApiParameter("host", str, description="Only with a page on this host."),
        ],
        responses=responses({200: RETURNED}, e400="`INVALID_PARAMS`."),
    )
    def get(self, request: Request) -> Answer[MonitorList]:
        """Lists the organization's monitors, newest first."""
        window = parse_limit_and_offset(request.query_params)
        monitors = access.rows(Monitor, caller_of(request).organization_id)
        if (status := choice(request.query_params, "status", STATUSES)) is not None:
            monitors = monitors.filter(STATUS_FILTERS[status])
        if (host := request.query_params.get("host")) is not None:
            monitors = monitors_of_host(monitors, host)
        rows = window.of(monitors.select_related("organization").order_by("-created_at", "-id"))
        monitors_json = monitors_json_of(list(rows))
        return Answer({"monitors": monitors_json, **window.bounds(monitors)})


class MonitorItem(ApiView):
    """API view for GET, PATCH and DELETE /v1/monitors/:id."""

    parser_classes = [LongJSONParser]

    @operation(
        operation_id="get_monitor",
        summary="Get a monitor, its last scores and the time of its next run",
        tags=["Monitors"],
        parameters=[id_parameter("monitor_id", "mon")],
        responses=responses({200: RETURNED}, e404=NOT_FOUND),
    )
    def get(self, request: Request, monitor_id: str) -> Answer[MonitorJson]:
        """Returns a monitor with its latest scores. `GET …/runs` lists its runs and their changes."""
        return Answer(monitor_json_of(MONITOR.find(caller_of(request).organization_id, monitor_id)))

    @operation(
        operation_id="update_monitor",
        summary="Change, pause or resume a monitor",
        tags=["Monitors"],
        request=MonitorChangeSerializer,
        parameters=[id_parameter("monitor_id", "mon")],
        responses=responses(
            {200: RETURNED},
            e400=INVALID,
            e403=BLOCKED,
            e404=f"{NOT_FOUND} {NO_JOURNEY}",
            e409=UNREADY,
            e413="`PAYLOAD_TOO_LARGE`: over 1 MiB.",
            e415="`UNSUPPORTED_MEDIA_TYPE`: the body is not JSON.",
        ),
    )
    def patch(self, request: Request, monitor_id: str) -> Answer[MonitorJson]:
        """Changes the fields in the body. A new origin without new credentials deletes the stored ones."""
        caller, body = caller_of(request), json_body(request)
        monitor = MONITOR.find(caller.organization_id, monitor_id)
        monitor_request = parse_change(body, scan_policy(), monitor)
        return Answer(monitor_json_of(services.change_monitor(caller=caller, monitor=monitor, request=monitor_request)))

    @operation(
        operation_id="delete_monitor",
        summary="Delete a monitor",
        tags=["Monitors"],
        parameters=[id_parameter("monitor_id", "mon")],
        responses=responses({204: None}, e404=NOT_FOUND),
    )
    def delete(self, request: Request, monitor_id: str) -> Response:
        """Deletes a monitor. Reports of its runs are retained as long as other reports."""
        services.delete_monitor(caller=caller_of(request), monitor_id=monitor_id)
        return Response(status=204)


class MonitorRuns(ApiView):
    """API view for GET and POST /v1/monitors/:id/runs."""

    @operation(
        operation_id="list_monitor_runs",
        summary="List the runs of a monitor, and what changed",
        tags=["Monitors"],
        parameters=[id_parameter("monitor_id", "mon"), *PAGE_PARAMETERS],
        responses=responses({200: RETURNED}, e400="`INVALID_PARAMS`.", e404=NOT_FOUND),
    )
    def get(self, request: Request, monitor_id: str) -> Answer[MonitorRunList]:
        """Lists the runs of a monitor, newest first."""
        window = parse_limit_and_offset(request.query_params)
        runs = MONITOR.find(caller_of(request).organization_id, monitor_id).runs.all()
        runs_json = [monitor_run_of(run) for run in window.of(runs.order_by("-due_at"))]
        return Answer({"runs": runs_json, **window.bounds(runs)})

    @operation(
        operation_id="run_monitor",
        summary="Run a monitor at once",
        tags=["Monitors"],
        request=None,
        parameters=[
            id_parameter("monitor_id", "mon"),
            *headers([202], Location=(str, "The address of the run.")),
        ],
        responses=responses(
            {202: RETURNED}, e404=NOT_FOUND, e409="`MONITOR_RUNNING`: a run of it is already in progress."
        ),
    )
    def post(self, request: Request, monitor_id: str) -> Answer[MonitorRunJson]:
        """Starts a run outside the schedule. A run that waits for its start or second attempt starts immediately."""
        run = services.run_now(caller=caller_of(request), monitor_id=monitor_id)
        location = f"/v1/monitors/{run.monitor_id}/runs/{run.id}"
        return Answer(monitor_run_of(run), status=202, headers={"Location": location})


class MonitorRunItem(ApiView):
    """API view for GET /v1/monitors/:id/runs/:run_id."""

    @operation(
        operation_id="get_monitor_run",
        summary="Get a run of a monitor, and what changed",
        tags=["Monitors"],
        parameters=[id_parameter("monitor_id", "mon"), id_parameter("run_id", "run")],
        responses=responses(
            {200: RETURNED},
            e404=f"{NOT_FOUND} `RUN_NOT_FOUND`: it has no such run.",
        ),
    )
    def get(self, request: Request, monitor_id: str, run_id: str) -> Answer[MonitorRunJson]:
        """Returns a run. Poll it until the status is `done`, `failed` or `skipped`."""
        run = MONITOR_RUN.find_in_rows(MONITOR.find(caller_of(request).organization_id, monitor_id).runs.all(), run_id)
        return Answer(monitor_run_of(run))
