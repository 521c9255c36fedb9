"""Views of an audit: page, progress, exports, sharing. For members, and for anybody with the link while shared."""

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

from accounts.identity.freshness import session_suffices
from accounts.shared_pages import require_visible, surroundings
from infrastructure.web.cards import responses as cards
from reports.mutes.services import active_mutes
from scans.models import Scan
from sites.audits import exports
from sites.audits.muting import AuditMutes
from sites.audits.pages import findings as audit_findings
from sites.audits.pages import page as audit_page
from sites.audits.pages.preview import card_address, card_of, preview_of, sentence_of
from sites.audits.pages.since import audit_since
from sites.audits.visibility import SeenAudit, seen_by, set_sharing
from sites.models import Audit
from website_scan.report.exports import FORMATS
from website_scan.report.references import safe_link


def _not_found(request: HttpRequest) -> HttpResponse:
    return render(request, "reports/not_found.html", {"thing": "scan"}, status=404)


_require_visible = require_visible(look=seen_by, id_name="audit_id", page="audit-page", not_found=_not_found)


@require_safe
@_require_visible
def audit(request: HttpRequest, seen: SeenAudit) -> HttpResponse:
    """Show an audit: one page's reports by type, or a site's findings and pages; while the audit runs, its progress."""
    context = _context(request, seen)
    if not seen.audit.is_kept:
        return render(request, "sites/audits/expired.html", context, status=404)
    found, scans, shown = context["audit"], context["scans"], context["shown"]
    active = active_mutes(found.organization_id, seen.now)
    mutes = AuditMutes(found, active, shows_rules=seen.membership is not None)
    is_pages = request.GET.get("show") == "pages"
    findings = None if found.kind == Audit.Kind.PAGE or is_pages else audit_findings.findings(found, shown, mutes)
    # The list of all types has them already.
    critical = findings.critical if findings and not shown else audit_findings.critical(found, mutes)
    context["critical"] = critical
    # Strangers must not learn about other audits.
    context["compared"] = audit_since(found, critical) if seen.membership else None
    if found.shared_at:
        context["preview_text"] = sentence_of(found, mutes)
    if found.kind == Audit.Kind.PAGE:
        scan = scans.get(shown)
        context["part"] = (
            audit_page.type_report(scan, active, seen.now, seen.membership) if scan and scan.is_final else None
        )
        return render(request, "sites/audits/page.html", context)
    context |= {
        "is_pages": is_pages,
        "left_out": audit_page.left_out(found),
        "labels": [label for _, label in Scan.Type.choices],
    }
    if is_pages:
        context |= {
            "pages": audit_page.pages(found, request.GET),
            "filters": audit_page.page_filters(request.GET),
            "statuses": [(value, label) for value, (label, _) in audit_page.STATUSES.items()],
        }
    else:
        context |= {"findings": findings, "worst_pages": audit_page.worst_pages(found)}
    return render(request, "sites/audits/site.html", context)


@require_safe
@_require_visible
def progress(request: HttpRequest, seen: SeenAudit) -> HttpResponse:
    """Fragment that the page of a running audit polls every few seconds; once the status changes, the page reloads."""
    if not request.htmx:  # type: ignore[attr-defined]  # django-htmx
        return redirect("audit-page", seen.audit.id)
    if seen.audit.status != request.GET.get("status"):
        return HttpResponseClientRefresh()
    return render(request, "sites/audits/_live.html", _context(request, seen) | {"is_fragment": True})


@require_safe
@_require_visible
def export(request: HttpRequest, seen: SeenAudit, export_format: str) -> HttpResponse | StreamingHttpResponse:
    """Export a finished audit as a file, in the format of the API's exports."""
    found = seen.audit
    if export_format not in exports.WRITERS or not found.is_final or not found.is_kept:
        return _not_found(request)
    mutes = AuditMutes(found, active_mutes(found.organization_id, seen.now), shows_rules=seen.membership is not None)
    pieces = exports.export(found, export_format, mutes)
    response = StreamingHttpResponse(pieces, content_type=FORMATS[export_format].media_type)
    response["Content-Disposition"] = f'attachment; filename="{found.id}.{export_format}"'
    return response


@require_safe
@_require_visible
def card(request: HttpRequest, seen: SeenAudit, digest: str) -> HttpResponse:
    """Card of the audit for previews of its link."""
    found = seen.audit
    if not found.is_kept:
        return _not_found(request)
    caching = cards.MEMBERS if seen.membership else cards.SHARED
    return cards.card_at(request, card_of(found), digest, functools.partial(card_address, found), caching)


@require_POST
@_require_visible
@session_suffices("shows what this session can read anyway, and nothing later")
def share(request: HttpRequest, seen: SeenAudit) -> HttpResponse:
    """Switch sharing on or off (`shared`), then redirect to the audit's page."""
    is_shared = {"on": True, "off": False}.get(request.POST.get("shared", ""))
    if is_shared is None:
        raise BadRequest
    if set_sharing(seen, is_shared=is_shared):
        shared = "Anyone with the link can now read this page and its reports."
        private = "Only members can read this page now. Reports that were shared separately stay shared."
        messages.success(request, shared if is_shared else private)
    page = reverse("audit-page", args=[seen.audit.id])
    # Directly after sharing, the page opens the section with the link and its preview.
    return redirect(f"{page}?shared=now" if is_shared else page)


def _context(request: HttpRequest, seen: SeenAudit) -> dict[str, Any]:
    found = seen.audit
    is_page = found.kind == Audit.Kind.PAGE
    scans = audit_page.scans_of_page(found) if is_page else {}
    asked = request.GET.get("type", "")
    usual = audit_page.first_shown(found, scans) if is_page else ""
    shown = asked if asked in found.types else usual
    return {
        **surroundings(seen),
        "audit": found,
        "monitor": audit_page.monitor_of(found) if seen.membership and found.run_of == "monitor" else None,
        "link": safe_link(found.url),
        "scans": scans,
        "shown": shown,
        "gauges": audit_page.gauges(found, scans, shown),
        "capped": audit_page.capped(found, shown),
        "progress": audit_page.progress(found, scans),
        "preview": preview_of(found),
        "base_url": settings.BASE_URL,
        "formats": {ending: FORMATS[ending] for ending in exports.WRITERS},
        "is_fragment": False,
    }
