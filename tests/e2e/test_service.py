"""Tests for the running service through its API."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.e2e.conftest import RunningService
from tests.e2e.service import BASE_DIR
from tests.operations.stack.processes import WORKERS, programs_with, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("service")]

TYPES = ["security", "performance", "accessibility", "seo"]
FINAL = {"completed", "partial", "failed"}


def call_api(
    running: RunningService, method: str, path: str, extra: dict[str, str] | None = None, **options: Any
) -> requests.Response:
    headers = {"Authorization": f"Bearer {running.key}"} | (extra or {})
    return requests.request(method, running.base + path, headers=headers, timeout=30, **options)


def readme_block() -> str:
    """Return the README's block of shell commands."""
    readme = (BASE_DIR / "README.md").read_text()
    match = re.search(r"<!-- the tests run this block as it stands -->\n```bash\n(.*?)```", readme, re.DOTALL)
    assert match
    return match[1]


@pytest.mark.parametrize("scan_type", TYPES)
def test_curl_commands_of_the_readme_work(running: RunningService, scan_type: str) -> None:
    site = running.site.url_as("localhost") + "/"
    env = {"BASE": running.base, "KEY": running.key, "SITE": site, "TYPE": scan_type}
    output = subprocess.run(
        ["bash", "-euc", readme_block()],
        env=dict(os.environ) | env,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout
    report = json.loads(output)
    assert (report["url"], report["type"]) == (site, scan_type)
    assert 0 <= report["score"] <= 100
    assert report["summary"]["total_checks"] > 0
    status = call_api(running, "GET", f"/v1/scan/{report['id']}").json()
    assert (status["status"], status["skipped_checks"]) == ("completed", [])


def test_scan_of_a_killed_worker_is_resumed(running: RunningService) -> None:
    body = {"url": running.site.url_as("localhost") + "/slow", "type": "seo"}
    scan = call_api(running, "POST", "/v1/scan", json=body).json()

    def get_scan() -> dict[str, Any]:
        document: dict[str, Any] = call_api(running, "GET", f"/v1/scan/{scan['id']}").json()
        return document

    wait_until(lambda: "/slow" in running.site.paths(), 60)
    assert get_scan()["status"] == "scanning"
    for pid in programs_with(str(running.service.data_dir), *WORKERS):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # The process has ended with its parent.
    wait_until(lambda: get_scan()["status"] in FINAL, 110, poll_s=0.5)
    assert get_scan()["status"] == "completed"
    assert call_api(running, "GET", f"/v1/report/{scan['id']}").status_code == 200
    # Both attempts requested the page, but there is only one report.
    assert running.site.paths().count("/slow") >= 2


@pytest.mark.parametrize(
    ("request_bytes", "status", "code"),
    [
        (b"GET /v1/scans?limit=" + b"9" * 10_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "INVALID_PARAMS"),
        (b"GET /v1/scans HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 70_000 + b"\r\n\r\n", 400, "INVALID_PARAMS"),
        (b"GET /v1/scan\r\n\r\n", 400, "INVALID_PARAMS"),
        (b"\x16\x03\x01 not HTTP at all\r\n\r\n", 400, "INVALID_PARAMS"),
        (b"GET /v1/scans HTTP/1.1\r\nHost: evil.example.org\r\n\r\n", 400, "INVALID_PARAMS"),
        (b"GET /v1/\xff\xfe HTTP/1.1\r\nHost: localhost\r\n\r\n", 400, "INVALID_PARAMS"),
        (b"GET /v1/nope/%00%ff HTTP/1.1\r\nHost: localhost\r\n\r\n", 404, "NOT_FOUND"),
        (b"GET /v1/scan/%00 HTTP/1.1\r\nHost: localhost\r\n\r\n", 401, "UNAUTHORIZED"),
        (b"BREW /v1/scan HTTP/1.1\r\nHost: localhost\r\n\r\n", 401, "UNAUTHORIZED"),
    ],
    ids=lambda value: value[:24] if isinstance(value, bytes) else None,
)
def test_response_to_any_request_is_json(running: RunningService, request_bytes: bytes, status: int, code: str) -> None:
    with socket.create_connection(("127.0.0.1", running.service.port), timeout=10) as connection:
        connection.sendall(request_bytes)
        response = http.client.HTTPResponse(connection)
        response.begin()
        body = json.loads(response.read())
    assert (response.status, body["code"]) == (status, code)
    assert set(body) == {"code", "error"}
    assert response.headers["X-Request-ID"]


def test_chunked_request_body_is_read(running: RunningService) -> None:
    def post(chunks: list[bytes]) -> tuple[int, str]:
        response = call_api(running, "POST", "/v1/scan", data=iter(chunks), extra={"Content-Type": "application/json"})
        return response.status_code, response.json()["code"]

    assert post([b'{"url": "http', b'://10.0.0.1/", "type": "seo"}']) == (403, "DOMAIN_BLOCKED")
    assert post([b'{"url": "', *[b"a" * 10_000] * 10, b'"}']) == (413, "PAYLOAD_TOO_LARGE")


def raise_rate_limit(running: RunningService) -> None:
    """Raise the limit of requests a minute above what a test can send.

    With the demo organization's limit, the service would answer most requests of schemathesis with 429.
    """
    with running.service.connect() as connection:
        connection.execute("UPDATE accounts_tier SET requests_per_minute = 1000000")


@pytest.mark.timeout(660)
@pytest.mark.parametrize("phases", ["coverage", "examples,fuzzing"])
def test_schemathesis_reports_no_failures(running: RunningService, tmp_path: Path, phases: str) -> None:
    raise_rate_limit(running)
    # A service under load answers with a documented 503.
    config = tmp_path / "schemathesis.toml"
    config.write_text('[checks.not_a_server_error]\nexpected-statuses = ["2xx", "3xx", "4xx", 503]\n')
    result = subprocess.run(
        [
            sys.executable, "-m", "schemathesis.cli", "--config-file", str(config),
            "run", str(BASE_DIR / "openapi.yaml"),
            "--url", running.base,
            "--header", f"Authorization: Bearer {running.key}",
            "--checks", "not_a_server_error,status_code_conformance,content_type_conformance,"
            "response_headers_conformance,response_schema_conformance",
            "--phases", phases,
            "--max-examples", "10",
            "--seed", "1",
            "--suppress-health-check", "all",
            "--request-timeout", "30",
            "--no-color",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )  # fmt: skip
    # The requests that failed come before the warnings, which are long.
    failures = result.stdout.partition(" FAILURES ")[2].partition(" WARNINGS ")[0]
    assert result.returncode == 0, failures[:6000] or result.stdout[-3000:] + result.stderr[-2000:]
    assert " 429 Too Many Requests" not in result.stdout
