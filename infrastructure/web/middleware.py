"""Middleware of all responses: X-Request-ID, Permissions-Policy, compression of pages, and 503 in an outage."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware

from infrastructure.logging import current_id
from infrastructure.postgresql.availability import is_unavailable

# A request ID that a client may send: short, and without characters that could break a log line.
WELL_FORMED = re.compile(r"[A-Za-z0-9._-]{8,128}")


class PageCompressionMiddleware(GZipMiddleware):
    """Compresses pages, to about a tenth. Django's GZipMiddleware adds random bytes against BREACH.

    The API's responses are short, and the proxy in front may compress them.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Compress HTML only."""
        if not response.headers.get("Content-Type", "").startswith("text/html"):
            return response
        return super().process_response(request, response)


class OutageMiddleware:
    """Answers pages with a 503 while the database does not answer or is not migrated, without tracebacks in the log."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Return a 503 for database outages, None for other exceptions. Uses no template, as templates query too."""
        if not is_unavailable(exception):
            return None
        message = "The service is temporarily unavailable. Try again in a few seconds."
        return HttpResponse(
            f"<!doctype html><title>Unavailable</title><p>{message}</p>", status=503, headers={"Retry-After": "5"}
        )


class RequestIdMiddleware:
    """Takes a well-formed `X-Request-ID` from the request or generates one, and sends it with the response."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        sent = request.headers.get("X-Request-ID", "")
        request_id = sent if WELL_FORMED.fullmatch(sent) else secrets.token_hex(16)
        token = current_id.set(request_id)
        try:
            response = self.get_response(request)
        finally:
            current_id.reset(token)
        response["X-Request-ID"] = request_id
        return response


class PermissionsPolicyMiddleware:
    """Sends `PERMISSIONS_POLICY` with every response. It would also bind frames, of which our pages have none."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response["Permissions-Policy"] = settings.PERMISSIONS_POLICY
        return response
