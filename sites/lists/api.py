"""API views for lists and their entries.

`run_api` has the views for runs.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import access
from accounts.authentication import caller_of
from infrastructure.api import idempotency
from infrastructure.api.pagination import DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, parse_limit_and_offset
from infrastructure.api.parsing import UPLOADS
from infrastructure.api.schema import PAGE_PARAMETERS, RETURNED, creation_parameters, id_parameter, operation, responses
from infrastructure.api.typed import Answer
from infrastructure.api.views import ApiView, json_body, upload_of
from scans.policy import scan_policy
from scans.requests import without_credentials
from sites import resources
from sites.lists import importing, part_imports, services
from sites.lists.entries import ORDERS, entries_page, limit_of, sort_of
from sites.lists.entry_filters import TYPES, EntryFilter
from sites.lists.import_limits import import_slot, refuse_long_upload
from sites.lists.requests import (
    EntriesRequestSerializer,
    EntryChangeSerializer,
    ListChangeSerializer,
    ListRequestSerializer,
    parse_change,
    parse_new,
)
from sites.lists.schemas import (
    EntryJson,
    EntryList,
    ImportErrorBody,
    SiteListJson,
    SiteListList,
    entry_json_of,
    list_json_of,
    lists_json_of,
)
from sites.lists.uploads import Row, read_rows
from sites.models import ListEntry, SiteList
from website_scan.json_types import GRADES

NOT_FOUND = "`LIST_NOT_FOUND`: no such list, or another organization's."
ENTRY_NOT_FOUND = f"{NOT_FOUND} `ENTRY_NOT_FOUND`: it has no such entry."
INVALID = "`INVALID_TYPE`, `INVALID_REQUEST_FIELD` or `INVALID_PARAMS`, which names the field."
NOT_JSON = "`UNSUPPORTED_MEDIA_TYPE`: the body is not JSON."
TOO_LARGE = "`PAYLOAD_TOO_LARGE`: over 64 KiB."
LIST = id_parameter("list_id", "lst")
ENTRY = id_parameter("entry_id", "ent")
SCORE = {"type": "integer", "minimum": 0, "maximum": 100}
FILTERS = [
    OpenApiParameter("tag", str),
    OpenApiParameter("type", str, enum=TYPES, description="The type of `grade`, `least` and `most`; default: any."),
    OpenApiParameter("grade", str, enum=GRADES),
    OpenApiParameter("least", SCORE, description="The lowest score."),
    OpenApiParameter("most", SCORE, description="The highest score."),
    OpenApiParameter("check", str, description="The ID of a check that fails."),
    OpenApiParameter("outcome", str, description="An outcome that failed or warned, such as `hsts.short`."),
    OpenApiParameter("state", str, enum=ListEntry.State.values),
    OpenApiParameter("text", str, description="A part of the address or of the note."),
    OpenApiParameter("hsts", str, enum=("yes", "no"), description="Whether the site sends HSTS."),
    OpenApiParameter("http_status", {"type": "integer", "minimum": 100, "maximum": 599}),
    OpenApiParameter("generator", str, description="A part of the generator that the site names."),
    OpenApiParameter("language", str, description="The language of the site; `de` includes `de-AT`."),
]
PAGINATION_PARAMETERS = [
    OpenApiParameter("sort", str, enum=ORDERS, description="With a hyphen in descending order; by default by `url`."),
    OpenApiParameter("cursor", str, description="The `next_cursor` or `previous_cursor` of another page."),
    OpenApiParameter(
        "limit", {"type": "integer", "minimum": 1, "maximum": MAX_PAGE_SIZE, "default": DEFAULT_PAGE_SIZE}
    ),
]


class ListCollection(ApiView):
    """API view for POST and GET /v1/lists."""

    @operation(
        operation_id="create_list",
        summary="Create a list of sites",
        tags=["Lists"],
        request=ListRequestSerializer,
        parameters=creation_parameters(201, "list"),
        responses=responses(
            {201: RETURNED},
            e400=INVALID,
            e409="`LIST_LIMIT`: as many as the plan allows. `IDEMPOTENCY_CONFLICT`: a request with this key is "
            "still in progress.",
            e413=TOO_LARGE,
            e415=NOT_JSON,
            e422="`IDEMPOTENCY_MISMATCH`: the key was used with another body.",
        ),
    )
    def post(self, request: Request) -> Answer[SiteListJson]:
        """Creates a list without sites.

        `PUT …/entries` adds sites. The schedule determines the first run.
        """
        caller, body, key = caller_of(request), json_body(request), idempotency.key_of(request.headers)
        list_request = parse_new(body, scan_policy(), caller.organization_id)
        once = idempotency.once(key, {"list": without_credentials(body)})
        created = services.create_list(caller=caller, request=list_request, once=once)
        return Answer(created.response, status=201, headers=created.headers("/v1/lists"))

    @operation(
        operation_id="list_lists",
        summary="List the lists of sites",
        tags=["Lists"],
        parameters=PAGE_PARAMETERS,
        responses=responses({200: RETURNED}, e400="`INVALID_PARAMS`."),
    )
    def get(self, request: Request) -> Answer[SiteListList]:
        """Returns the organization's lists, newest first."""
        page_slice = parse_limit_and_offset(request.query_params)
        lists = access.rows(SiteList, caller_of(request).organization_id)
        rows = page_slice.of(lists.select_related("organization").order_by("-created_at", "-id"))
        lists_json = lists_json_of(list(rows))
        return Answer({"lists": lists_json, **page_slice.bounds(lists)})


