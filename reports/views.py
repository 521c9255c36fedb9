"""Views for report pages, pictures and exports.

Members, and anybody with the link of a shared report, may open them.
"""

from __future__ import annotations

import functools
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh

from accounts.branding import branding_of
from accounts.identity.freshness import session_suffices
from accounts.shared_pages import require_visible, sees_everything, surroundings
from infrastructure.web.cards import responses as cards
from infrastructure.web.pictures import picture_response
from reports.conformance_files import conformance_file
from reports.formats import report_formats
from reports.mutes.services import active_mutes
from reports.page.conformance import ConformanceQuery, conformance_page, conformance_url
from reports.page.history import comparable_reports
from reports.page.preview import card_address, card_of
from reports.page.steps import progress_steps
from reports.page.visible_report import VisibleReport
from reports.services import ReportsNotComparable, require_comparable
from reports.visibility import VisibleScan, find_visible_scan, set_sharing
from scans.check_catalogue import check_pages
from scans.models import Scan
from website_scan.picture_types import picture_type
from website_scan.report.conformance import conformance_of_reports
from website_scan.report.diff import diff
from website_scan.report.explanations import advice
from website_scan.report.illustrations import extract_frame
from website_scan.report.mute_matching import NO_MUTES
from website_scan.report.references import safe_link
from website_scan.report.storage import read_export


def _not_found(request: HttpRequest) -> HttpResponse:
    return render(request, "reports/not_found.html", {"thing": "report"}, status=404)


_require_visible = require_visible(look=find_visible_scan, id_name="scan_id", page="report-page", not_found=_not_found)


@require_safe
@_require_visible
def report(request: HttpRequest, visible: VisibleScan) -> HttpResponse:
    """Show a scan's report, its progress, or the reason why it failed."""
    scan = visible.scan
    context = _scan_context(visible)
    if visible.membership and visible.is_expired:
        return _expired_page(request, context)
    if not scan.is_final:
        return render(request, "reports/running.html", context | {"steps": progress_steps(scan), "is_fragment": False})
    if scan.status == Scan.Status.FAILED:
        return render(request, "reports/failed.html", context | {"advice": advice(scan.error_code)})
    report_row = visible.reports().only("id", "shared_at").first()
    if report_row is None:
        return _expired_page(request, context) if visible.membership else _not_found(request)
    visible_report = VisibleReport(request, visible, report_row)
    context |= visible_report.context() | visible_report.past()
    context["parts"] = visible_report.parts(context)
    return render(request, "reports/report.html", context)


@require_safe
@_require_visible
def compare(request: HttpRequest, visible: VisibleScan) -> HttpResponse:
    """Compare the report with another one.

    The query parameter `with` is the ID of the other scan. By default, the previous report is used.
    """
    report_row = visible.reports().only("export").first()
    if report_row is None:
        return _not_found(request)
    choices = comparable_reports(visible.scan, visible.now) if visible.membership else []
    earlier = next((scan for scan in choices if scan.created_at <= visible.scan.created_at), None)
    other_id = request.GET.get("with", earlier.id if earlier else "")
    context = _scan_context(visible) | {"choices": choices, "other_id": other_id, "changes": None, "shows_places": True}
    if other_id:
        # Access to both reports is checked, because visitors with the link of one may not have the link of the other.
        other = find_visible_scan(request, other_id)
        before = other.reports().only("export").first() if other else None
        if other is None or before is None or other.scan.organization_id != visible.scan.organization_id:
            return _not_found(request)
        try:
            require_comparable(before.export_json, report_row.export_json)
        except ReportsNotComparable as refusal:
            return render(request, "error.html", {"status": 400, "message": str(refusal)}, status=400)
        mutes = active_mutes(visible.scan.organization_id, visible.now)
        context |= {"changes": diff(before.export_json, report_row.export_json, mutes), "other": other.scan}
    elif not choices:
        return _not_found(request)
    return render(request, "reports/compare.html", context)


@require_safe
@_require_visible
def progress(request: HttpRequest, visible: VisibleScan) -> HttpResponse:
    """Return the HTML fragment of a running scan's progress, which htmx requests every second."""
    if not request.htmx:  # type: ignore[attr-defined]  # django-htmx
        return redirect("report-page", visible.scan.id)
    if visible.scan.status != request.GET.get("status"):
        return HttpResponseClientRefresh()
    context = {"scan": visible.scan, "steps": progress_steps(visible.scan), "is_fragment": True}
    return render(request, "reports/_progress.html", context)


@require_safe
@_require_visible
def screenshot(request: HttpRequest, visible: VisibleScan) -> HttpResponse:
    """Return the screenshot of the scanned page's first screen."""
    picture = visible.reports().values_list("screenshot", flat=True).first()
    return _picture_response(request, visible, picture, picture_type(picture or b""))


