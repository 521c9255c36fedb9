"""Views of badges: the public picture, and the switch on the members' pages."""

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
from accounts.identity.freshness import fresh_login_needed
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
from sites.badges.drawing import draw, draw_note
from sites.badges.requests import BadgeRequest
from sites.badges.responses import kept, picture
from sites.badges.services import BadgeResult, Shown, badge_of_page, create_badge, delete_badge, shown_by
from sites.models import Badge
from website_scan.errors import Refusal
from website_scan.urls import host_and_port_of

# Rate limit per client: a page may show dozens of badges, and a code host's proxy requests them for all its readers.
PER_MINUTE = 600
LABELS = dict(Scan.Type.choices)
GRADES, NO_RESULT = "Latest grades", "No result yet"


@require_safe
@csp_override({"default-src": ["'none'"], "frame-ancestors": ["'none'"], "sandbox": []})
def badge(request: HttpRequest, badge_id: str) -> HttpResponse:
    """Return a picture of the grades of one `type` or of all. A deleted badge looks like one that never existed."""
    rate = throttling.count(f"badges:{client(request)}", PER_MINUTE)
    if rate.used > rate.limit:
        response = picture(draw_note("too many requests"), 429)
        response["Retry-After"] = str(throttling.WINDOW_S)
        return response
    type = request.GET.get("type", "")
    if type and type not in LABELS:
        return picture(draw_note("no such type"), 400)
    shown = shown_by(badge_id)
    if shown is None:
        return picture(draw_note("no such badge"), 404)
    results = _results(shown, type)
    drawing = draw(((label, each.get("grade"), each.get("score")) for label, each in results), _day(results))
    return kept(request, picture(drawing if results else draw_note("no result yet"), 200))


@require_safe
def badge_card(request: HttpRequest, badge_id: str) -> HttpResponse:
    """Return the badge's grades as a card, for previews of its link. Like the badge, it names nobody."""
    rate = throttling.count(f"badges:{client(request)}", PER_MINUTE)
    if rate.used > rate.limit:
        return HttpResponse(status=429, headers={"Retry-After": str(throttling.WINDOW_S)})
    shown = shown_by(badge_id)
    if shown is None:
        raise Http404
    return cards.picture(request, _card(shown), "max-age=300")


@require_safe
def badge_link(request: HttpRequest, badge_id: str) -> HttpResponse:
    """Redirect members to the badge's monitor or site; show everybody else, who may not see these, the grades alone."""
    shown = shown_by(badge_id)
    if shown is None:
        raise Http404
    badges = access.rows_of_member(Badge, request.user).select_related("organization", "monitor")
    found = badges.filter(id=badge_id).first()
    if found is None:
        graded = ", ".join(f"{label} {each['grade']}" for label, each in _results(shown) if each.get("grade"))
        title = f"{graded}: {GRADES.lower()}" if graded else NO_RESULT
        # Networks keep a picture by its address, which is another one after each change.
        preview = Preview(title, f"{reverse('badge-card', args=[badge_id])}?v={cards.digest_of(_card(shown))}")
        return render(
            request,
            "sites/badges/badge.html",
            {"preview": preview, "heading": GRADES if graded else NO_RESULT, "base_url": settings.BASE_URL},
        )
    slug = found.organization.slug
    if found.monitor is not None:
        return redirect("monitor", slug, found.monitor.id)
    host = host_and_port_of(found.page)
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
            create_badge(caller=caller, request=BadgeRequest(page=parse_address(page, scan_policy(), "page")))
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


def _results(shown: Shown, type: str = "") -> list[tuple[str, BadgeResult]]:
    """Return label and result of the types of a badge, or of one type."""
    return [(str(LABELS[each]), shown.results.get(each) or {}) for each in ([type] if type else shown.types)]


def _day(results: Iterable[tuple[str, BadgeResult]]) -> date | None:
    """Return the day of the latest result."""
    days = [date.fromisoformat(day) for _, each in results if each.get("grade") and (day := each.get("day"))]
    return max(days, default=None)


def _card(shown: Shown) -> Card:
    results = _results(shown)
    grades = tuple(CardGrade(label, each.get("grade") or "", each.get("score")) for label, each in results)
    if not any(each.grade for each in grades):
        return Card(NO_RESULT)
    day = _day(results)
    heading = f"{grades[0].label} report" if len(grades) == 1 else ""
    return Card(GRADES, heading=heading, note=day_of(day) if day else "", grades=grades)