class ListItem(ApiView):
    """API view for GET, PATCH and DELETE /v1/lists/:id."""

    @operation(
        operation_id="get_list",
        summary="Get a list, its latest run and when the next one begins",
        tags=["Lists"],
        parameters=[LIST],
        responses=responses({200: RETURNED}, e404=NOT_FOUND),
    )
    def get(self, request: Request, list_id: str) -> Answer[SiteListJson]:
        """Returns a list with its latest run. `GET …/entries` lists its sites."""
        return Answer(list_json_of(resources.LIST.find(caller_of(request).organization_id, list_id)))

    @operation(
        operation_id="update_list",
        summary="Change a list",
        tags=["Lists"],
        request=ListChangeSerializer,
        parameters=[LIST],
        responses=responses({200: RETURNED}, e400=INVALID, e404=NOT_FOUND, e413=TOO_LARGE, e415=NOT_JSON),
    )
    def patch(self, request: Request, list_id: str) -> Answer[SiteListJson]:
        """Changes the fields in the body. A run in progress continues with the previous settings."""
        caller, body = caller_of(request), json_body(request)
        site_list = resources.LIST.find(caller.organization_id, list_id)
        list_request = parse_change(body, scan_policy(), site_list)
        return Answer(list_json_of(services.change_list(caller=caller, list_id=list_id, request=list_request)))

    @operation(
        operation_id="delete_list",
        summary="Delete a list with its sites, runs and snapshots",
        tags=["Lists"],
        parameters=[LIST],
        responses=responses({204: None}, e404=NOT_FOUND),
    )
    def delete(self, request: Request, list_id: str) -> Response:
        """Deletes a list. Reports of its runs are retained as long as other reports."""
        services.delete_list(caller=caller_of(request), list_id=list_id)
        return Response(status=204)


IMPORT_NAME = OpenApiParameter("import", str, description="A name for an import that is sent in several parts.")
IMPORT_RESPONSES = responses(
    {200: RETURNED, 400: OpenApiResponse(ImportErrorBody, "`INVALID_ENTRIES` or `INVALID_PARAMS`.")},
    e404=NOT_FOUND,
    e409="`LIST_LIMIT`: more sites than the plan allows in all lists.",
    e413="`PAYLOAD_TOO_LARGE`: over 16 MiB.",
    e415="`UNSUPPORTED_MEDIA_TYPE`: the body is not JSON, CSV or text.",
)


