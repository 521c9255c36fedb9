"""Views of a report's page, pictures and exports: for members, and for anybody with the link of a shared report."""

from __future__ import annotations

import functools
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import parse_etags
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh

from accounts.identity.freshness import session_suffices
from accounts.shared_pages import for_who_may_see, surroundings
from infrastructure.web.cards import responses as cards
from reports.mutes.services import active_mutes
from reports.page.history import other_reports
from reports.page.preview import card_address, card_of
from reports.page.shown import ShownReport
from reports.page.steps import steps_of
from reports.services import ReportsNotComparable, require_comparable
from reports.visibility import Seen, seen_by, set_sharing
from scans.check_catalogue import check_pages
from scans.models import Scan
from website_scan.report.diff import diff
from website_scan.report.explanations import advice
from website_scan.report.exports import FORMATS
from website_scan.report.illustrations import frame_of
from website_scan.report.mute_matching import NO_MUTES
from website_scan.report.references import safe_link


def _not_found(request: HttpRequest) -> HttpResponse:
    return render(request, "reports/not_found.html", {"thing": "report"}, status=404)


_for_who_may_see = for_who_may_see(look=seen_by, id_name="scan_id", page="report-page", not_found=_not_found)


@require_safe
@_for_who_may_see
def report(request: HttpRequest, seen: Seen) -> HttpResponse:
    """Page of a scan: its report, its progress, or why it failed."""
    scan = seen.scan
    context = _context(seen)
    if seen.membership and seen.is_expired:
        return _expired(request, context)
    if not scan.is_final:
        return render(request, "reports/running.html", context | {"steps": steps_of(scan), "is_fragment": False})
    if scan.status == Scan.Status.FAILED:
        return render(request, "reports/failed.html", context | {"advice": advice(scan.error_code)})
    found = seen.reports().only("id", "shared_at").first()
    if found is None:
        return _expired(request, context) if seen.membership else _not_found(request)
    shown = ShownReport(request, seen, found)
    context |= shown.context() | shown.past()
    context["parts"] = shown.parts(context)
    return render(request, "reports/report.html", context)


@require_safe
@_for_who_may_see
def compare(request: HttpRequest, seen: Seen) -> HttpResponse:
    """Diff with the report of the scan `with`. Without `with`, members see the diff with the previous report."""
    found = seen.reports().only("export").first()
    if found is None:
        return _not_found(request)
    choices = other_reports(seen.scan, seen.now) if seen.membership else []
    earlier = next((each for each in choices if each.created_at <= seen.scan.created_at), None)
    other_id = request.GET.get("with", earlier.id if earlier else "")
    context = _context(seen) | {"choices": choices, "other_id": other_id, "changes": None, "shows_places": True}
    if other_id:
        # Strangers need the links of both reports, so access to the other one is checked in the same way.
        other = seen_by(request, other_id)
        before = other.reports().only("export").first() if other else None
        if other is None or before is None or other.scan.organization_id != seen.scan.organization_id:
            return _not_found(request)
        try:
            require_comparable(before.document, found.document)
        except ReportsNotComparable as refusal:
            return render(request, "error.html", {"status": 400, "message": str(refusal)}, status=400)
        mutes = active_mutes(seen.scan.organization_id, seen.now)
        context |= {"changes": diff(before.document, found.document, mutes), "other": other.scan}
    elif not choices:
        return _not_found(request)
    return render(request, "reports/compare.html", context)


@require_safe
@_for_who_may_see
def progress(request: HttpRequest, seen: Seen) -> HttpResponse:
    """Fragment that the page of a running scan polls every second. Reloads that page when the status changes."""
    if not request.htmx:  # type: ignore[attr-defined]  # django-htmx
        return redirect("report-page", seen.scan.id)
    if seen.scan.status != request.GET.get("status"):
        return HttpResponseClientRefresh()
    context = {"scan": seen.scan, "steps": steps_of(seen.scan), "is_fragment": True}
    return render(request, "reports/_progress.html", context)


