"""The web process's WSGI application, for `gunicorn config.wsgi`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from django.conf import settings

from infrastructure import environment
from infrastructure.frame_stack import call_with_room
from infrastructure.loading import without_garbage_collection

# Timeouts (ms) for statements and locks in requests. Tasks and commands have none. `DATABASE_URL` may override them.
settings.DATABASES["default"]["OPTIONS"].setdefault("options", "-c statement_timeout=15000 -c lock_timeout=5000")
NO_HOST = b'{"code": "INVALID_PARAMS", "error": "The request has no Host header."}'

with without_garbage_collection():
    django_application = get_wsgi_application()
    admit = import_module("config.admission").admit_in_thread
    # This module is imported at startup, so that the first scan request does not wait for the import.
    import_module("website_scan.net.name_servers")
environment.refuse_problems()


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Call Django's application.

    Refuses requests without a host, and drops the response body for HEAD.
    """
    if environ.get("SERVER_PROTOCOL") == "HTTP/1.1" and "HTTP_HOST" not in environ:
        # RFC 9112, section 3.2, requires status 400 without a Host header. Django would use the address of its socket
        # instead.
        start_response("400 Bad Request", [("Content-Type", "application/json"), ("Connection", "close")])
        return (NO_HOST,)
    response = call_with_room(django_application, environ, start_response)
    if environ["REQUEST_METHOD"] != "HEAD":
        return response
    # gunicorn would also drop the body, but log a warning each time.
    if (close := getattr(response, "close", None)) is not None:
        close()
    return ()


application.admit = admit  # type: ignore[attr-defined]  # The gunicorn worker calls it for long request bodies.
