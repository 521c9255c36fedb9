"""GET /v1/usage."""

from __future__ import annotations

from datetime import UTC, date, datetime

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import access, usage
from config.api.schema import RATE_HEADERS, responses
from config.api.throttling import WINDOW_S
from config.api.views import ApiView, caller_of
from config.ids import timestamp
from scans.listing import scan_counts
from scans.models import Scan
from scans.serializers import QuotaObject


class UsagePeriod(serializers.Serializer):
    """The calendar month in UTC: `start` inclusive, `end` exclusive."""

    start = serializers.DateTimeField()
    end = serializers.DateTimeField()


class ConcurrentUsage(serializers.Serializer):
    """Scans that are queued or running."""

    running = serializers.IntegerField(min_value=0)
    limit = serializers.IntegerField(min_value=0)


class RateLimitUsage(serializers.Serializer):
    """The request rate, as the X-RateLimit headers say it."""

    limit = serializers.IntegerField(min_value=0)
    remaining = serializers.IntegerField(min_value=0)
    reset = serializers.IntegerField(min_value=0)
    window_seconds = serializers.IntegerField(min_value=1)


class Usage(serializers.Serializer):
    """The answer of GET /v1/usage."""

    period = UsagePeriod()
    quota = QuotaObject()
    concurrent = ConcurrentUsage()
    rate_limit = RateLimitUsage()
    by_type = serializers.DictField(child=serializers.IntegerField(min_value=0))
    by_status = serializers.DictField(child=serializers.IntegerField(min_value=0))


class UsageView(ApiView):
    """GET /v1/usage."""

    @extend_schema(
        operation_id="get_usage",
        summary="Get usage and quota",
        tags=["Usage"],
        parameters=RATE_HEADERS,
        responses=responses({200: Usage}),
    )
    def get(self, request: Request) -> Response:
        """This month's scans, the scans running now, and the request rate."""
        caller = caller_of(request)
        now = timezone.now()
        period = usage.month_of(now)
        rate = request._request.rate  # type: ignore[attr-defined]  # set by the throttle
        return Response(
            {
                "period": {"start": _midnight(period), "end": _midnight(usage.next_month(period))},
                "quota": usage.quota(caller.organization_id, caller.limits, now).as_dict(),
                "concurrent": {
                    "running": access.rows(Scan, caller.organization_id).unfinished().count(),  # type: ignore[attr-defined]  # ScanQuerySet
                    "limit": caller.limits.concurrent_scans,
                },
                "rate_limit": {
                    "limit": rate.limit,
                    "remaining": rate.remaining,
                    "reset": rate.reset,
                    "window_seconds": WINDOW_S,
                },
                "by_type": scan_counts(caller.organization_id, "type", period),
                "by_status": scan_counts(caller.organization_id, "status", period),
            }
        )


def _midnight(day: date) -> str:
    return timestamp(datetime(day.year, day.month, day.day, tzinfo=UTC))
