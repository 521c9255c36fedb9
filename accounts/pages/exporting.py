"""Pages for requesting an organization's data export and downloading its files."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from accounts import activity, limits
from accounts.export import services as export
from accounts.identity.freshness import require_fresh_login
from accounts.limits import Limit
from accounts.models import Membership
from accounts.roles import MemberRequest, page_of, requires
from accounts.services import AccountRefused

MAX_DOWNLOADS_PER_HOUR = 100


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Membership.Role.OWNER)
@require_fresh_login("POST")
def organization_export(request: MemberRequest) -> HttpResponse:
    """Show the last export's state. POST requests a new export."""
    actor = request.membership
    if request.method == "POST":
        try:
            export.request_export(actor=actor)
        except AccountRefused as error:
            messages.error(request, str(error))
        else:
            messages.success(request, "The export has been requested.")
        return redirect(page_of(actor, "organization-export"))
    last = export.find_export(actor.organization_id)
    context = {
        "section": "settings",
        "export": last,
        "parts": last.parts.order_by("number") if last and last.ended_at else (),
        "expires_at": last.ended_at + export.RETENTION if last and last.ended_at else None,
        "kept_days": export.RETENTION.days,
    }
    return render(request, "accounts/organization_export.html", context)


@require_POST
@requires(Membership.Role.OWNER)
@require_fresh_login("POST", back=lambda request: page_of(request.membership, "organization-export"))
def export_download(request: MemberRequest, number: int) -> HttpResponse | StreamingHttpResponse:
    """Download a file from an export that is ready."""
    actor = request.membership
    download_limits = [Limit(str(actor.organization_id), MAX_DOWNLOADS_PER_HOUR)]
    if refusal := limits.refusal(request, "export", download_limits, window_s=limits.HOUR_S):
        return refusal
    last = export.find_export(actor.organization_id)
    parts = last.parts if last is not None and last.status == last.Status.READY else None
    part = parts.filter(number=number).first() if parts is not None else None
    if last is None or part is None:
        raise Http404
    activity.record_by_member(actor, "organization.exported", actor.organization.name, file=number)
    response = StreamingHttpResponse(export.read_chunks(part), content_type="application/zip")
    name = f"{actor.organization.slug}-{last.created_at:%Y-%m-%d}-{number}.zip"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["Content-Length"] = str(part.size)
    return response
