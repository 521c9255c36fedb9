"""Views for the public badge image, its preview page and the setting that enables it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST, require_safe

from accounts import access
from accounts.authentication import member_caller
from accounts.identity.freshness import require_fresh_login
from accounts.limits import client
from accounts.models import Membership
from accounts.roles import MemberRequest, page_of, requires
from infrastructure.api import throttling
from infrastructure.api.inputs import parse_address
from infrastructure.web.cards import responses as cards
from infrastructure.web.cards.drawing import Card, CardGrade
from infrastructure.web.cards.previews import Preview, day_of
from infrastructure.web.csp import csp_override
from scans.models import Scan
from scans.policy import scan_policy
from sites.badges.drawing import draw_badge, draw_note
from sites.badges.requests import BadgeRequest
from sites.badges.responses import badge_response, cacheable
from sites.badges.services import BadgeContent, BadgeResult, badge_of_page, create_badge, delete_badge, load_content
from sites.models import Badge
from website_scan.errors import Refusal
from website_scan.urls import host_and_port_of

# Requests per minute from one client. The limit is high, because a page may contain dozens of badges, and code hosts
# request badges through proxies for all their readers.
REQUESTS_PER_MINUTE = 600
LABELS = dict(Scan.Type.choices)
GRADES, NO_RESULT = "Latest grades", "No result yet"


@require_safe
@csp_override({"default-src": ["'none'"], "frame-ancestors": ["'none'"], "sandbox": []})
def badge(request: HttpRequest, badge_id: str) -> HttpResponse:
    """Return the badge image with the grade of one `type` or of all types.

    Deleted and unknown badges return 404.
    """
    rate = throttling.count(f"badges:{client(request)}", REQUESTS_PER_MINUTE)
    if rate.used > rate.limit:
        response = badge_response(draw_note("too many requests"), 429)
        response["Retry-After"] = str(throttling.WINDOW_S)
        return response
    type = request.GET.get("type", "")
    if type and type not in LABELS:
        return badge_response(draw_note("no such type"), 400)
    content = load_content(badge_id)
    if content is None:
        return badge_response(draw_note("no such badge"), 404)
    results = _labelled_results(content, type)
    drawing = draw_badge(
        ((label, result.get("grade"), result.get("score")) for label, result in results), _latest_day(results)
    )
    return cacheable(request, badge_response(drawing if results else draw_note("no result yet"), 200))


@require_safe
def badge_card(request: HttpRequest, badge_id: str) -> HttpResponse:
    """Return the badge's image for link previews.

    Like the badge, it contains no names.
    """
    rate = throttling.count(f"badges:{client(request)}", REQUESTS_PER_MINUTE)
    if rate.used > rate.limit:
        return HttpResponse(status=429, headers={"Retry-After": str(throttling.WINDOW_S)})
    content = load_content(badge_id)
    if content is None:
        raise Http404
    return cards.picture(request, _card(content), "max-age=300")


@require_safe
def badge_link(request: HttpRequest, badge_id: str) -> HttpResponse:
    """Redirect members to the badge's monitor or site.

    Everybody else gets a page with only the grades.
    """
    content = load_content(badge_id)
    if content is None:
        raise Http404
    badges = access.rows_of_member(Badge, request.user).select_related("organization", "monitor")
    row = badges.filter(id=badge_id).first()
    if row is None:
        grades = ", ".join(
            f"{label} {result['grade']}" for label, result in _labelled_results(content) if result.get("grade")
        )
        title = f"{grades}: {GRADES.lower()}" if grades else NO_RESULT
        # Social networks cache an image by its URL, so each change of the grades needs another URL.
        preview = Preview(title, f"{reverse('badge-card', args=[badge_id])}?v={cards.digest_of(_card(content))}")
        return render(
            request,
            "sites/badges/badge.html",
            {"preview": preview, "heading": GRADES if grades else NO_RESULT, "base_url": settings.BASE_URL},
        )
    slug = row.organization.slug
    if row.monitor is not None:
        return redirect("monitor", slug, row.monitor.id)
    host = host_and_port_of(row.page)
    return redirect(f"{reverse('site', args=[slug, host])}?{urlencode({'page': row.page})}")


@require_POST
@requires(Membership.Role.MEMBER)
@require_fresh_login()
def page_badge(request: MemberRequest, host: str) -> HttpResponse:
    """Switch the badge of a page (`page`) on or off (`badge`), then redirect to the site's page."""
    page, switch = request.POST.get("page", ""), request.POST.get("badge", "")
    caller = member_caller(request.membership)
    try:
        if switch == "on":
            create_badge(caller=caller, request=BadgeRequest(page=parse_address(page, scan_policy(), "page")))
            messages.success(request, "The badge is on. Anyone with its address can see the grades.")
        elif switch == "off":
            row = badge_of_page(caller.organization_id, page) if "\0" not in page else None
            if row is None:
                raise Http404
            delete_badge(caller=caller, badge_id=row.id)
            messages.success(request, "The badge is off. Its address no longer shows anything.")
        else:
            raise BadRequest
    except Refusal as refusal:
        messages.error(request, f"The badge was not turned on. {refusal}")
    return redirect(f"{page_of(request.membership, 'site', host)}?{urlencode({'page': page})}")


def _labelled_results(content: BadgeContent, type: str = "") -> list[tuple[str, BadgeResult]]:
    """Return (label, result) pairs for the scan types of a badge, or for one type."""
    return [(str(LABELS[name]), content.results.get(name) or {}) for name in ([type] if type else content.types)]


def _latest_day(results: Iterable[tuple[str, BadgeResult]]) -> date | None:
    """Return the day of the latest result, None without results."""
    days = [date.fromisoformat(day) for _, result in results if result.get("grade") and (day := result.get("day"))]
    return max(days, default=None)


def _card(content: BadgeContent) -> Card:
    results = _labelled_results(content)
    grades = tuple(CardGrade(label, result.get("grade") or "", result.get("score")) for label, result in results)
    if not any(grade.grade for grade in grades):
        return Card(NO_RESULT)
    day = _latest_day(results)
    heading = f"{grades[0].label} report" if len(grades) == 1 else ""
    return Card(GRADES, heading=heading, note=day_of(day) if day else "", grades=grades)
