"""The service's URLs, plus a bare view that returns a recorded response."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt

from config.urls import *  # noqa: F403
from config.urls import urlpatterns as service_patterns


@cache
def recorded_body(name: str) -> bytes:
    """Return a request's recorded response body."""
    return Path(os.environ["DATA_DIR"], "bodies", name).read_bytes()


@csrf_exempt
def bare_view(request: HttpRequest, name: str) -> HttpResponse:
    """Return recorded bytes without any other work, as a baseline for this server."""
    return HttpResponse(recorded_body(name), content_type="application/json")


urlpatterns = [path("bare/<str:name>", bare_view), *service_patterns]
