"""Public views for shared lists. No log-in is needed."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_POST, require_safe

from accounts.branding import branding_of
from accounts.identity.freshness import session_suffices
from accounts.limits import client
from accounts.shared_pages import ROBOTS, too_many
from infrastructure.api import throttling
from infrastructure.web.cards import responses as cards
from infrastructure.web.csp import csp_override
from sites.badges.drawing import draw_note
from sites.badges.responses import badge_response, cacheable
from sites.lists import share_passwords, shared_page
from sites.lists.sharing import Published, published
from sites.lists.snapshots import Figures, figures

# Requests per minute from one client, as for the badges of monitors. Many people in one office may share an IP address.
REQUESTS_PER_MINUTE = 600

View = Callable[..., HttpResponse]


def _unlisted(view: View) -> View:
    """Decorate a view to add an X-Robots-Tag header, so that search engines do not index the response."""

    @functools.wraps(view)
    def wrapped(request: HttpRequest, **kwargs: str) -> HttpResponse:
        response = view(request, **kwargs)
        response["X-Robots-Tag"] = ROBOTS
        return response

    return wrapped


@require_safe
@_unlisted
def shared_list(request: HttpRequest, share_id: str) -> HttpResponse:
    """Render the page of a shared snapshot.

    Revoked and unknown URLs respond with the same 404.
    """
    if _is_over_rate(request):
        return too_many(request)
    publication = published(share_id)
    if publication is None:
        raise Http404
    if not share_passwords.is_open(request, publication.share):
        return _locked(request, publication)
    snapshot_figures = _snapshot_figures(publication)
    context: dict[str, Any] = {
        "share": publication.share,
        "run": publication.run,
        "branding": branding_of(publication.share.site_list.organization_id),
        "figures": snapshot_figures,
        "preview": shared_page.preview_of(publication.share, publication.run, snapshot_figures),
        "preview_text": "Scores, adoption of standards and the most frequent findings of a list of sites.",
        "base_url": settings.BASE_URL,
        "sites": None,
    }
    if publication.run is not None and snapshot_figures is not None:
        context |= {
            "gauges": shared_page.gauges(snapshot_figures),
            "adoptions": shared_page.adoptions(snapshot_figures),
            "held_back": shared_page.most_failed_checks(snapshot_figures),
        }
        if context["adoptions"]:
            context["preview_text"] = f"{context['adoptions'][0].sentence}."
        if publication.share.has_table:
            context["sites"] = shared_page.sites_page(publication.run, _page_number(request))
            if context["sites"] is None:
                raise Http404
    response = render(request, "sites/lists/shared.html", context)
    # Browsers must revalidate the page on each visit, because the share may have been revoked.
    patch_cache_control(response, private=True, no_cache=True)
    return response


@require_POST
@session_suffices("Visitors have no account; they only enter the password of the page.")
@_unlisted
def shared_list_password(request: HttpRequest, share_id: str) -> HttpResponse:
    """Check the `password` of a shared page, and redirect to the page with a cookie that opens it."""
    publication = published(share_id)
    if publication is None or not publication.share.password:
        raise Http404
    if not share_passwords.may_try(request, publication.share):
        return too_many(request)
    if not share_passwords.is_right(publication.share, request.POST.get("password", "")):
        return _locked(request, publication, status=403, problem="This is not the password.")
    response = redirect("list-share", share_id)
    share_passwords.let_in(request, response, publication.share)
    return response


def _locked(request: HttpRequest, publication: Published, status: int = 200, problem: str = "") -> HttpResponse:
    """Render the password form, which reveals nothing about the list."""
    context = {"share": publication.share, "problem": problem}
    response = render(request, "sites/lists/shared_locked.html", context, status=status)
    patch_cache_control(response, private=True, no_store=True)
    return response


@require_safe
@_unlisted
def shared_card(request: HttpRequest, share_id: str, digest: str) -> HttpResponse:
    """Return the image of a shared snapshot for link previews (Open Graph)."""
    if _is_over_rate(request):
        return HttpResponse(status=429, headers={"Retry-After": str(throttling.WINDOW_S)})
    publication = published(share_id)
    if publication is None or not share_passwords.is_open(request, publication.share):
        raise Http404
    card = shared_page.card_of(publication.share, publication.run, _snapshot_figures(publication))
    address = functools.partial(shared_page.card_address, publication.share)
    return cards.card_at(request, card, digest, address, cards.SHARED)


@require_safe
@csp_override({"default-src": ["'none'"], "frame-ancestors": ["'none'"], "sandbox": []})
@_unlisted
def shared_badge(request: HttpRequest, share_id: str) -> HttpResponse:
    """Return a badge with a check's adoption or with the mean scores.

    The query parameter `check` selects the check. Revoked shares return 404.
    """
    if _is_over_rate(request):
        response = badge_response(draw_note("too many requests"), 429)
        response["Retry-After"] = str(throttling.WINDOW_S)
        return response
    check = request.GET.get("check", "")
    if check and not shared_page.is_known_check(check):
        return badge_response(draw_note("no such check"), 400)
    publication = published(share_id)
    if publication is None or not share_passwords.is_open(request, publication.share):
        return badge_response(draw_note("no such badge"), 404)
    return cacheable(
        request, badge_response(shared_page.badge_of(publication.run, _snapshot_figures(publication), check), 200)
    )


def _snapshot_figures(publication: Published) -> Figures | None:
    return figures(publication.run) if publication.run is not None else None


def _page_number(request: HttpRequest) -> int:
    raw = request.GET.get("page", "1")
    # No list has a page number with more than 6 digits.
    return int(raw) if raw.isascii() and raw.isdecimal() and len(raw) <= 6 else 0


def _is_over_rate(request: HttpRequest) -> bool:
    rate = throttling.count(f"badges:{client(request)}", REQUESTS_PER_MINUTE)
    return rate.used > rate.limit
