"""HTTP responses with cards.

Their addresses change with the content, and other sites may embed them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.shortcuts import redirect
from django.utils.http import parse_etags

import website_scan
from infrastructure.web.cards.drawing import Card, draw

# Cache-Control headers. The content at a card's address never changes. A share may be revoked, so only
# browsers may cache its card. Members' browsers revalidate private cards every time.
PUBLIC = "public, max-age=31536000, immutable"
SHARED = "private, max-age=31536000, immutable"
MEMBERS = "private, no-cache"


def digest_of(card: Card) -> str:
    """Return a hash for the card's address.

    It changes with the content and with the service's version.
    """
    return hashlib.sha256(f"{website_scan.__version__} {card!r}".encode()).hexdigest()[:16]


def card_at(request: HttpRequest, card: Card, digest: str, address: Callable[[str], str], caching: str) -> HttpResponse:
    """Return the card if `digest` is current, otherwise redirect to the card's new address.

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
