"""What stands between the web server and Django."""

from __future__ import annotations

import io
from typing import Any

import pytest

from config.wsgi import application


def answered(method: str) -> tuple[str, dict[str, str], bytes]:
    started: list[Any] = []
    environ = {
        "REQUEST_METHOD": method,
        "PATH_INFO": "/healthz",
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "80",
        "wsgi.input": io.BytesIO(),
        "wsgi.url_scheme": "http",
    }
    body = b"".join(application(environ, lambda *arguments: started.append(arguments)))
    status, headers = started[0][:2]
    return status, dict(headers), body


@pytest.mark.django_db  # a request looks whether its thread's connection still lives
@pytest.mark.parametrize(("method", "body"), [("GET", b'{"status": "ok"}'), ("HEAD", b"")])
def test_a_head_has_the_heads_of_a_get_and_no_body(method: str, body: bytes) -> None:
    status, headers, sent = answered(method)
    assert (status, headers["Content-Type"], sent) == ("200 OK", "application/json", body)
