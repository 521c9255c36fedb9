"""Pages for the name and logo on shared reports and prints."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from accounts import branding, limits
from accounts.identity.freshness import require_fresh_login
from accounts.limits import Limit
from accounts.models import Membership
from accounts.pages.branding_form import BrandingForm
from accounts.pages.organization import settings_page
from accounts.roles import MemberRequest, page_of, requires
from accounts.services import AccountRefused
from infrastructure.web.csp import csp_override
from infrastructure.web.logos import MAX_FILE_BYTES
from infrastructure.web.uploads import accepts_file

MAX_CHANGES_PER_HOUR = 30


@accepts_file(MAX_FILE_BYTES)
@require_POST
@requires(Membership.Role.OWNER)
@require_fresh_login()
def organization_branding(request: MemberRequest) -> HttpResponse:
    """Set the name on reports, and replace or remove the logo."""
    actor = request.membership
    rates = [
        Limit(str(actor.organization_id), MAX_CHANGES_PER_HOUR),
        Limit(f"by {actor.user_id}", MAX_CHANGES_PER_HOUR),
    ]
    if refusal := limits.refusal(request, "branding", rates, window_s=limits.HOUR_S):
        return refusal
    form = BrandingForm(request.POST, request.FILES)
    if not form.is_valid():
        return settings_page(request, branding_form=form)
    values = form.cleaned_data
    try:
        branding.change_branding(
            actor=actor, name=values["name"], logo=values["logo"], removes_logo=values["removes_logo"]
        )
    except AccountRefused as error:
        form.add_error(None, str(error))
        return settings_page(request, branding_form=form)
    messages.success(request, "The settings have been saved.")
    return redirect(page_of(actor, "organization-settings"))


@require_safe
@csp_override({"default-src": ["'none'"], "sandbox": []})
def logo(_request: HttpRequest, logo_id: str) -> HttpResponse:
    """Return a logo. Its address changes with its content, so browsers may cache it for a year."""
    content = branding.find_logo(logo_id)
    if content is None:
        raise Http404
    response = HttpResponse(content, content_type="image/webp")
    response["Cache-Control"] = "public, max-age=31536000, immutable"
    response["X-Robots-Tag"] = "noindex"
    return response
