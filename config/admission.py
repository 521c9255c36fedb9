"""Decide from a request's head who may send a long body.

The web process reads at most 64 KiB of a body from anybody. A longer body could fill its memory before authentication,
so the process asks here first, and refuses strangers without reading their body.
"""

from __future__ import annotations

import json
from typing import Any

from django.contrib.sessions.middleware import SessionMiddleware
from django.core.handlers.wsgi import WSGIRequest
from django.db import close_old_connections
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import resolve
from rest_framework.exceptions import NotAuthenticated
from rest_framework.request import Request

from accounts.authentication import BearerAuthentication
from accounts.sessions import AuthenticationMiddleware
from config.incoming import Admission, RefusedBody
from infrastructure.api.errors import PayloadTooLarge, is_api, response_parts
from infrastructure.web.body_limits import max_body_bytes
from infrastructure.web.proxies import client_address


def admit(environ: dict[str, Any]) -> Admission | RefusedBody:
    """Return the client's identity and body limit, or the response that refuses the long body.

    Clients of the API need a valid key, and clients of pages a valid session. The API's error is the one that the view
    would return: 401 without a valid key, 429 after too many wrong keys.
    """
    request = WSGIRequest(environ)
    request.META["REMOTE_ADDR"] = client_address(request.META)
    try:
        return Admission(_authenticate(request), max_body_bytes(resolve(request.path_info).func))
    except Exception as error:  # noqa: BLE001 -- response_parts logs unexpected errors
        status, code, message, headers = response_parts(error, {})
    body = json.dumps({"code": code, "error": message}).encode()
    return RefusedBody(_status_line(status), {"Content-Type": "application/json", **headers}, body)


def admit_in_thread(environ: dict[str, Any]) -> Admission | RefusedBody:
    """Call `admit` in a thread.

    Closes stale database connections as Django does around a request.
    """
    close_old_connections()
    try:
        return admit(environ)
    finally:
        close_old_connections()


def _authenticate(request: WSGIRequest) -> str:
    """Return the request's organization or person as text.

    Raises the API's refusals, or PayloadTooLarge for pages.
    """
    if is_api(request):
        authenticated = BearerAuthentication().authenticate(Request(request))
        if authenticated is None:
            raise NotAuthenticated
        return f"organization {authenticated[0].organization_id}"
    SessionMiddleware(_no_response).process_request(request)
    AuthenticationMiddleware(_no_response).process_request(request)
    if not request.user.is_authenticated:
        raise PayloadTooLarge("Log in to send a body of more than 64 KiB.")
    return f"user {request.user.pk}"


def _no_response(_: HttpRequest) -> HttpResponse:
    raise Http404


def _status_line(status: int) -> str:
    return f"{status} {HttpResponse(status=status).reason_phrase}"
