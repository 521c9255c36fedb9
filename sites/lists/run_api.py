"""API views for list runs, single scans, snapshots, exports and shares."""

from __future__ import annotations

from django.http import StreamingHttpResponse
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import Caller, caller_of
from infrastructure.api.pagination import integer, parse_limit_and_offset, unknown_format
from infrastructure.api.schema import (
    PAGE_PARAMETERS,
    RETURNED,
    file_response,
    headers,
    id_parameter,
    operation,
    responses,
)
from infrastructure.api.scopes import Scope
from infrastructure.api.typed import Answer
from infrastructure.api.views import ApiView, json_body
from sites import resources
from sites.lists import adoption, differences, exports, runs, sharing, snapshots
from sites.lists.api import ENTRY, ENTRY_NOT_FOUND, LIST, NOT_FOUND, NOT_JSON, TOO_LARGE
from sites.lists.check_names import check_of
from sites.lists.comparisons import compare
from sites.lists.requests import ShareRequestSerializer, parse_share
from sites.lists.schemas import (
    AdoptionJson,
    AdoptionPoint,
    ListRunJson,
    ListRunList,
    ResultJson,
    ShareJson,
    ShareList,
    SnapshotJson,
    list_run_of,
    share_json_of,
)
from sites.models import ListRun
from website_scan.timestamps import timestamp

RUN = id_parameter("run_id", "run")
SNAPSHOT = id_parameter("snapshot_id", "run")
RUN_NOT_FOUND = f"{NOT_FOUND} `RUN_NOT_FOUND`: it has no such run."
SNAPSHOT_NOT_FOUND = f"{NOT_FOUND} `SNAPSHOT_NOT_FOUND`: it has no such snapshot, or the run has not ended."
MAX_COMPARED_SITES = 1_000
MAX_ADOPTION_RUNS = 200
TAG = OpenApiParameter("tag", str, description="Only of the sites with this tag.")


class ListRuns(ApiView):
    """API view for GET and POST /v1/lists/:id/runs."""

    scopes = {"POST": Scope.SCAN}

    @operation(
        operation_id="list_list_runs",
        summary="List the runs of a list",
        tags=["Lists"],
        parameters=[LIST, *PAGE_PARAMETERS],
        responses=responses({200: RETURNED}, e400="`INVALID_PARAMS`.", e404=NOT_FOUND),
    )
    def get(self, request: Request, list_id: str) -> Answer[ListRunList]:
        """Lists the runs of a list, newest first. The ID of a finished run is also the ID of its snapshot."""
        page_slice = parse_limit_and_offset(request.query_params)
        runs = resources.LIST.find(caller_of(request).organization_id, list_id).runs.all()
        runs_json = [list_run_of(run) for run in page_slice.of(runs.order_by("-started_at", "-id"))]
        return Answer({"runs": runs_json, **page_slice.bounds(runs)})

    @operation(
        operation_id="run_list",
        summary="Begin a run of a list at once",
        tags=["Lists"],
        request=None,
        parameters=[LIST, *headers([202], Location=(str, "The address of the run."))],
        responses=responses(
            {202: RETURNED},
            e400="`INVALID_PARAMS`: the list has no sites.",
            e404=NOT_FOUND,
            e409="`LIST_RUNNING`: a run of it is in progress. `LIST_LIMIT`: the plan has become too small for it.",
            e429="`RATE_LIMITED`, or `QUOTA_EXCEEDED`: not even one site could be judged.",
        ),
    )
    def post(self, request: Request, list_id: str) -> Answer[ListRunJson]:
        """Starts a run outside the schedule.

        Its sites start at different times within the list's window.
        """
        run = runs.begin_run(caller=caller_of(request), list_id=list_id)
        location = f"/v1/lists/{run.site_list_id}/runs/{run.id}"
        return Answer(list_run_of(run), status=202, headers={"Location": location})


class ListRunItem(ApiView):
    """API view for GET and DELETE /v1/lists/:id/runs/:run_id."""

    scopes = {"DELETE": Scope.SCAN}

    @operation(
        operation_id="get_list_run",
        summary="Get a run of a list, and how far it is",
        tags=["Lists"],
        parameters=[LIST, RUN],
        responses=responses({200: RETURNED}, e404=RUN_NOT_FOUND),
    )
    def get(self, request: Request, list_id: str, run_id: str) -> Answer[ListRunJson]:
        """Returns a run. Poll it until the status is no longer `running`."""
        run = resources.LIST_RUN.find_in_rows(
            resources.LIST.find(caller_of(request).organization_id, list_id).runs.all(), run_id
        )
        return Answer(list_run_of(run))

    @operation(
        operation_id="cancel_list_run",
        summary="Cancel a run of a list",
        tags=["Lists"],
        parameters=[LIST, RUN],
        responses=responses({200: RETURNED}, e404=RUN_NOT_FOUND),
    )
    def delete(self, request: Request, list_id: str, run_id: str) -> Answer[ListRunJson]:
        """Cancels a run. Waiting sites are left out. A finished run does not change."""
        run = runs.cancel_run(caller=caller_of(request), list_id=list_id, run_id=run_id)
        return Answer(list_run_of(run))


