"""URLs of the service, and a bare view that returns the recorded response of each measured request."""

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
    """Return the recorded response body of a request."""
    return Path(os.environ["DATA_DIR"], "bodies", name).read_bytes()


@csrf_exempt
def bare(request: HttpRequest, name: str) -> HttpResponse:
    """Return the recorded bytes without any other work, as the baseline of Django on this server."""
    return HttpResponse(recorded_body(name), content_type="application/json")


urlpatterns = [path("bare/<str:name>", bare), *service_patterns]
