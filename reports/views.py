"""The page of a report, for the members of the organization that asked for it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.db.models import BooleanField, ExpressionWrapper, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts import access
from config.ids import is_id
from reports.models import Report
from reports.page import report_page, safe_link
from scans.models import Scan


@require_safe
@never_cache
@login_required
def report(request: HttpRequest, scan_id: str) -> HttpResponse:
    """The report of a scan, or how far the scan is, or why it failed; 404 for everybody but members."""
    response = _page(request, scan_id)
    response["X-Robots-Tag"] = "noindex, nofollow"
    return response


def _page(request: HttpRequest, scan_id: str) -> HttpResponse:
    now = timezone.now()
    scan = None
    if is_id("scan", scan_id):
        retained = now - timedelta(days=settings.REPORT_RETENTION_DAYS)
        scan = access.rows_of_member(Scan, request.user).filter(id=scan_id, created_at__gt=retained).first()
    if scan is None:
        return _not_found(request)
    context: dict[str, Any] = {"scan": scan, "link": safe_link(scan.url)}
    if not scan.is_final:
        return render(request, "report/running.html", context)
    if scan.status == Scan.Status.FAILED:
        return render(request, "report/failed.html", context)
    reports = access.rows(Report, scan.organization_id).filter(scan_id=scan.id, expires_at__gt=now)
    has_screenshot = ExpressionWrapper(Q(screenshot__isnull=False), BooleanField())
    found = reports.defer("body", "screenshot").annotate(has_screenshot=has_screenshot).first()
    if found is None:
        return _not_found(request)
    context |= {
        "page": report_page(found.document, found.facts, found.waterfall),
        "expires_at": found.expires_at,
        "has_screenshot": found.has_screenshot,
    }
    return render(request, "report/report.html", context)


@require_safe
@login_required
def screenshot(request: HttpRequest, scan_id: str) -> HttpResponse:
    """The first screen of the page as the browser of the scan saw it; 404 where the report itself is."""
    rows = access.rows_of_member(Report, request.user).filter(scan_id=scan_id, expires_at__gt=timezone.now())
    picture = rows.values_list("screenshot", flat=True).first() if is_id("scan", scan_id) else None
    if picture is None:
        return _not_found(request)
    response = HttpResponse(bytes(picture), content_type="image/webp")
    # It never changes; the browser asks again when the session may have ended.
    response["Cache-Control"] = "private, max-age=300"
    response["X-Robots-Tag"] = "noindex, nofollow"
    return response


def _not_found(request: HttpRequest) -> HttpResponse:
    context = {
        "status": 404,
        "message": "There is no report at this address.",
        "detail": (
            "It may never have existed, belong to an organization that you are not a member of, or have"
            f" expired: reports are kept for {settings.REPORT_RETENTION_DAYS} days."
        ),
    }
    return render(request, "error.html", context, status=404)
