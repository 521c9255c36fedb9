"""HTTP responses with cards: addresses that change with the content, conditional requests, embedding by other sites."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.shortcuts import redirect
from django.utils.http import parse_etags

import website_scan
from infrastructure.web.cards.drawing import Card, draw

# Cache-Control headers. The content of a card's address never changes. A share may be revoked, and then no shared cache
# may still serve its card. The browsers of members revalidate private cards each time.
PUBLIC = "public, max-age=31536000, immutable"
SHARED = "private, max-age=31536000, immutable"
MEMBERS = "private, no-cache"


def digest_of(card: Card) -> str:
    """Return a hash for the card's address that changes with the content and with each version of the service."""
    return hashlib.sha256(f"{website_scan.__version__} {card!r}".encode()).hexdigest()[:16]


def card_at(request: HttpRequest, card: Card, digest: str, address: Callable[[str], str], caching: str) -> HttpResponse:
    """Return the card if `digest` is up to date, else a redirect to the card's current address.

    So each card is cached at one address, and requests for outdated addresses draw nothing.
    """
    current = digest_of(card)
    return picture(request, card, caching) if digest == current else redirect(address(current))


def picture(request: HttpRequest, card: Card, caching: str) -> HttpResponse:
    """Return the card as PNG that other sites may embed, or a 304 if the client has cached the current card."""
    etag = f'"{digest_of(card)}"'
    response: HttpResponse
    if etag in parse_etags(request.headers.get("If-None-Match", "")):
        response = HttpResponseNotModified()
    else:
        response = HttpResponse(draw(card), content_type="image/png")
    response["ETag"] = etag
    response["Cache-Control"] = caching
    response["Cross-Origin-Resource-Policy"] = "cross-origin"
    return response
