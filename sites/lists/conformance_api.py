"""API view for the results of a list by success criterion."""

from __future__ import annotations

from django.http import HttpResponse
from rest_framework.request import Request

from accounts.authentication import caller_of
from infrastructure.api.pagination import choice
from infrastructure.api.schema import operation, responses
from infrastructure.api.typed import Answer
from infrastructure.api.views import ApiView
from reports.conformance_api import INVALID, QUERY_PARAMETERS, NotAccessibility
from reports.conformance_files import FILES
from sites import resources
from sites.lists import snapshots
from sites.lists.api import LIST, NOT_FOUND
from sites.lists.conformance import TYPE, ListConformance, conformance_csv, conformance_of_snapshot
from sites.lists.run_api import TAG
from sites.models import ListRun, SiteList
from website_scan.accessibility.standards import LEVELS, Standard
from website_scan.report.conformance import DEFAULT_LEVEL, DEFAULT_STANDARD
from website_scan.report.storage import compact_json

FORMATS = ("json", "csv")


class ListConformanceView(ApiView):
    """View of GET /v1/lists/:id/conformance."""

    @operation(
        operation_id="get_list_conformance",
        summary="Get the results of all sites by success criterion",
        tags=["Lists"],
        parameters=[LIST, TAG, *QUERY_PARAMETERS],
        responses=responses(
            {200: ListConformance},
            e400=INVALID,
            e404=f"{NOT_FOUND} `SNAPSHOT_NOT_FOUND`: no run of it has finished.",
            e409="`NOT_ACCESSIBILITY`: the sites were not judged for accessibility.",
        ),
    )
    def get(self, request: Request, list_id: str) -> HttpResponse:
        """On how many sites each success criterion of a standard fails, in the latest finished run.

        Automatic checks prove failures only. `?format=csv` returns a table for spreadsheets.
        """
        query = request.query_params
        standard = Standard(choice(query, "standard", [one.value for one in Standard]) or DEFAULT_STANDARD)
        level, body_format = choice(query, "level", LEVELS) or DEFAULT_LEVEL, choice(query, "format", FORMATS)
        run = latest_run(resources.LIST.find(caller_of(request).organization_id, list_id))
        conformance = conformance_of_snapshot(run, standard, level, query.get("tag", "").replace("\0", ""))
        if body_format == "csv":
            return conformance_file(conformance, body_format, list_id)
        return Answer[ListConformance](conformance)


def latest_run(site_list: SiteList) -> ListRun:
    """Return the latest snapshot of a list.

    Raises NotFound without a snapshot, and NotAccessibility if its sites were judged for other types only.
    """
    run = snapshots.latest(site_list)
    if TYPE not in (run.types if run else site_list.types):
        raise NotAccessibility("Only lists of accessibility scans have results by success criterion.")
    if run is None:
        raise resources.SNAPSHOT.not_found("No run of this list has finished.")
    return run


def conformance_file(conformance: ListConformance, file_format: str, list_id: str) -> HttpResponse:
    """Return the results as a file to download, in one of FORMATS."""
    file = FILES[file_format]
    content = conformance_csv(conformance) if file_format == "csv" else compact_json(conformance)
    response = HttpResponse(content, content_type=file.media_type)
    response["Content-Disposition"] = f'attachment; filename="{list_id}-{conformance["standard"]}.{file.ending}"'
    return response
