"""API views for scans and usage."""

from __future__ import annotations

from datetime import UTC, date, datetime

from django.http import HttpResponse, QueryDict
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from accounts import usage
from accounts.authentication import caller_of
from infrastructure.api import idempotency
from infrastructure.api.errors import InvalidParams
from infrastructure.api.pagination import choice, parse_limit_and_offset
from infrastructure.api.schema import (
    PAGE_PARAMETERS,
    RETURNED,
    creation_parameters,
    headers,
    id_parameter,
    operation,
    responses,
)
from infrastructure.api.scopes import Scope
from infrastructure.api.throttling import Rate
from infrastructure.api.typed import Answer
from infrastructure.api.views import ApiView, json_body
from scans import services
from scans.listing import find_scan, scan_counts, scan_list
from scans.models import Scan
from scans.policy import scan_policy
from scans.requests import ScanRequestSerializer, without_credentials
from scans.schemas import ScanDetail, ScanList, Usage, quota_of, scan_detail_of
from scans.visits.queue import running_visits
from website_scan.ids import is_id
from website_scan.timestamps import timestamp

POLL_AFTER_S = 2


class ScanCollection(ApiView):
    """API view for POST /v1/scan."""

    scopes = {"POST": Scope.SCAN}

    @operation(
        operation_id="create_scan",
        summary="Create a scan",
        tags=["Scans"],
        request=ScanRequestSerializer,
        parameters=creation_parameters(201, "scan"),
        responses=responses(
            {201: RETURNED},
            e400="`INVALID_URL`, `INVALID_TYPE`, `INVALID_REQUEST_FIELD`, `URL_NOT_REACHABLE` or `INVALID_PARAMS`.",
            e403="`DOMAIN_BLOCKED`: the target is not publicly accessible, or blocked here.",
            e409="`IDEMPOTENCY_CONFLICT`: a request with this key is still in progress.",
            e413="`PAYLOAD_TOO_LARGE`: over 64 KiB.",
            e415="`UNSUPPORTED_MEDIA_TYPE`: the body is not JSON.",
            e422="`IDEMPOTENCY_MISMATCH`: the key was used with another body.",
            e429="`RATE_LIMITED`, `QUOTA_EXCEEDED` or `CONCURRENT_LIMIT`.",
        ),
    )
    def post(self, request: Request) -> Answer[ScanDetail]:
        """Queues a scan of a public web page and returns it."""
        body, key = json_body(request), idempotency.key_of(request.headers)
        scan_request = ScanRequestSerializer.judged(body, policy=scan_policy())
        once = idempotency.once(key, without_credentials(body))
        creation = services.create_scan(caller=caller_of(request), request=scan_request, once=once)
        return Answer(creation.response, status=201, headers=creation.headers("/v1/scan"))


class ScanItem(ApiView):
    """API view for GET /v1/scan/:id."""

    @operation(
        operation_id="get_scan",
        summary="Get the status and progress of a scan",
        tags=["Scans"],
        parameters=[
            id_parameter("scan_id", "scan"),
            *headers([200], Retry_After=(int, "Seconds to wait before asking again; absent once final.")),
        ],
        responses=responses({200: RETURNED}, e404="`SCAN_NOT_FOUND`: no such scan, or another organization's."),
    )
    def get(self, request: Request, scan_id: str) -> Answer[ScanDetail]:
        """Poll this endpoint until the status is `completed`, `partial` or `failed`."""
        scan = find_scan(caller_of(request).organization_id, scan_id)
        if scan is None:
            raise services.SCAN.not_found()
        retry_headers = {} if scan.is_final else {"Retry-After": str(POLL_AFTER_S)}
        return Answer(scan_detail_of(scan), headers=retry_headers)


class ScanListing(ApiView):
    """API view for GET /v1/scans."""

    @operation(
        operation_id="list_scans",
        summary="List scans",
        tags=["Scans"],
        parameters=[
            *PAGE_PARAMETERS,
            OpenApiParameter("status", str, enum=Scan.Status.values),
            OpenApiParameter("type", str, enum=Scan.Type.values),
            OpenApiParameter("audit", str, description="The ID of an audit: only its scans."),
        ],
        responses=responses({200: ScanList}, e400="`INVALID_PARAMS`: a parameter is out of range or unknown."),
    )
    def get(self, request: Request) -> HttpResponse:
        """The organization's scans, newest first."""
        caller = caller_of(request)
        query = request.query_params
        page_slice = parse_limit_and_offset(query)
        filters = {
            "status": choice(query, "status", Scan.Status.values),
            "type": choice(query, "type", Scan.Type.values),
            "audit": _audit_id(query),
        }
        chosen_filters = {column: value for column, value in filters.items() if value is not None}
        json_text = scan_list(
            organization_id=caller.organization_id,
            limits=caller.limits,
            filters=chosen_filters,
            page_slice=page_slice,
            now=timezone.now(),
        )
        return HttpResponse(json_text, content_type="application/json")


class UsageView(ApiView):
    """API view for GET /v1/usage."""

    @operation(
        operation_id="get_usage",
        summary="Get usage and quota",
        tags=["Usage"],
        responses=responses({200: RETURNED}),
    )
    def get(self, request: Request) -> Answer[Usage]:
        """This month's scans, the running scans, and the request rate."""
        caller = caller_of(request)
        now = timezone.now()
        period = usage.month_of(now)
        rate: Rate = request._request.rate  # type: ignore[attr-defined]  # set by the throttle
        return Answer(
            {
                "period": {"start": _midnight(period), "end": _midnight(usage.next_month(period))},
                "quota": quota_of(usage.quota(caller.organization_id, caller.limits, now)),
                "concurrent": {
                    "running": running_visits(caller.organization_id),
                    "limit": caller.limits.concurrent_scans,
                },
                "rate_limit": {
                    "limit": rate.limit,
                    "remaining": rate.remaining,
                    "reset": rate.reset,
                    "window_seconds": rate.window_seconds,
                },
                "by_type": scan_counts(caller.organization_id, "type", period),
                "by_status": scan_counts(caller.organization_id, "status", period),
            }
        )


def _audit_id(query: QueryDict) -> str | None:
    audit_id = query.get("audit")
    if audit_id is not None and not is_id("aud", audit_id):
        raise InvalidParams("audit must be the ID of an audit.")
    return audit_id


def _midnight(day: date) -> str:
    return timestamp(datetime(day.year, day.month, day.day, tzinfo=UTC))
