"""Pages to export all of an organization's data: request an export, and download its files."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from accounts import activity, limits
from accounts.export import services as export
from accounts.identity.freshness import fresh_login_needed
from accounts.limits import Limit
from accounts.models import Membership
from accounts.roles import MemberRequest, page_of, requires
from accounts.services import AccountRefused
from infrastructure.web.downloads import TIME_LIMIT_S, within_time_limit

DOWNLOADS_PER_HOUR = 100
# Minimum speed of a download. Slower downloads are ended, because they would occupy a thread for too long.
MIN_BYTES_PER_S = 200_000


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Membership.Role.OWNER)
@fresh_login_needed("POST")
def organization_export(request: MemberRequest) -> HttpResponse:
    """Show the state of the last export; POST requests a new one."""
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
@fresh_login_needed("POST", back=lambda request: page_of(request.membership, "organization-export"))
def export_download(request: MemberRequest, number: int) -> HttpResponse | StreamingHttpResponse:
    """Download a file of an export that is ready."""
    actor = request.membership
    per_organization = [Limit(str(actor.organization_id), DOWNLOADS_PER_HOUR)]
    if refusal := limits.refusal(request, "export", per_organization, window_s=limits.HOUR_S):
        return refusal
    last = export.find_export(actor.organization_id)
    parts = last.parts if last is not None and last.status == last.Status.READY else None
    part = parts.filter(number=number).first() if parts is not None else None
    if last is None or part is None:
        raise Http404
    activity.record_by(actor, "organization.exported", actor.organization.name, file=number)
    limit_s = TIME_LIMIT_S + part.size / MIN_BYTES_PER_S
    pieces = within_time_limit(export.read_chunks(part), limit_s=limit_s)
    response = StreamingHttpResponse(pieces, content_type="application/zip")
    name = f"{actor.organization.slug}-{last.created_at:%Y-%m-%d}-{number}.zip"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["Content-Length"] = str(part.size)
    return response
