"""Dashboard views for one audit.

Members and readers of shared links may open them.
"""

from __future__ import annotations

import functools
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh

from accounts.branding import branding_of
from accounts.identity.freshness import session_suffices
from accounts.shared_pages import readers_sentence, require_visible, sees_everything, surroundings
from infrastructure.web.cards import responses as cards
from infrastructure.web.pictures import picture_response
from reports.conformance_files import conformance_file
from reports.mutes.services import active_mutes
from reports.page.conformance import ConformanceQuery
from scans.models import Scan
from sites.audits import exports
from sites.audits.conformance import conformance_of_audit, failure_of_audit, has_conformance
from sites.audits.muting import AuditMutes
from sites.audits.pages import findings as audit_findings
from sites.audits.pages import page as audit_page
from sites.audits.pages.conformance import page_of_audit
from sites.audits.pages.developer_text import developer_text_of
from sites.audits.pages.preview import card_address, card_of, preview_of, preview_sentence
from sites.audits.pages.since import compare_with_previous_audit
from sites.audits.pages.storyboard import storyboard
from sites.audits.steps import picture_of_step
from sites.audits.visibility import VisibleAudit, find_visible_audit, set_sharing
from sites.models import Audit
from website_scan.picture_types import picture_type
from website_scan.report.conformance import without_failure
from website_scan.report.exports import FORMATS
from website_scan.report.references import safe_link
from website_scan.timestamps import timestamp


def _not_found(request: HttpRequest) -> HttpResponse:
    return render(request, "reports/not_found.html", {"thing": "scan"}, status=404)


_require_visible = require_visible(look=find_visible_audit, id_name="audit_id", page="audit-page", not_found=_not_found)


@require_safe
@_require_visible
def audit(request: HttpRequest, visible: VisibleAudit) -> HttpResponse:
    """Render the page of an audit.

    It shows the reports of one page by type, the findings and pages of a site, or the progress.
    """
    context = _context(request, visible)
    if not visible.audit.is_kept:
        return render(request, "sites/audits/expired.html", context, status=404)
    audit_row, scans, shown = context["audit"], context["scans"], context["shown"]
    if audit_row.is_dry_run:
        # The page has no tabs but the one of the steps.
        context |= {"storyboard": storyboard(audit_row, None), "is_steps": True, "is_pages": False}
        context |= {"critical": [], "compared": None}
        return render(request, "sites/audits/dry_run.html", context)
    active = active_mutes(audit_row.organization_id, visible.now)
    mutes = AuditMutes(audit_row, active, shows_rules=sees_everything(visible.membership))
    is_journey = audit_row.kind == Audit.Kind.JOURNEY
    shows_steps = is_journey and request.GET.get("show") == "steps"
    shows_pages = request.GET.get("show") == "pages"
    findings = (
        None
        if audit_row.kind == Audit.Kind.PAGE or shows_pages or shows_steps
        else audit_findings.findings(audit_row, shown, mutes)
    )
    # The list of all types already contains the critical failures.
    critical = findings.critical if findings and not shown else audit_findings.critical(audit_row, mutes)
    context["critical"] = critical
    # Readers of a shared link must not see data of other audits.
    context["compared"] = compare_with_previous_audit(audit_row, mutes) if visible.membership else None
    if audit_row.shared_at:
        context["preview_text"] = preview_sentence(audit_row, mutes)
    if audit_row.kind == Audit.Kind.PAGE:
        scan = scans.get(shown)
        context["part"] = (
            audit_page.type_report(scan, active, visible.now, visible.membership) if scan and scan.is_final else None
        )
        return render(request, "sites/audits/page.html", context)
    failure = failure_of_audit(audit_row)
    has_tested_pages = context["has_conformance"] and audit_row.pages_judged("accessibility")
    context |= {
        "is_pages": shows_pages,
        "is_steps": shows_steps,
        "failure": failure,
        "without_failure": without_failure() if has_tested_pages and not failure else "",
        "left_out": audit_page.count_left_out_pages(audit_row),
        "labels": [label for _, label in Scan.Type.choices],
    }
    if is_journey:
        context["storyboard"] = storyboard(audit_row, context["compared"])
    if shows_steps:
        return render(request, "sites/audits/steps.html", context)
    if shows_pages:
        context |= {
            "pages": audit_page.pages(audit_row, request.GET),
            "filters": audit_page.page_filters(request.GET),
            "statuses": [(value, label) for value, (label, _) in audit_page.STATUSES.items()],
        }
    else:
        context |= {"findings": findings, "worst_pages": audit_page.worst_pages(audit_row)}
    return render(request, "sites/audits/site.html", context)


@require_safe
@_require_visible
def progress(request: HttpRequest, visible: VisibleAudit) -> HttpResponse:
    """Render the progress fragment that the page of a running audit polls.

    The page is reloaded when the status changes.
    """
    if not request.htmx:  # type: ignore[attr-defined]  # django-htmx
        return redirect("audit-page", visible.audit.id)
    if visible.audit.status != request.GET.get("status"):
        return HttpResponseClientRefresh()
    return render(request, "sites/audits/_live.html", _context(request, visible) | {"is_fragment": True})


