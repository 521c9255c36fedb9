"""Exception handler and error views. API errors are JSON with `code` and `error`."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.db import DatabaseError, InterfaceError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from rest_framework import exceptions
from rest_framework.response import Response

from infrastructure.maintenance import maintenance_notice, retry_after_s
from infrastructure.postgresql.availability import is_unavailable
from infrastructure.telemetry.counters import count
from infrastructure.telemetry.process_metrics import REFUSALS
from website_scan.errors import Refusal

logger = logging.getLogger(__name__)

API_PREFIXES = ("/v1", "/api")
RETRY_AFTER_S = 5


class InvalidParams(Refusal):
    """Raised for an invalid parameter or field. `field` is its name, or empty if several fields are involved."""

    code = "INVALID_PARAMS"
    status = 400

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class PayloadTooLarge(Refusal):
    code = "PAYLOAD_TOO_LARGE"
    status = 413


class NotFound(Refusal):
    """Raised for an unknown path or ID (404). `code` says what does not exist, such as `SCAN_NOT_FOUND`."""

    code = "NOT_FOUND"
    status = 404

    def __init__(self, message: str, code: str = code) -> None:
        super().__init__(message)
        self.code = code


class RateLimited(Refusal):
    """Raised for a request over the rate limit (429). `retry_after_s` is at least 1."""

    code = "RATE_LIMITED"
    status = 429

    def __init__(self, message: str, retry_after_s: int) -> None:
        super().__init__(message)
        self.retry_after_s = max(1, retry_after_s)


class ServiceUnavailable(Refusal):
    """Raised during maintenance, if the queue is too long, or if the database or broker does not answer (503).

    `retry_after_s` is at least 1.
    """

    code = "SERVICE_UNAVAILABLE"
    status = 503

    def __init__(self, message: str, retry_after_s: int = RETRY_AFTER_S) -> None:
        super().__init__(message)
        self.retry_after_s = max(1, retry_after_s)


def handle(error: Exception, context: dict[str, Any]) -> Response:
    """Return an error response for any exception in an API view. This is the REST framework's exception handler."""
    status, code, message, headers = response_parts(error, context)
    count(REFUSALS, code)
    details = error.details if isinstance(error, Refusal) else {}
    return Response({"code": code, "error": message, **details}, status=status, headers=headers)


def response_parts(error: Exception, context: Mapping[str, Any]) -> tuple[int, str, str, dict[str, str]]:
    """Return the status, error code, message and headers for the response to an exception."""
    match error:
        case Refusal():
            headers = {}
            # Every 429 and 503 has Retry-After. A refusal may set the number of seconds.
            if error.status in (429, 503):
                headers["Retry-After"] = str(getattr(error, "retry_after_s", RETRY_AFTER_S))
            if error.status == 401:
                headers["WWW-Authenticate"] = "Bearer"
            return error.status, error.code, str(error), headers
        case exceptions.MethodNotAllowed():
            return 405, "METHOD_NOT_ALLOWED", f"{error.detail}", {}
        case exceptions.UnsupportedMediaType():
            return 415, "UNSUPPORTED_MEDIA_TYPE", _accepted_types(context), {}
        case exceptions.ParseError():
            return 400, "INVALID_PARAMS", f"{error.detail}", {}
        case exceptions.NotAuthenticated() | exceptions.AuthenticationFailed():
            message = "Send your API key in the header Authorization: Bearer <API_KEY>."
            return 401, "UNAUTHORIZED", message, {"WWW-Authenticate": "Bearer"}
        case RequestDataTooBig():
            return 413, "PAYLOAD_TOO_LARGE", "The body is too large.", {}
        case Http404():
            return 404, "NOT_FOUND", "There is nothing at this address.", {}
        case DatabaseError() | InterfaceError() if is_unavailable(error):
            message = "The service is temporarily unavailable. Try again in a few seconds."
            return 503, "SERVICE_UNAVAILABLE", message, {"Retry-After": str(RETRY_AFTER_S)}
    if isinstance(error, DatabaseError):
        logger.error("database error", exc_info=error)
    else:
        logger.error("unexpected error", exc_info=error)
    message = "Something went wrong on our side. Quote the X-Request-ID when you report it."
    return 500, "INTERNAL_ERROR", message, {}


def _accepted_types(context: Mapping[str, Any]) -> str:
    media_types = [parser.media_type for parser in context["view"].parser_classes]
    others = [media_type for media_type in media_types if media_type != "application/json"]
    alternatives = f", or as {' or '.join(others)}" if others else ""
    return f"Send the body as JSON with the header Content-Type: application/json{alternatives}."


def is_api(request: HttpRequest) -> bool:
    """Return True if the request's path belongs to the API, whose errors are JSON instead of HTML."""
    return any(request.path == prefix or request.path.startswith(f"{prefix}/") for prefix in API_PREFIXES)


def _error_response(request: HttpRequest, status: int, code: str, message: str) -> HttpResponse:
    """Return an error that Django itself raised, as JSON under the API's paths and otherwise as an HTML page."""
    if is_api(request):
        return JsonResponse({"code": code, "error": message}, status=status)
    # A 404 page of the dashboard has the navigation menu. The template leaves it out for users who are not members.
    shell = "shell.html" if status == 404 and request.path.startswith("/o/") else None
    return render(request, "error.html", {"status": status, "message": message, "shell": shell}, status=status)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001 -- Django passes it by name
    """Return the response to requests that Django rejects with 400, such as a bad Host header or upload."""
    return _error_response(request, 400, "INVALID_PARAMS", "The request could not be understood.")


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001 -- Django passes it by name
    return _error_response(request, 403, "FORBIDDEN", "You may not do this.")


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001 -- Django passes it by name
    return _error_response(request, 404, "NOT_FOUND", "There is nothing at this address.")


def server_error(request: HttpRequest) -> HttpResponse:
    """Return a 500 for exceptions outside API views. No template is rendered, because rendering may fail too."""
    message = "Something went wrong on our side."
    if is_api(request):
        return JsonResponse({"code": "INTERNAL_ERROR", "error": message}, status=500)
    return HttpResponse(f"<!doctype html><title>Error</title><p>{message}</p>", status=500)


def refuse_in_maintenance() -> None:
    """Raise `ServiceUnavailable` while an operator has switched maintenance on."""
    if notice := maintenance_notice():
        raise ServiceUnavailable(notice.message, retry_after_s(notice))
