"""API endpoints in /v1 for lists and their entries; `run_api` has the endpoints for runs."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import access
from accounts.authentication import caller_of
from infrastructure.api import idempotency
from infrastructure.api.pagination import MAX_PAGE, USUAL_PAGE, slice_of
from infrastructure.api.parsing import UPLOADS
from infrastructure.api.schema import PAGE_PARAMETERS, RETURNED, creation_parameters, id_parameter, operation, responses
from infrastructure.api.typed import Answer
from infrastructure.api.views import ApiView, json_body, upload_of
from scans.policy import scan_policy
from scans.requests import without_credentials
from sites import resources
from sites.lists import importing, services
from sites.lists.entries import ORDERS, TYPES, EntryFilter, entries_page, limit_of, sort_of
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
from sites.lists.uploads import read_rows
from sites.models import ListEntry, SiteList
from website_scan.json_types import GRADES

NOT_FOUND = "`LIST_NOT_FOUND`: no such list, or another organization's."
ENTRY_NOT_FOUND = f"{NOT_FOUND} `ENTRY_NOT_FOUND`: it has no such entry."
INVALID = "`INVALID_TYPE`, `INVALID_REQUEST_FIELD` or `INVALID_PARAMS`, which names the field."
NO_JSON = "`UNSUPPORTED_MEDIA_TYPE`: the body is not JSON."
TOO_LARGE = "`PAYLOAD_TOO_LARGE`: over 64 KiB."
LIST = id_parameter("list_id", "lst")
ENTRY = id_parameter("entry_id", "ent")
SCORE = {"type": "integer", "minimum": 0, "maximum": 100}
FILTERS = [
    OpenApiParameter("tag", str),
    OpenApiParameter("type", str, enum=TYPES, description="The type of `grade`, `least` and `most`; else any."),
    OpenApiParameter("grade", str, enum=GRADES),
    OpenApiParameter("least", SCORE, description="The lowest score."),
    OpenApiParameter("most", SCORE, description="The highest score."),
    OpenApiParameter("check", str, description="The ID of a check that fails."),
    OpenApiParameter("outcome", str, description="An outcome that failed or warned, such as `hsts.short`."),
    OpenApiParameter("state", str, enum=ListEntry.State.values),
    OpenApiParameter("text", str, description="A part of the address or of the note."),
]
OF_PAGE = [
    OpenApiParameter("sort", str, enum=ORDERS, description="With a hyphen in descending order; by default by `url`."),
    OpenApiParameter("cursor", str, description="The `next_cursor` or `previous_cursor` of another page."),
    OpenApiParameter("limit", {"type": "integer", "minimum": 1, "maximum": MAX_PAGE, "default": USUAL_PAGE}),
]


class ListCollection(ApiView):
    """POST and GET /v1/lists."""

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
            e415=NO_JSON,
            e422="`IDEMPOTENCY_MISMATCH`: the key was used with another body.",
        ),
    )
    def post(self, request: Request) -> Answer[SiteListJson]:
        """A new list has no sites; `PUT …/entries` adds them. Its first run begins when its schedule says."""
        caller, body, key = caller_of(request), json_body(request), idempotency.key_of(request.headers)
        asked = parse_new(body, scan_policy(), caller.organization_id)
        once = idempotency.once(key, {"list": without_credentials(body)})
        created = services.create_list(caller=caller, request=asked, once=once)
        return Answer(created.response, status=201, headers=created.headers("/v1/lists"))

    @operation(
        operation_id="list_lists",
        summary="List the lists of sites",
        tags=["Lists"],
        parameters=PAGE_PARAMETERS,
        responses=responses({200: RETURNED}, e400="`INVALID_PARAMS`."),
    )
    def get(self, request: Request) -> Answer[SiteListList]:
        """The organization's lists, newest first."""
        part = slice_of(request.query_params)
        lists = access.rows(SiteList, caller_of(request).organization_id)
        rows = part.of(lists.select_related("organization").order_by("-created_at", "-id"))
        shown = lists_json_of(list(rows))
        return Answer({"lists": shown, "total": lists.count(), "limit": part.limit, "offset": part.offset})


