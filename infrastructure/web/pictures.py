"""Responses with pictures that the database stores."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.utils.http import parse_etags


def picture_response(request: HttpRequest, name: str, picture: bytes | memoryview, content_type: str) -> HttpResponse:
    """Return a picture that never changes under its name.

    Browsers cache it, but revalidate it every time, because access may change.
    """
    etag = f'"{name}"'
    response: HttpResponse
    if etag in parse_etags(request.headers.get("If-None-Match", "")):
        response = HttpResponseNotModified()
    else:
        response = HttpResponse(bytes(picture), content_type=content_type)
    response["ETag"] = etag
    response["Cache-Control"] = "private, no-cache"
    return response