class EntryScan(ApiView):
    """API view for POST /v1/lists/:id/entries/:entry_id/scan."""

    scopes = {"POST": Scope.SCAN}

    @operation(
        operation_id="scan_entry",
        summary="Judge one site of a list again",
        tags=["Lists"],
        request=None,
        parameters=[LIST, ENTRY, *headers([202], Location=(str, "The address of the entry, which gets the result."))],
        responses=responses(
            {202: RETURNED},
            e404=ENTRY_NOT_FOUND,
            e409="`LIST_RUNNING`: it is being judged already.",
            e429="`RATE_LIMITED` or `QUOTA_EXCEEDED`.",
        ),
    )
    def post(self, request: Request, list_id: str, entry_id: str) -> Answer[ResultJson]:
        """Scans one site outside a run. The site gets the result, and no snapshot changes."""
        result = runs.scan_entry(caller=caller_of(request), list_id=list_id, entry_id=entry_id)
        result_json: ResultJson = {"entry_id": entry_id, "url": result.url, "audit_id": result.audit_id}
        return Answer(result_json, status=202, headers={"Location": f"/v1/lists/{list_id}/entries/{entry_id}"})


class Snapshot(ApiView):
    """API view for GET /v1/lists/:id/snapshots/:snapshot_id."""

    @operation(
        operation_id="get_snapshot",
        summary="Get what a run of a list has found",
        tags=["Lists"],
        parameters=[LIST, SNAPSHOT, TAG],
        responses=responses({200: RETURNED}, e404=SNAPSHOT_NOT_FOUND),
    )
    def get(self, request: Request, list_id: str, snapshot_id: str) -> Answer[SnapshotJson]:
        """Returns the statistics of a snapshot for all its sites and for every tag."""
        run = _snapshot(caller_of(request), list_id, snapshot_id)
        summary = snapshots.summary(run, request.query_params.get("tag", ""))
        return Answer({"run": list_run_of(run), **summary})


class SnapshotDiff(ApiView):
    """API view for GET /v1/lists/:id/snapshots/:snapshot_id/diff."""

    @operation(
        operation_id="compare_snapshots",
        summary="Compare two snapshots of a list",
        tags=["Lists"],
        parameters=[
            LIST,
            SNAPSHOT,
            OpenApiParameter("with", str, description="The snapshot to compare with; default: the previous one."),
            OpenApiParameter(
                "limit",
                {"type": "integer", "minimum": 1, "maximum": MAX_COMPARED_SITES, "default": 50},
                description="The number of sites of each kind.",
            ),
        ],
        responses=responses(
            {200: RETURNED},
            e400="`INVALID_PARAMS`.",
            e404=SNAPSHOT_NOT_FOUND,
            e503="`SERVICE_UNAVAILABLE`: the snapshots are large, and are being compared. Retry after `Retry-After`.",
        ),
    )
    def get(self, request: Request, list_id: str, snapshot_id: str) -> Answer[differences.SnapshotDiff]:
        """Compares two snapshots.

        Lists the sites that are better or worse, and the checks with more or fewer failures.
        """
        limit = integer(request.query_params, "limit", default=50, least=1, most=MAX_COMPARED_SITES)
        run = _snapshot(caller_of(request), list_id, snapshot_id)
        other_id = request.query_params.get("with")
        other = snapshots.previous(run) if other_id is None else _snapshot(caller_of(request), list_id, other_id)
        if other is None:
            raise resources.SNAPSHOT.not_found("There is no earlier snapshot of this list.")
        return Answer({"run_id": run.id, "with_run_id": other.id, **compare(run, other, limit)})


def _snapshot(caller: Caller, list_id: str, snapshot_id: str) -> ListRun:
    resources.LIST.find(caller.organization_id, list_id)
    return snapshots.find_snapshot(caller.organization_id, list_id, snapshot_id)