@require_safe
@_require_visible
def export(request: HttpRequest, visible: VisibleAudit, export_format: str) -> HttpResponse | StreamingHttpResponse:
    """Download a finished audit as a file in one of the API's export formats."""
    audit_row = visible.audit
    if export_format not in exports.WRITERS or not audit_row.is_final or not audit_row.is_kept:
        return _not_found(request)
    mutes = AuditMutes(
        audit_row, active_mutes(audit_row.organization_id, visible.now), shows_rules=sees_everything(visible.membership)
    )
    pieces = exports.export(audit_row, export_format, mutes)
    response = StreamingHttpResponse(pieces, content_type=FORMATS[export_format].media_type)
    response["Content-Disposition"] = f'attachment; filename="{audit_row.id}.{export_format}"'
    return response


@require_safe
@_require_visible
def conformance(request: HttpRequest, visible: VisibleAudit) -> HttpResponse:
    """Show a finished audit's results by success criterion, or download them in the format `format`."""
    audit_row = visible.audit
    if not has_conformance(audit_row) or not audit_row.is_kept:
        return _not_found(request)
    query = ConformanceQuery.parse(request.GET)
    results = conformance_of_audit(audit_row, query.standard, query.level)
    if query.file_format:
        completed_at = timestamp(audit_row.completed_at or audit_row.created_at)
        return conformance_file(results, query.file_format, audit_row.id, audit_row.url, completed_at)
    context = {
        **surroundings(visible),
        "audit": audit_row,
        "branding": branding_of(audit_row.organization_id),
        "link": safe_link(audit_row.url),
        "page": page_of_audit(audit_row, results, query),
    }
    return render(request, "sites/audits/conformance.html", context)


@require_safe
@_require_visible
def developer_text(request: HttpRequest, visible: VisibleAudit) -> HttpResponse:
    """Return a finished audit as plain text, which its reader sends to a web developer."""
    audit_row = visible.audit
    if not audit_row.is_final or not audit_row.is_kept:
        return _not_found(request)
    mutes = AuditMutes(audit_row, active_mutes(audit_row.organization_id, visible.now))
    readers = readers_sentence(visible.membership, is_shared=audit_row.shared_at is not None)
    return HttpResponse(developer_text_of(audit_row, mutes, readers), content_type="text/plain; charset=utf-8")


@require_safe
@_require_visible
def card(request: HttpRequest, visible: VisibleAudit, digest: str) -> HttpResponse:
    """Return the image of the audit for link previews."""
    audit_row = visible.audit
    if not audit_row.is_kept:
        return _not_found(request)
    caching = cards.MEMBERS if visible.membership else cards.SHARED
    return cards.card_at(request, card_of(audit_row), digest, functools.partial(card_address, audit_row), caching)


@require_safe
@_require_visible
def step_picture(request: HttpRequest, visible: VisibleAudit, number: int) -> HttpResponse:
    """Return the picture of the screen after a step of a journey, numbered from 0."""
    picture = picture_of_step(visible.audit, number) if visible.audit.is_kept else None
    if picture is None:
        return _not_found(request)
    return picture_response(request, f"{visible.audit.id}-{number}", picture, picture_type(picture))


@require_POST
@_require_visible
@session_suffices("shows what this session can read anyway, and nothing later")
def share(request: HttpRequest, visible: VisibleAudit) -> HttpResponse:
    """Share an audit or stop sharing it, then redirect to its page.

    The form field `shared` is `on` or `off`.
    """
    is_shared = {"on": True, "off": False}.get(request.POST.get("shared", ""))
    if is_shared is None:
        raise BadRequest
    if set_sharing(visible, is_shared=is_shared):
        shared = "Anyone with the link can now read this page and its reports."
        private = "Only members can read this page now. Reports that were shared separately stay shared."
        messages.success(request, shared if is_shared else private)
    page = reverse("audit-page", args=[visible.audit.id])
    # Right after sharing, the page expands the section with the link and its preview.
    return redirect(f"{page}?shared=now" if is_shared else page)


def _context(request: HttpRequest, visible: VisibleAudit) -> dict[str, Any]:
    audit_row = visible.audit
    is_single_page = audit_row.kind == Audit.Kind.PAGE
    scans = audit_page.scans_of_page(audit_row) if is_single_page else {}
    selected = request.GET.get("type", "")
    default_type = audit_page.default_type(audit_row, scans) if is_single_page else ""
    shown = selected if selected in audit_row.types else default_type
    is_monitor_run = audit_row.run_of == "monitor"
    return {
        **surroundings(visible),
        "audit": audit_row,
        "branding": branding_of(audit_row.organization_id),
        "monitor": audit_page.monitor_of(audit_row, visible.membership)
        if visible.membership and is_monitor_run
        else None,
        "journey": audit_page.journey_of(audit_row) if sees_everything(visible.membership) else None,
        "link": safe_link(audit_row.url),
        "scans": scans,
        "shown": shown,
        "gauges": audit_page.gauges(audit_row, scans, shown),
        "capped": audit_page.cap_sentences(audit_row, shown),
        "progress": audit_page.progress(audit_row, scans),
        "preview": preview_of(audit_row),
        "base_url": settings.BASE_URL,
        "formats": {ending: FORMATS[ending] for ending in exports.WRITERS},
        "is_fragment": False,
        "storyboard": None,
        "has_conformance": has_conformance(audit_row),
    }
