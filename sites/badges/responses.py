"""HTTP responses with badge images that other sites may embed, with caching and ETags."""

from __future__ import annotations

import hashlib

from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.template.loader import render_to_string
from django.utils.http import parse_etags

from sites.badges.drawing import Drawing


def badge_response(drawing: Drawing, status: int) -> HttpResponse:
    """Return an SVG response that other sites may embed.

    `no-store` prevents caching of errors.
    """
    body = render_to_string("sites/badges/badge.svg", {"drawing": drawing})
    response = HttpResponse(body, content_type="image/svg+xml; charset=utf-8", status=status)
    response["Cross-Origin-Resource-Policy"] = "cross-origin"
    response["Cache-Control"] = "no-store"
    return response


def cacheable(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Let clients cache a badge for five minutes.

    Returns 304 if the client has cached the same image.
    """
    etag = f'"{hashlib.sha256(response.content).hexdigest()[:32]}"'
    if etag in parse_etags(request.headers.get("If-None-Match", "")):
        response = HttpResponseNotModified(headers={"Cross-Origin-Resource-Policy": "cross-origin"})
    response["ETag"] = etag
    response["Cache-Control"] = "max-age=300"
    return response
