"""Views of badges: the public picture, and the switch on the members' pages."""

from __future__ import annotations

import hashlib
from datetime import date
from urllib.parse import urlsplit

from django.contrib import messages
from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotModified
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.http import parse_etags, urlencode
from django.views.decorators.http import require_POST, require_safe

from accounts import access
from accounts.authentication import member_caller
from accounts.identity.freshness import fresh_login_needed
from accounts.limits import client
from accounts.models import Membership
from accounts.roles import MemberRequest, page_of, requires
from infrastructure.api import throttling
from infrastructure.web.csp import csp_override
from scanner.errors import Refusal
from scans.models import Scan
from sites.badges.drawing import Drawing, draw, draw_note
from sites.badges.services import BadgeResult, badge_of_page, create_badge, delete_badge, shown_by
from sites.models import Badge

# Rate limit per client: a page may show dozens of badges, and a code host's proxy requests them for all its readers.
PER_MINUTE = 600
LABELS = dict(Scan.Type.choices)


@require_safe
@csp_override({"default-src": ["'none'"], "frame-ancestors": ["'none'"], "sandbox": []})
def badge(request: HttpRequest, badge_id: str) -> HttpResponse:
    """Return a picture of the grades of one `type` or of all. A deleted badge looks like one that never existed."""
    rate = throttling.count(f"badges:{client(request)}", PER_MINUTE)
    if rate.used > rate.limit:
        response = _picture(draw_note("too many requests"), 429)
        response["Retry-After"] = str(throttling.WINDOW_S)
        return response
    type = request.GET.get("type", "")
    if type and type not in LABELS:
        return _picture(draw_note("no such type"), 400)
    shown = shown_by(badge_id)
    if shown is None:
        return _picture(draw_note("no such badge"), 404)
    results: list[tuple[str, BadgeResult]] = [
        (str(LABELS[each]), shown.results.get(each) or {}) for each in ([type] if type else shown.types)
    ]
    days = [date.fromisoformat(day) for _, each in results if each.get("grade") and (day := each.get("day"))]
    drawing = draw(((label, each.get("grade"), each.get("score")) for label, each in results), max(days, default=None))
    return _kept(request, _picture(drawing if results else draw_note("no result yet"), 200))


@require_safe
def badge_link(request: HttpRequest, badge_id: str) -> HttpResponse:
    """Redirect members to the badge's monitor or site, and everybody else, who may not see them, to the start page."""
    if shown_by(badge_id) is None:
        raise Http404
    badges = access.rows_of_member(Badge, request.user).select_related("organization", "monitor")
    found = badges.filter(id=badge_id).first()
    if found is None:
        return redirect("landing")
    slug = found.organization.slug
    if found.monitor is not None:
        return redirect("monitor", slug, found.monitor.id)
    host = urlsplit(found.page).netloc
    return redirect(f"{reverse('site', args=[slug, host])}?{urlencode({'page': found.page})}")


@require_POST
@requires(Membership.Role.MEMBER)
@fresh_login_needed()
def page_badge(request: MemberRequest, host: str) -> HttpResponse:
    """Switch a page's badge: `page` is its URL, `badge` is `on` or `off`. Redirects to the site's page."""
    page, switch = request.POST.get("page", ""), request.POST.get("badge", "")
    caller = member_caller(request.membership)
    try:
        if switch == "on":
            create_badge(caller=caller, body={"page": page})
            messages.success(request, "The badge is on. Anyone with its address can see the grades.")
        elif switch == "off":
            found = badge_of_page(caller.organization_id, page) if "\0" not in page else None
            if found is None:
                raise Http404
            delete_badge(caller=caller, badge_id=found.id)
            messages.success(request, "The badge is off. Its address no longer shows anything.")
        else:
            raise BadRequest
    except Refusal as refusal:
        messages.error(request, f"The badge was not turned on. {refusal}")
    return redirect(f"{page_of(request.membership, 'site', host)}?{urlencode({'page': page})}")


def _picture(drawing: Drawing, status: int) -> HttpResponse:
    """Render a badge that other sites may embed. `no-store`, so that errors are not cached."""
    body = render_to_string("badge.svg", {"drawing": drawing})
    response = HttpResponse(body, content_type="image/svg+xml; charset=utf-8", status=status)
    response["Cross-Origin-Resource-Policy"] = "cross-origin"
    response["Cache-Control"] = "no-store"
    return response


def _kept(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    etag = f'"{hashlib.sha256(response.content).hexdigest()[:32]}"'
    if etag in parse_etags(request.headers.get("If-None-Match", "")):
        response = HttpResponseNotModified(headers={"Cross-Origin-Resource-Policy": "cross-origin"})
    response["ETag"] = etag
    response["Cache-Control"] = "max-age=300"
    return response