class ListItem(ApiView):
    """GET, PATCH and DELETE /v1/lists/:id."""

    @operation(
        operation_id="get_list",
        summary="Get a list, its latest run and when the next one begins",
        tags=["Lists"],
        parameters=[LIST],
        responses=responses({200: RETURNED}, e404=NOT_FOUND),
    )
    def get(self, request: Request, list_id: str) -> Answer[SiteListJson]:
        """`GET …/entries` has its sites."""
        return Answer(list_json_of(resources.LIST.find(caller_of(request).organization_id, list_id)))

    @operation(
        operation_id="update_list",
        summary="Change a list",
        tags=["Lists"],
        request=ListChangeSerializer,
        parameters=[LIST],
        responses=responses({200: RETURNED}, e400=INVALID, e404=NOT_FOUND, e413=TOO_LARGE, e415=NO_JSON),
    )
    def patch(self, request: Request, list_id: str) -> Answer[SiteListJson]:
        """Other fields stay. A run that is in progress goes on as it began."""
        caller, body = caller_of(request), json_body(request)
        site_list = resources.LIST.find(caller.organization_id, list_id)
        asked = parse_change(body, scan_policy(), site_list)
        return Answer(list_json_of(services.change_list(caller=caller, list_id=list_id, request=asked)))

    @operation(
        operation_id="delete_list",
        summary="Delete a list with its sites, runs and snapshots",
        tags=["Lists"],
        parameters=[LIST],
        responses=responses({204: None}, e404=NOT_FOUND),
    )
    def delete(self, request: Request, list_id: str) -> Response:
        """Reports of its runs stay as long as reports do."""
        services.delete_list(caller=caller_of(request), list_id=list_id)
        return Response(status=204)


IMPORT_RESPONSES = responses(
    {200: RETURNED, 400: OpenApiResponse(ImportErrorBody, "`INVALID_ENTRIES` or `INVALID_PARAMS`.")},
    e404=NOT_FOUND,
    e409="`LIST_LIMIT`: more sites than the plan allows in all lists.",
    e413="`PAYLOAD_TOO_LARGE`: over 16 MiB.",
    e415="`UNSUPPORTED_MEDIA_TYPE`: the body is not JSON, CSV or text.",
)


class ListEntries(ApiView):
    """GET, PUT and POST /v1/lists/:id/entries."""

    parser_classes = UPLOADS

    @operation(
        operation_id="list_entries",
        summary="List the sites of a list with their scores",
        tags=["Lists"],
        parameters=[LIST, *FILTERS, *OF_PAGE],
        responses=responses({200: RETURNED}, e400="`INVALID_PARAMS`.", e404=NOT_FOUND),
    )
    def get(self, request: Request, list_id: str) -> Answer[EntryList]:
        """Filters add up. Sites without a value are last in both directions."""
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
        """All or nothing. A site whose address stays keeps its ID and its results.

        The body may also be CSV (`text/csv`), or an address on each line (`text/plain`).
        """
        return Answer(importing.replace_entries(**self._upload(request, list_id)))

    @operation(
        operation_id="add_entries",
        summary="Add sites to a list",
        tags=["Lists"],
        request=EntriesRequestSerializer,
        parameters=[LIST],
        responses=IMPORT_RESPONSES,
    )
    def post(self, request: Request, list_id: str) -> Answer[importing.ImportNumbers]:
        """All or nothing. Sites that are there already get more tags, and another note if one is given.

        The body may also be CSV (`text/csv`), or an address on each line (`text/plain`).
        """
        return Answer(importing.add_entries(**self._upload(request, list_id)))

    def _upload(self, request: Request, list_id: str) -> dict[str, Any]:
        upload = upload_of(request)
        rows = read_rows(upload.content, upload.media_type, scan_policy())
        return {"caller": caller_of(request), "list_id": list_id, "rows": rows}


class EntryItem(ApiView):
    """GET, PATCH and DELETE /v1/lists/:id/entries/:entry_id."""

    @operation(
        operation_id="get_entry",
        summary="Get a site of a list with its latest result",
        tags=["Lists"],
        parameters=[LIST, ENTRY],
        responses=responses({200: RETURNED}, e404=ENTRY_NOT_FOUND),
    )
    def get(self, request: Request, list_id: str, entry_id: str) -> Answer[EntryJson]:
        """`audit_id` is that of its latest audit."""
        return Answer(entry_json_of(services.find_entry(caller_of(request).organization_id, list_id, entry_id)))

    @operation(
        operation_id="update_entry",
        summary="Change the tags or the note of a site",
        tags=["Lists"],
        request=EntryChangeSerializer,
        parameters=[LIST, ENTRY],
        responses=responses(
            {200: RETURNED}, e400="`INVALID_PARAMS`.", e404=ENTRY_NOT_FOUND, e413=TOO_LARGE, e415=NO_JSON
        ),
    )
    def patch(self, request: Request, list_id: str, entry_id: str) -> Answer[EntryJson]:
        """Other fields stay. Another address is another site: delete this one and add that."""
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
        """Snapshots keep what their runs have found. A run in progress leaves it out unless it has begun."""
        services.delete_entry(caller=caller_of(request), list_id=list_id, entry_id=entry_id)
        return Response(status=204)
