"""Middleware for X-Request-ID, Permissions-Policy, page compression, and a 503 while the database is down."""

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

# Request IDs that clients may send: short, and without characters that could break a log line.
WELL_FORMED = re.compile(r"[A-Za-z0-9._-]{8,128}")


class PageCompressionMiddleware(GZipMiddleware):
    """Middleware that compresses HTML pages, to about a tenth.

    Django's GZipMiddleware adds padding against BREACH.

    API responses are short, and a reverse proxy may compress them.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Compress the response if it is HTML."""
        if not response.headers.get("Content-Type", "").startswith("text/html"):
            return response
        return super().process_response(request, response)


class OutageMiddleware:
    """Middleware that returns a 503 for pages while the database does not answer or lacks migrations.

    The outage is logged once, without tracebacks.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Return a 503 for database outages, else None.

        No template is used, because templates query the database.
        """
        if not is_unavailable(exception):
            return None
        message = "The service is temporarily unavailable. Try again in a few seconds."
        return HttpResponse(
            f"<!doctype html><title>Unavailable</title><p>{message}</p>", status=503, headers={"Retry-After": "5"}
        )


class RequestIdMiddleware:
    """Middleware that returns the request's `X-Request-ID` in the response, or a new ID if it has no valid one."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        client_id = request.headers.get("X-Request-ID", "")
        request_id = client_id if WELL_FORMED.fullmatch(client_id) else secrets.token_hex(16)
        token = current_id.set(request_id)
        try:
            response = self.get_response(request)
        finally:
            current_id.reset(token)
        response["X-Request-ID"] = request_id
        return response


class PermissionsPolicyMiddleware:
    """Middleware that sends the setting `PERMISSIONS_POLICY` as a header with every response."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response["Permissions-Policy"] = settings.PERMISSIONS_POLICY
        return response
