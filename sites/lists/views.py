"""Views of shared lists, for anybody with the address: the page, its card, and badges of its numbers."""

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

# Rate limit of badges and cards per client, as for the badges of monitors.
PER_MINUTE = 600

View = Callable[..., HttpResponse]


def _unlisted(view: View) -> View:
    """Decorator: keep search engines away from the response."""

    @functools.wraps(view)
    def wrapped(request: HttpRequest, **kwargs: str) -> HttpResponse:
        response = view(request, **kwargs)
        response["X-Robots-Tag"] = ROBOTS
        return response

    return wrapped


@require_safe
@_unlisted
def shared_list(request: HttpRequest, share_id: str) -> HttpResponse:
    """Show a shared snapshot. A revoked address is as one that never was."""
    if is_over_rate(request):
        return too_many(request)
    shown = published(share_id)
    if shown is None:
        raise Http404
    found = _figures(shown)
    context: dict[str, Any] = {
        "share": shown.share,
        "run": shown.run,
        "figures": found,
        "preview": shared_page.preview_of(shown.share, shown.run, found),
        "preview_text": "Scores, adoption of standards and the most frequent findings of a list of sites.",
        "base_url": settings.BASE_URL,
        "sites": None,
    }
    if shown.run is not None and found is not None:
        context |= {
            "gauges": shared_page.gauges(found),
            "adoptions": shared_page.adoptions(found),
            "held_back": shared_page.held_back(found),
        }
        if context["adoptions"]:
            context["preview_text"] = f"{context['adoptions'][0].sentence}."
        if shown.share.has_table:
            context["sites"] = shared_page.sites_page(shown.run, _number(request))
            if context["sites"] is None:
                raise Http404
    response = render(request, "sites/lists/shared.html", context)
    # A reload must ask again, because the share may have been revoked.
    patch_cache_control(response, private=True, no_cache=True)
    return response


@require_safe
@_unlisted
def shared_card(request: HttpRequest, share_id: str, digest: str) -> HttpResponse:
    """Return the card of a shared snapshot for previews of its link."""
    if _is_over_rate(request):
        return HttpResponse(status=429, headers={"Retry-After": str(throttling.WINDOW_S)})
    shown = published(share_id)
    if shown is None:
        raise Http404
    card = shared_page.card_of(shown.share.site_list, shown.run, _figures(shown))
    address = functools.partial(shared_page.card_address, shown.share)
    return cards.card_at(request, card, digest, address, cards.SHARED)


@require_safe
@csp_override({"default-src": ["'none'"], "frame-ancestors": ["'none'"], "sandbox": []})
@_unlisted
def shared_badge(request: HttpRequest, share_id: str) -> HttpResponse:
    """Return a picture of the number of a `check`, or of the means. A revoked share has none."""
    if _is_over_rate(request):
        response = badge_response(draw_note("too many requests"), 429)
        response["Retry-After"] = str(throttling.WINDOW_S)
        return response
    check = request.GET.get("check", "")
    if check and not shared_page.is_check(check):
        return badge_response(draw_note("no such check"), 400)
    shown = published(share_id)
    if shown is None:
        return badge_response(draw_note("no such badge"), 404)
    return cacheable(request, badge_response(shared_page.badge_of(shown.run, _figures(shown), check), 200))


def _figures(shown: Published) -> Figures | None:
    return figures(shown.run) if shown.run is not None else None


def _number(request: HttpRequest) -> int:
    raw = request.GET.get("page", "1")
    # Longer numbers are beyond any list.
    return int(raw) if raw.isascii() and raw.isdecimal() and len(raw) <= 6 else 0


def _is_over_rate(request: HttpRequest) -> bool:
    rate = throttling.count(f"badges:{client(request)}", PER_MINUTE)
    return rate.used > rate.limit
