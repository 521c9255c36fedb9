"""Tests that errors under /v1 and /api are always JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from django.db import OperationalError, ProgrammingError, connection
from psycopg.errors import DiskFull, UndefinedColumn
from redis.exceptions import ConnectionError as RedisConnectionError

from accounts.models import Tier
from scans import api as scans_api
from tests.factories import Api, Member
from tests.responses import ClientResponse


def error_of_response(response: ClientResponse) -> tuple[int, str]:
    body = json.loads(response.content)
    assert set(body) == {"code", "error"}
    assert response["Content-Type"].startswith("application/json")
    assert response["X-Request-ID"]
    return response.status_code, body["code"]


def test_unknown_path_has_rate_limit_headers(home: Member) -> None:
    response = home.api.get("/v1/nope")
    assert error_of_response(response) == (404, "NOT_FOUND")
    assert response["X-RateLimit-Remaining"] == "59"


@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_unknown_path_is_NOT_FOUND_for_every_method(home: Member, method: str) -> None:
    response = home.api.call(method, "/v1/nothing")
    assert error_of_response(response) == (404, "NOT_FOUND")
    assert "Allow" not in response


@pytest.mark.parametrize(("encoding", "expected"), [("gzip", 415), ("br, gzip", 415), ("identity", 400)])
def test_encoded_body_is_refused(home: Member, encoding: str, expected: int) -> None:
    response = home.api.post("/v1/scan", {"url": "nonsense", "type": "seo"}, Content_Encoding=encoding)
    assert response.status_code == expected
    assert response.json()["code"] == ("UNSUPPORTED_MEDIA_TYPE" if expected == 415 else "INVALID_URL")


def test_body_of_64_KiB_is_accepted(home: Member) -> None:
    body = b'{"url": "' + b"a" * (64 * 1024 - 11) + b'"}'
    assert error_of_response(home.api.post("/v1/scan", body)) == (400, "INVALID_URL")


def test_audit_request_accepts_1000_long_urls(home: Member) -> None:
    Tier.objects.update(pages_per_audit=1000, scans_per_month=10_000)
    pages = [f"https://example.com/{'a' * 900}/{number}" for number in range(1000)]
    assert len(json.dumps({"pages": pages})) > 900_000
    assert home.api.post("/v1/audits", {"pages": pages}).status_code == 202


def test_audit_request_over_1_MiB_is_refused(home: Member) -> None:
    body = b'{"page": "' + b"a" * (1024 * 1024 - 12) + b'"}'
    assert error_of_response(home.api.post("/v1/audits", body)) == (400, "INVALID_URL")
    assert error_of_response(home.api.post("/v1/audits", body + b" ")) == (413, "PAYLOAD_TOO_LARGE")


def test_unexpected_exception_is_INTERNAL_ERROR(home: Member, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: object) -> None:
        raise RuntimeError("the secret detail")

    monkeypatch.setattr(scans_api, "parse_limit_and_offset", crash)
    response = home.api.get("/v1/scans")
    assert error_of_response(response) == (500, "INTERNAL_ERROR")
    assert b"secret detail" not in response.content


@pytest.mark.parametrize("error", [OperationalError("gone"), psycopg.OperationalError("gone")])
def test_database_outage_is_SERVICE_UNAVAILABLE(
    home: Member, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def down(*_: object, **__: object) -> None:
        raise OperationalError("gone") from error

    monkeypatch.setattr(scans_api, "parse_limit_and_offset", down)
    response = home.api.get("/v1/scans")
    assert error_of_response(response) == (503, "SERVICE_UNAVAILABLE")
    assert int(response["Retry-After"]) >= 1


def test_redis_outage_refuses_new_scans(home: Member, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def down(*_: object, **__: object) -> None:
        raise RedisConnectionError("gone")

    monkeypatch.setattr("redis.Redis.execute_command", down)
    response = home.api.get("/v1/scans")
    assert response.status_code == 200
    assert response["X-RateLimit-Limit"] == "60"
    refused = home.api.post("/v1/scan", {"url": target, "type": "seo"})
    assert error_of_response(refused) == (503, "SERVICE_UNAVAILABLE")


def test_well_formed_X_Request_ID_is_returned(db: None) -> None:
    assert Api().get("/v1/scans", X_Request_ID="my-request.42")["X-Request-ID"] == "my-request.42"
    for hostile in ("short", "a" * 200, "new\tline12345", "<script>alert(1)"):
        assert Api().get("/healthz", X_Request_ID=hostile)["X-Request-ID"] != hostile


def test_unknown_Host_header_is_INVALID_PARAMS(db: None) -> None:
    assert error_of_response(Api().get("/v1/scans", Host="evil.example")) == (400, "INVALID_PARAMS")


def test_health_checks_are_200(db: None) -> None:
    assert Api().get("/healthz").json() == {"status": "ok"}
    assert Api().get("/readyz").json() == {"status": "ready"}


def test_pending_migration_is_SERVICE_UNAVAILABLE(
    home: Member, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """With all migrations applied, a missing column is a bug.

    The response is then a 500.
    """

    def read(*_: object, **__: object) -> None:
        raise ProgrammingError('column "kind" does not exist') from UndefinedColumn()

    monkeypatch.setattr(scans_api, "scan_list", read)
    assert error_of_response(home.api.get("/v1/scans")) == (500, "INTERNAL_ERROR")
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'scans'")
    assert error_of_response(home.api.get("/v1/scans")) == (503, "SERVICE_UNAVAILABLE")
    assert "the database is older than this version: run `manage.py prepare`" in caplog.text
    assert "run `manage.py prepare`" in home.api.get("/readyz").json()["problems"]["migrations"]


def test_readyz_is_503_when_postgresql_disk_is_full(db: None) -> None:
    def full(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        if "django_migrations" in sql:
            return execute(sql, *rest)
        raise OperationalError from DiskFull("could not write: No space left on device")

    with connection.execute_wrapper(full):
        response = Api().get("/readyz")
    assert response.status_code == 503
    assert response.json()["problems"] == {"postgresql": "PostgreSQL's disk is full: free space on it."}