def _export_view(ending: str) -> type[ApiView]:
    """Return the API view of GET /v1/lists/:id/snapshots/:snapshot_id/export/<ending>."""
    writer = exports.WRITERS[ending]

    class SnapshotFile(ApiView):
        @operation(
            operation_id=f"export_snapshot_{ending}",
            summary=f"Export a snapshot of a list: {writer.purpose}",
            description=writer.about,
            tags=["Lists"],
            parameters=[
                LIST,
                SNAPSHOT,
                *headers(
                    [200],
                    Content_Disposition=(str, "A file name for the download."),
                    Cache_Control=(str, "`private, no-cache`."),
                    Vary=(str, "`Authorization`."),
                ),
            ],
            responses=responses(file_response(writer.media_type), e404=SNAPSHOT_NOT_FOUND),
        )
        def get(self, request: Request, list_id: str, snapshot_id: str) -> StreamingHttpResponse:
            run = _snapshot(caller_of(request), list_id, snapshot_id)
            response = StreamingHttpResponse(exports.export(run, ending), content_type=writer.media_type)
            response["Content-Disposition"] = f'attachment; filename="{run.id}.{ending}"'
            response["Cache-Control"] = "private, no-cache"
            response["Vary"] = "Authorization"
            return response

    return SnapshotFile


class UnknownSnapshotExport(ApiView):
    """API view that returns an error for unknown export formats of snapshots."""

    @operation(exclude=True)
    def get(self, request: Request, list_id: str, snapshot_id: str, ending: str) -> Response:
        raise unknown_format(exports.WRITERS)


EXPORT_VIEWS = {ending: _export_view(ending) for ending in exports.WRITERS}


class Adoption(ApiView):
    """API view for GET /v1/lists/:id/adoption."""

    @operation(
        operation_id="get_adoption",
        summary="Get how many sites have passed a check in each run",
        tags=["Lists"],
        parameters=[
            LIST,
            OpenApiParameter("check", str, required=True, description="The ID of a check."),
            TAG,
            OpenApiParameter("limit", {"type": "integer", "minimum": 1, "maximum": MAX_ADOPTION_RUNS, "default": 52}),
        ],
        responses=responses({200: RETURNED}, e400="`INVALID_PARAMS`.", e404=NOT_FOUND),
    )
    def get(self, request: Request, list_id: str) -> Answer[AdoptionJson]:
        """Returns how many sites pass a check in the latest finished runs, oldest first.

        Runs without the check are omitted.
        """
        query = request.query_params
        site_list = resources.LIST.find(caller_of(request).organization_id, list_id)
        limit = integer(query, "limit", default=52, least=1, most=MAX_ADOPTION_RUNS)
        check = query.get("check", "")
        # A check that the catalogue no longer has can still be in snapshots.
        if not adoption.has_check(site_list, check):
            check = check_of("check", check)
        points: list[AdoptionPoint] = [
            {"run_id": run.id, "started_at": timestamp(run.started_at), "passed": passed, "of": of}
            for run, passed, of in adoption.adoption(site_list, check, query.get("tag", ""), limit)
        ]
        return Answer({"check": check, "runs": points})


class ShareCollection(ApiView):
    """API view for GET and POST /v1/lists/:id/shares."""

    @operation(
        operation_id="list_shares",
        summary="List the public pages of a list",
        tags=["Lists"],
        parameters=[LIST],
        responses=responses({200: RETURNED}, e404=NOT_FOUND),
    )
    def get(self, request: Request, list_id: str) -> Answer[ShareList]:
        """Lists the public pages of a list, newest first."""
        site_list = resources.LIST.find(caller_of(request).organization_id, list_id)
        return Answer({"shares": [share_json_of(share) for share in sharing.shares_of(site_list)]})

    @operation(
        operation_id="create_share",
        summary="Share a snapshot of a list with anybody who has its address",
        tags=["Lists"],
        request=ShareRequestSerializer,
        parameters=[LIST],
        responses=responses(
            {201: RETURNED},
            e400="`INVALID_PARAMS`.",
            e404=SNAPSHOT_NOT_FOUND,
            e409="`SHARE_LIMIT`: as many as a list may have.",
            e413=TOO_LARGE,
            e415=NOT_JSON,
        ),
    )
    def post(self, request: Request, list_id: str) -> Answer[ShareJson]:
        """Creates a public page of a snapshot, by default of the latest one. `table` adds the table of all sites."""
        share = sharing.create_share(caller=caller_of(request), list_id=list_id, **parse_share(json_body(request)))
        location = f"/v1/lists/{list_id}/shares/{share.id}"
        return Answer(share_json_of(share), status=201, headers={"Location": location})


class ShareItem(ApiView):
    """API view for DELETE /v1/lists/:id/shares/:share_id."""

    @operation(
        operation_id="delete_share",
        summary="Revoke a public page of a list",
        tags=["Lists"],
        parameters=[LIST, id_parameter("share_id", "shr")],
        responses=responses({204: None}, e404=f"{NOT_FOUND} `SHARE_NOT_FOUND`: it has no such page."),
    )
    def delete(self, request: Request, list_id: str, share_id: str) -> Response:
        """Deletes a public page. Its URL responds with 404 from then on."""
        sharing.delete_share(caller=caller_of(request), list_id=list_id, share_id=share_id)
        return Response(status=204)
