"""Public views of shared lists: the page, its preview card, and badges. No login is needed."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_safe

from accounts.limits import client
from accounts.shared_pages import ROBOTS, is_over_rate, too_many
from infrastructure.api import throttling
from infrastructure.web.cards import responses as cards
from infrastructure.web.csp import csp_override
from sites.badges.drawing import draw_note
from sites.badges.responses import badge_response, cacheable
from sites.lists import shared_page
from sites.lists.sharing import Published, published
from sites.lists.snapshots import Figures, figures

# Requests of badges and cards per client and minute, the same limit as for badges of monitors.
PER_MINUTE = 600

View = Callable[..., HttpResponse]


def _unlisted(view: View) -> View:
    """Decorator that adds an X-Robots-Tag header, so that search engines do not index the response."""

    @functools.wraps(view)
    def wrapped(request: HttpRequest, **kwargs: str) -> HttpResponse:
        response = view(request, **kwargs)
        response["X-Robots-Tag"] = ROBOTS
        return response

    return wrapped


@require_safe
@_unlisted
def shared_list(request: HttpRequest, share_id: str) -> HttpResponse:
    """Show a shared snapshot. Revoked and unknown addresses respond with the same 404."""
    if is_over_rate(request):
        return too_many(request)
    publication = published(share_id)
    if publication is None:
        raise Http404
    snapshot_figures = _figures(publication)
    context: dict[str, Any] = {
        "share": publication.share,
        "run": publication.run,
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
            "held_back": shared_page.held_back(snapshot_figures),
        }
        if context["adoptions"]:
            context["preview_text"] = f"{context['adoptions'][0].sentence}."
        if publication.share.has_table:
            context["sites"] = shared_page.sites_page(publication.run, _page_number(request))
            if context["sites"] is None:
                raise Http404
    response = render(request, "sites/lists/shared.html", context)
    # Browsers must revalidate the page at each reload, because the share may have been revoked.
    patch_cache_control(response, private=True, no_cache=True)
    return response


@require_safe
@_unlisted
def shared_card(request: HttpRequest, share_id: str, digest: str) -> HttpResponse:
    """Return the picture of a shared snapshot for link previews (Open Graph)."""
    if _is_over_rate(request):
        return HttpResponse(status=429, headers={"Retry-After": str(throttling.WINDOW_S)})
    publication = published(share_id)
    if publication is None:
        raise Http404
    card = shared_page.card_of(publication.share.site_list, publication.run, _figures(publication))
    address = functools.partial(shared_page.card_address, publication.share)
    return cards.card_at(request, card, digest, address, cards.SHARED)


@require_safe
@csp_override({"default-src": ["'none'"], "frame-ancestors": ["'none'"], "sandbox": []})
@_unlisted
def shared_badge(request: HttpRequest, share_id: str) -> HttpResponse:
    """Return a badge with the adoption of a `check`, or with the mean scores. A revoked share responds with 404."""
    if _is_over_rate(request):
        response = badge_response(draw_note("too many requests"), 429)
        response["Retry-After"] = str(throttling.WINDOW_S)
        return response
    check = request.GET.get("check", "")
    if check and not shared_page.is_check(check):
        return badge_response(draw_note("no such check"), 400)
    publication = published(share_id)
    if publication is None:
        return badge_response(draw_note("no such badge"), 404)
    return cacheable(request, badge_response(shared_page.badge_of(publication.run, _figures(publication), check), 200))


def _figures(publication: Published) -> Figures | None:
    return figures(publication.run) if publication.run is not None else None


def _page_number(request: HttpRequest) -> int:
    raw = request.GET.get("page", "1")
    # Numbers with more than 6 digits exceed the number of pages of any list.
    return int(raw) if raw.isascii() and raw.isdecimal() and len(raw) <= 6 else 0


def _is_over_rate(request: HttpRequest) -> bool:
    rate = throttling.count(f"badges:{client(request)}", PER_MINUTE)
    return rate.used > rate.limit
