"""URLs of the service, and for each measured request a bare view that returns the same bytes."""

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
def body_of(name: str) -> bytes:
    """Return the recorded body of a request."""
    return Path(os.environ["DATA_DIR"], "bodies", name).read_bytes()


@csrf_exempt
def bare(request: HttpRequest, name: str) -> HttpResponse:
    """Return the recorded bytes without other work, as the baseline of Django on this server."""
    return HttpResponse(body_of(name), content_type="application/json")


urlpatterns = [path("bare/<str:name>", bare), *service_patterns]
