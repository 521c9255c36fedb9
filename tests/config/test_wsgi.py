"""What stands between the web server and Django."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from config.wsgi import application


def answered(method: str, **more: str) -> tuple[str, dict[str, str], bytes]:
    started: list[Any] = []
    environ: dict[str, Any] = {
        "REQUEST_METHOD": method,
        "PATH_INFO": "/healthz",
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "80",
        "wsgi.input": io.BytesIO(),
        "wsgi.url_scheme": "http",
    }
    body = b"".join(application(environ | more, lambda *arguments: started.append(arguments)))
    status, headers = started[0][:2]
    return status, dict(headers), body


@pytest.mark.django_db  # a request looks whether its thread's connection still lives
@pytest.mark.parametrize(("method", "body"), [("GET", b'{"status": "ok"}'), ("HEAD", b"")])
def test_a_head_has_the_heads_of_a_get_and_no_body(method: str, body: bytes) -> None:
    status, headers, sent = answered(method)
    assert (status, headers["Content-Type"], sent) == ("200 OK", "application/json", body)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("request_line", "expected"),
    [
        ({"SERVER_PROTOCOL": "HTTP/1.1"}, "400 Bad Request"),
        ({"SERVER_PROTOCOL": "HTTP/1.1", "HTTP_HOST": "localhost"}, "200 OK"),
        ({"SERVER_PROTOCOL": "HTTP/1.0"}, "200 OK"),  # which knew no Host
    ],
)
def test_a_request_of_http_1_1_names_its_host(request_line: dict[str, str], expected: str) -> None:
    status, headers, body = answered("GET", **request_line)
    assert (status, headers["Content-Type"]) == (expected, "application/json")
    assert ("code" in json.loads(body)) == (expected != "200 OK")
