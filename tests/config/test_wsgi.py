"""Tests for the WSGI application that gunicorn calls."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings


@pytest.fixture
def application() -> Iterator[Callable[..., Any]]:
    """WSGI application of the web process.

    Afterwards, the database options that its import changes are restored.
    """
    options = settings.DATABASES["default"]["OPTIONS"]
    before = dict(options)
    from config.wsgi import application

    yield application
    options.clear()
    options.update(before)


def call_application(
    application: Callable[..., Any], method: str, **variables: str
) -> tuple[str, dict[str, str], bytes]:
    started: list[Any] = []
    environ: dict[str, Any] = {
        "REQUEST_METHOD": method,
        "PATH_INFO": "/healthz",
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "80",
        "wsgi.input": io.BytesIO(),
        "wsgi.url_scheme": "http",
    }
    body = b"".join(application(environ | variables, lambda *arguments: started.append(arguments)))
    status, headers = started[0][:2]
    return status, dict(headers), body


@pytest.mark.django_db  # A request checks its thread's database connection.
@pytest.mark.parametrize(("method", "body"), [("GET", b'{"status": "ok"}'), ("HEAD", b"")])
def test_head_response_has_headers_but_no_body(application: Callable[..., Any], method: str, body: bytes) -> None:
    status, headers, sent = call_application(application, method)
    assert (status, headers["Content-Type"], sent) == ("200 OK", "application/json", body)


SHOW = """
import {module}
import django
django.setup()
from django.db import connection
with connection.cursor() as cursor:
    cursor.execute("SELECT current_setting('statement_timeout'), current_setting('lock_timeout')")
    print(*cursor.fetchone())
"""


@pytest.mark.parametrize(("module", "limits"), [("config.wsgi", "15s 5s"), ("config.celery", "0 0")])
def test_database_timeouts_apply_only_to_requests(db: None, module: str, limits: str) -> None:
    process = subprocess.run(
        [sys.executable, "-c", SHOW.format(module=module)],
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert process.stdout.strip() == limits


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("request_line", "expected"),
    [
        ({"SERVER_PROTOCOL": "HTTP/1.1"}, "400 Bad Request"),
        ({"SERVER_PROTOCOL": "HTTP/1.1", "HTTP_HOST": "localhost"}, "200 OK"),
        ({"SERVER_PROTOCOL": "HTTP/1.0"}, "200 OK"),  # HTTP/1.0 does not require a Host header.
    ],
)
def test_http_1_1_request_without_host_is_refused(
    application: Callable[..., Any], request_line: dict[str, str], expected: str
) -> None:
    status, headers, body = call_application(application, "GET", **request_line)
    assert (status, headers["Content-Type"]) == (expected, "application/json")
    assert ("code" in json.loads(body)) == (expected != "200 OK")
