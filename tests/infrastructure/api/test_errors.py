"""Error responses under /v1 and /api: JSON with `code` and `error`, also for errors that Django itself raises."""

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


def refusal(response: ClientResponse) -> tuple[int, str]:
    body = json.loads(response.content)
    assert set(body) == {"code", "error"}
    assert response["Content-Type"].startswith("application/json")
    assert response["X-Request-ID"]
    return response.status_code, body["code"]


def test_404_of_unknown_path_has_rate_limit_headers_for_valid_key(home: Member) -> None:
    response = home.api.get("/v1/nope")
    assert refusal(response) == (404, "NOT_FOUND")
    assert response["X-RateLimit-Remaining"] == "59"


@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
def test_unknown_path_is_NOT_FOUND_without_Allow_header_for_every_method(home: Member, method: str) -> None:
    response = home.api.call(method, "/v1/nothing")
    assert refusal(response) == (404, "NOT_FOUND")
    assert "Allow" not in response


@pytest.mark.parametrize(("encoding", "expected"), [("gzip", 415), ("br, gzip", 415), ("identity", 400)])
def test_body_with_Content_Encoding_is_UNSUPPORTED_MEDIA_TYPE(home: Member, encoding: str, expected: int) -> None:
    response = home.api.post("/v1/scan", {"url": "nonsense", "type": "seo"}, Content_Encoding=encoding)
    assert response.status_code == expected
    assert response.json()["code"] == ("UNSUPPORTED_MEDIA_TYPE" if expected == 415 else "INVALID_URL")


def test_body_of_64_KiB_is_accepted(home: Member) -> None:
    body = b'{"url": "' + b"a" * (64 * 1024 - 11) + b'"}'
    assert refusal(home.api.post("/v1/scan", body)) == (400, "INVALID_URL")


def test_audit_request_with_1000_long_urls_is_accepted(home: Member) -> None:
    Tier.objects.update(pages_per_audit=1000, scans_per_month=10_000)
    pages = [f"https://example.com/{'a' * 900}/{number}" for number in range(1000)]
    assert len(json.dumps({"pages": pages})) > 900_000
    assert home.api.post("/v1/audits", {"pages": pages}).status_code == 202


def test_audit_request_over_1_MiB_is_PAYLOAD_TOO_LARGE(home: Member) -> None:
    body = b'{"page": "' + b"a" * (1024 * 1024 - 12) + b'"}'
    assert refusal(home.api.post("/v1/audits", body)) == (400, "INVALID_URL")
    assert refusal(home.api.post("/v1/audits", body + b" ")) == (413, "PAYLOAD_TOO_LARGE")


def test_unexpected_exception_is_INTERNAL_ERROR_without_its_message(
    home: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*_: object) -> None:
        raise RuntimeError("the secret detail")

    monkeypatch.setattr(scans_api, "slice_of", crash)
    response = home.api.get("/v1/scans")
    assert refusal(response) == (500, "INTERNAL_ERROR")
    assert b"secret detail" not in response.content


@pytest.mark.parametrize("error", [OperationalError("gone"), psycopg.OperationalError("gone")])
def test_database_outage_is_SERVICE_UNAVAILABLE_with_Retry_After(
    home: Member, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def down(*_: object, **__: object) -> None:
        raise OperationalError("gone") from error

    monkeypatch.setattr(scans_api, "slice_of", down)
    response = home.api.get("/v1/scans")
    assert refusal(response) == (503, "SERVICE_UNAVAILABLE")
    assert int(response["Retry-After"]) >= 1


def test_redis_outage_refuses_new_scans_but_not_GET_requests(
    home: Member, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(*_: object, **__: object) -> None:
        raise RedisConnectionError("gone")

    monkeypatch.setattr("redis.Redis.execute_command", down)
    response = home.api.get("/v1/scans")
    assert response.status_code == 200
    assert response["X-RateLimit-Limit"] == "60"
    refused = home.api.post("/v1/scan", {"url": target, "type": "seo"})
    assert refusal(refused) == (503, "SERVICE_UNAVAILABLE")


def test_X_Request_ID_of_client_is_returned_only_if_well_formed(db: None) -> None:
    assert Api().get("/v1/scans", X_Request_ID="my-request.42")["X-Request-ID"] == "my-request.42"
    for hostile in ("short", "a" * 200, "new\tline12345", "<script>alert(1)"):
        assert Api().get("/healthz", X_Request_ID=hostile)["X-Request-ID"] != hostile


def test_unknown_Host_header_is_INVALID_PARAMS_in_json(db: None) -> None:
    assert refusal(Api().get("/v1/scans", Host="evil.example")) == (400, "INVALID_PARAMS")


def test_healthz_and_readyz_are_200_on_a_working_installation(db: None) -> None:
    assert Api().get("/healthz").json() == {"status": "ok"}
    assert Api().get("/readyz").json() == {"status": "ready"}


def test_missing_column_is_SERVICE_UNAVAILABLE_only_with_pending_migrations(
    home: Member, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """With all migrations applied, a missing column is a bug and so a 500."""

    def read(*_: object, **__: object) -> None:
        raise ProgrammingError('column "kind" does not exist') from UndefinedColumn()

    monkeypatch.setattr(scans_api, "scan_list", read)
    assert refusal(home.api.get("/v1/scans")) == (500, "INTERNAL_ERROR")
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'scans'")
    assert refusal(home.api.get("/v1/scans")) == (503, "SERVICE_UNAVAILABLE")
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
