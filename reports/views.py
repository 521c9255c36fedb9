"""The page of a report, for the members of the organization that asked for it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_required
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
    found = access.rows(Report, scan.organization_id).filter(scan_id=scan.id, expires_at__gt=now).defer("body").first()
    if found is None:
        return _not_found(request)
    context |= {"page": report_page(found.document, found.facts), "expires_at": found.expires_at}
    return render(request, "report/report.html", context)


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