class ListEntries(ApiView):
    """API view for GET, PUT, POST and DELETE /v1/lists/:id/entries."""

    parser_classes = UPLOADS

    @operation(
        operation_id="list_entries",
        summary="List the sites of a list with their scores",
        tags=["Lists"],
        parameters=[LIST, *FILTERS, *PAGINATION_PARAMETERS],
        responses=responses({200: RETURNED}, e400="`INVALID_PARAMS`.", e404=NOT_FOUND),
    )
    def get(self, request: Request, list_id: str) -> Answer[EntryList]:
        """Lists the sites that match all filters. Sites without a value are last in ascending and descending order."""
        site_list = resources.LIST.find(caller_of(request).organization_id, list_id)
        query = request.query_params
        limit = limit_of(query)
        page = entries_page(
            site_list, EntryFilter.of(query), sort=sort_of(query), cursor=query.get("cursor", ""), limit=limit
        )
        return Answer(
            {
                "entries": [entry_json_of(entry) for entry in page.rows],
                "total": page.total,
                "limit": limit,
                "next_cursor": page.next_cursor,
                "previous_cursor": page.previous_cursor,
            }
        )

    @operation(
        operation_id="replace_entries",
        summary="Replace all sites of a list",
        tags=["Lists"],
        request=EntriesRequestSerializer,
        parameters=[LIST],
        responses=IMPORT_RESPONSES,
    )
    def put(self, request: Request, list_id: str) -> Answer[importing.ImportNumbers]:
        """Replaces all sites, or none if any is invalid. A site whose URL is sent again keeps its ID and its results.

        The body may also be CSV (`text/csv`), a workbook in XLSX, or an address on each line (`text/plain`).
        """
        with self._upload(request, list_id) as rows:
            return Answer(importing.replace_entries(caller=caller_of(request), list_id=list_id, rows=rows))

    @operation(
        operation_id="add_entries",
        summary="Add sites to a list",
        tags=["Lists"],
        request=EntriesRequestSerializer,
        parameters=[LIST, IMPORT_NAME],
        responses=IMPORT_RESPONSES,
    )
    def post(self, request: Request, list_id: str) -> Answer[importing.ImportNumbers]:
        """Adds all sites, or none if any is invalid. Sites that the list already has get the new tags and note.

        The body may also be CSV (`text/csv`), a workbook in XLSX, or an address on each line (`text/plain`). With
        `import`, the sites are a part of an import, which a DELETE request for the entries finishes.
        """
        raw_name = request.query_params.get("import")
        name = None if raw_name is None else part_imports.parse_name(raw_name)
        caller = caller_of(request)
        with self._upload(request, list_id) as rows:
            if name is not None:
                return Answer(part_imports.add_part(caller=caller, list_id=list_id, name=name, rows=rows))
            return Answer(importing.add_entries(caller=caller, list_id=list_id, rows=rows))

    @operation(
        operation_id="finish_import",
        summary="Remove the sites that an import in parts does not have",
        tags=["Lists"],
        parameters=[
            LIST,
            OpenApiParameter("import", str, required=True, description="The name of the import."),
            OpenApiParameter("cursor", str, description="The `next_cursor` of the previous response."),
        ],
        responses=responses({200: RETURNED}, e400="`INVALID_PARAMS`.", e404=ENTRY_NOT_FOUND),
    )
    def delete(self, request: Request, list_id: str) -> Answer[part_imports.RemovedEntries]:
        """Examines up to 10,000 sites, and removes up to 1,000 that no part of the import had.

        Repeat the request with `cursor` until `next_cursor` is null. The import is then finished.
        """
        caller, query = caller_of(request), request.query_params
        resources.LIST.find(caller.organization_id, list_id)
        removed = part_imports.remove_others(
            caller=caller,
            list_id=list_id,
            name=part_imports.parse_name(query.get("import", "")),
            cursor=query.get("cursor", ""),
        )
        return Answer(removed)

    @contextlib.contextmanager
    def _upload(self, request: Request, list_id: str) -> Iterator[list[Row]]:
        """Context manager that yields the upload's parsed rows.

        Everything that is cheap to refuse is refused before parsing.
        """
        organization_id = caller_of(request).organization_id
        resources.LIST.find(organization_id, list_id)
        upload = upload_of(request)
        refuse_long_upload(organization_id, upload.content, upload.media_type)
        with import_slot(organization_id, upload.content, upload.media_type):
            yield read_rows(upload.content, upload.media_type, scan_policy())


class EntryItem(ApiView):
    """API view for GET, PATCH and DELETE /v1/lists/:id/entries/:entry_id."""

    @operation(
        operation_id="get_entry",
        summary="Get a site of a list with its latest result",
        tags=["Lists"],
        parameters=[LIST, ENTRY],
        responses=responses({200: RETURNED}, e404=ENTRY_NOT_FOUND),
    )
    def get(self, request: Request, list_id: str, entry_id: str) -> Answer[EntryJson]:
        """Returns a site of a list. `audit_id` is the ID of its latest audit."""
        return Answer(entry_json_of(services.find_entry(caller_of(request).organization_id, list_id, entry_id)))

    @operation(
        operation_id="update_entry",
        summary="Change the tags or the note of a site",
        tags=["Lists"],
        request=EntryChangeSerializer,
        parameters=[LIST, ENTRY],
        responses=responses(
            {200: RETURNED}, e400="`INVALID_PARAMS`.", e404=ENTRY_NOT_FOUND, e413=TOO_LARGE, e415=NOT_JSON
        ),
    )
    def patch(self, request: Request, list_id: str, entry_id: str) -> Answer[EntryJson]:
        """Changes the tags or the note.

        The URL cannot be changed. Delete the site and add another one instead.
        """
        changes = EntryChangeSerializer.judged(json_body(request))
        entry = services.change_entry(caller=caller_of(request), list_id=list_id, entry_id=entry_id, **changes)
        return Answer(entry_json_of(entry))

    @operation(
        operation_id="delete_entry",
        summary="Delete a site of a list",
        tags=["Lists"],
        parameters=[LIST, ENTRY],
        responses=responses({204: None}, e404=ENTRY_NOT_FOUND),
    )
    def delete(self, request: Request, list_id: str, entry_id: str) -> Response:
        """Deletes a site, but not its results in snapshots. A run in progress skips it unless its scan has begun."""
        services.delete_entry(caller=caller_of(request), list_id=list_id, entry_id=entry_id)
        return Response(status=204)