@require_safe
@_require_visible
def page_picture(request: HttpRequest, visible: VisibleScan) -> HttpResponse:
    """Return the screenshot of the scanned page, down to the last element with a finding."""
    picture = visible.reports().values_list("page_picture", flat=True).first()
    return _picture_response(request, visible, picture, "image/webp")


@require_safe
@_require_visible
def film_frame(request: HttpRequest, visible: VisibleScan, number: int) -> HttpResponse:
    """Return a frame of the page load's filmstrip, numbered from 0."""
    film, stored = visible.reports().values_list("film", "pictures").first() or (None, None)
    return _picture_response(request, visible, extract_frame(film, stored, number), "image/jpeg")


@require_safe
@_require_visible
def card(request: HttpRequest, visible: VisibleScan, digest: str) -> HttpResponse:
    """Return the report's image for link previews."""
    scan = visible.scan
    if scan.status not in Scan.REPORTED or not visible.reports().exists():
        return _not_found(request)
    caching = cards.MEMBERS if visible.membership else cards.SHARED
    return cards.card_at(request, card_of(scan), digest, functools.partial(card_address, scan), caching)


def _picture_response(
    request: HttpRequest, visible: VisibleScan, picture: bytes | memoryview | None, content_type: str
) -> HttpResponse:
    if picture is None:
        return _not_found(request)
    return picture_response(request, visible.scan.id, picture, content_type)


@require_safe
@_require_visible
def export(request: HttpRequest, visible: VisibleScan, export_format: str) -> HttpResponse:
    """Download the report in one of the API's export formats."""
    chosen_format = report_formats().get(export_format)
    export_text = visible.reports().values_list("export", flat=True).first() if chosen_format else None
    if chosen_format is None or export_text is None:
        return _not_found(request)
    mutes = active_mutes(visible.scan.organization_id, visible.now) if chosen_format.has_mutes else NO_MUTES
    if not sees_everything(visible.membership):
        mutes = mutes.hide_reasons()
    content = chosen_format.render(export_text, mutes.findings, check_pages())
    response = HttpResponse(content, content_type=chosen_format.media_type)
    response["Content-Disposition"] = f'attachment; filename="{visible.scan.id}.{export_format}"'
    return response


@require_safe
@_require_visible
def conformance(request: HttpRequest, visible: VisibleScan) -> HttpResponse:
    """Show an accessibility report's results by success criterion, or download them in the format `format`."""
    export_text = visible.reports().values_list("export", flat=True).first() if conformance_url(visible.scan) else None
    if export_text is None:
        return _not_found(request)
    report, query = read_export(export_text), ConformanceQuery.parse(request.GET)
    results = conformance_of_reports([report], query.standard, query.level)
    if query.file_format:
        url = report.get("final_url") or report["url"]
        return conformance_file(results, query.file_format, visible.scan.id, url, report["completed_at"])
    report_url = reverse("report-page", args=[visible.scan.id])
    page = conformance_page(results, query, finding_url=lambda check_id: f"{report_url}#check-{check_id}")
    return render(request, "reports/conformance.html", _scan_context(visible) | {"page": page})


@require_safe
@_require_visible
def developer_text(request: HttpRequest, visible: VisibleScan) -> HttpResponse:
    """Return the report as plain text, which its reader sends to a web developer."""
    report_row = visible.reports().only("id", "shared_at").first()
    if report_row is None:
        return _not_found(request)
    text = VisibleReport(request, visible, report_row).developer_text()
    return HttpResponse(text, content_type="text/plain; charset=utf-8")


@require_POST
@_require_visible
@session_suffices("shows what this session can read anyway, and nothing later")
def share(request: HttpRequest, visible: VisibleScan) -> HttpResponse:
    """Share a report or stop sharing it, then redirect to its page.

    The form field `shared` is `on` or `off`.
    """
    is_shared = {"on": True, "off": False}.get(request.POST.get("shared", ""))
    if is_shared is None:
        raise BadRequest
    if set_sharing(visible, is_shared=is_shared):
        shared, private = "Anyone with the link can now read this report.", "Only members can now read this report."
        messages.success(request, shared if is_shared else private)
    page = reverse("report-page", args=[visible.scan.id])
    # With `shared=now`, the page expands the section with the link and its preview.
    return redirect(f"{page}?shared=now" if is_shared else page)


def _scan_context(visible: VisibleScan) -> dict[str, Any]:
    """Return the template context of all pages of a scan."""
    return {
        **surroundings(visible),
        "scan": visible.scan,
        "state": _state_name(visible.scan),
        "branding": branding_of(visible.scan.organization_id),
        "link": safe_link(visible.scan.url),
        "audit": visible.audit,
        "base_url": settings.BASE_URL,
    }


def _state_name(scan: Scan) -> str:
    """Return the name of the journey's state that a scan judges. Empty for pages, and if the run was deleted."""
    return scan.audit_page.state if scan.is_of_journey and scan.audit_page else ""


def _expired_page(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    return render(request, "reports/expired.html", context, status=404)
