"""The landing page, the API's documentation, and the page for a crash."""

from __future__ import annotations

import functools

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views.decorators.http import require_safe
from drf_spectacular.views import SpectacularSwaggerSplitView

from config.api import errors
from config.csp import csp_override
from config.logging import current_id

# Swagger UI's style sheet has its icons in data: URLs.
docs = csp_override(settings.SECURE_CSP | {"img-src": ["'self'", "data:"]})(
    SpectacularSwaggerSplitView.as_view(url_name="schema")
)


@require_safe
def landing(request: HttpRequest) -> HttpResponse:
    """What the service is, and how to begin."""
    return render(request, "landing.html", {"base_url": settings.BASE_URL})


@require_safe
def openapi(request: HttpRequest) -> HttpResponse:
    """The committed description of the API, as it is; making it anew would cost a second of CPU each time."""
    return HttpResponse(_openapi(), content_type="application/yaml; charset=utf-8")


@functools.cache
def _openapi() -> bytes:
    return (settings.BASE_DIR / "openapi.yaml").read_bytes()


def server_error(request: HttpRequest) -> HttpResponse:
    """Django's own 500. The page uses nothing that may be broken: no user, no session, no database."""
    if errors.is_api(request):
        return errors.server_error(request)
    context = {"status": 500, "message": "Something went wrong on our side.", "request_id": current_id.get()}
    try:
        page = render_to_string("error.html", context)
    except ValueError:
        # The manifest of static files lacks one of ours, which may be why we are here.
        return errors.server_error(request)
    return HttpResponse(page, status=500)