@require_safe
@_for_who_may_see
def screenshot(request: HttpRequest, seen: Seen) -> HttpResponse:
    """Screenshot of the page's first screen, from the scan's browser."""
    picture = seen.reports().values_list("screenshot", flat=True).first()
    return _picture(request, seen, picture, "image/webp")


@require_safe
@_for_who_may_see
def page_picture(request: HttpRequest, seen: Seen) -> HttpResponse:
    """Screenshot of the page down to the last element with a finding, from the scan's browser."""
    picture = seen.reports().values_list("page_picture", flat=True).first()
    return _picture(request, seen, picture, "image/webp")


@require_safe
@_for_who_may_see
def film_frame(request: HttpRequest, seen: Seen, number: int) -> HttpResponse:
    """Frame of the film of the load, numbered from 0."""
    film, stored = seen.reports().values_list("film", "pictures").first() or (None, None)
    return _picture(request, seen, frame_of(film, stored, number), "image/jpeg")


@require_safe
@_for_who_may_see
def card(request: HttpRequest, seen: Seen, digest: str) -> HttpResponse:
    """Card of the report for previews of its link."""
    scan = seen.scan
    if scan.status not in Scan.REPORTED or not seen.reports().exists():
        return _not_found(request)
    caching = cards.MEMBERS if seen.membership else cards.SHARED
    return cards.card_at(request, card_of(scan), digest, functools.partial(card_address, scan), caching)


def _picture(request: HttpRequest, seen: Seen, picture: bytes | memoryview | None, content_type: str) -> HttpResponse:
    if picture is None:
        return _not_found(request)
    # A picture never changes, but access to it may: browsers cache it and revalidate it every time.
    etag = f'"{seen.scan.id}"'
    response: HttpResponse
    if etag in parse_etags(request.headers.get("If-None-Match", "")):
        response = HttpResponseNotModified()
    else:
        response = HttpResponse(bytes(picture), content_type=content_type)
    response["ETag"] = etag
    response["Cache-Control"] = "private, no-cache"
    return response


@require_safe
@_for_who_may_see
def export(request: HttpRequest, seen: Seen, export_format: str) -> HttpResponse:
    """Download of the report in one of the API's export formats."""
    found = seen.reports().values_list("export", flat=True).first() if export_format in FORMATS else None
    if found is None:
        return _not_found(request)
    found_format = FORMATS[export_format]
    mutes = active_mutes(seen.scan.organization_id, seen.now) if found_format.has_mutes else NO_MUTES
    if not seen.membership:
        mutes = mutes.without_reasons()
    content = found_format.render(found, mutes.findings, check_pages())
    response = HttpResponse(content, content_type=found_format.media_type)
    response["Content-Disposition"] = f'attachment; filename="{seen.scan.id}.{export_format}"'
    return response


@require_POST
@_for_who_may_see
@session_suffices("shows what this session can read anyway, and nothing later")
def share(request: HttpRequest, seen: Seen) -> HttpResponse:
    """Switch the sharing of a report: `shared` is `on` or `off`. Redirects to its page."""
    is_shared = {"on": True, "off": False}.get(request.POST.get("shared", ""))
    if is_shared is None:
        raise BadRequest
    if set_sharing(seen, is_shared=is_shared):
        shared, private = "Anyone with the link can now read this report.", "Only members can now read this report."
        messages.success(request, shared if is_shared else private)
    page = reverse("report-page", args=[seen.scan.id])
    # With `shared=now`, the page shows the link and its preview unfolded, this once.
    return redirect(f"{page}?shared=now" if is_shared else page)


def _context(seen: Seen) -> dict[str, Any]:
    """Return the context that all pages of a scan need."""
    return {
        **surroundings(seen),
        "scan": seen.scan,
        "link": safe_link(seen.scan.url),
        "audit": seen.audit,
        "base_url": settings.BASE_URL,
    }


def _expired(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    return render(request, "reports/expired.html", context, status=404)
