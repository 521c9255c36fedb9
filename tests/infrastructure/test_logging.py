"""Tests for logging."""

from __future__ import annotations

import logging
import logging.config
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import OperationalError
from django.test import Client

from infrastructure import cache
from infrastructure.logging import Outage, logging_config
from infrastructure.outage_filter import OutageFilter
from infrastructure.postgresql import hang_detection
from tests.factories import Member


@pytest.fixture(autouse=True)
def fresh_outages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hang_detection, "outage", Outage("PostgreSQL"))
    monkeypatch.setattr(cache, "outage", Outage("Redis"))


def test_outage_logs_its_start_and_end(caplog: pytest.LogCaptureFixture) -> None:
    outage = Outage("PostgreSQL")
    outage.end()
    for _ in range(5):
        outage.begin("connection refused\n\tIs the server running?")
    outage.end()
    outage.end()
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("ERROR", "PostgreSQL does not answer: connection refused Is the server running?"),
        ("WARNING", "PostgreSQL answers again"),
    ]


def test_unknown_Host_header_logs_nothing(caplog: pytest.LogCaptureFixture) -> None:
    assert Client(headers={"Host": "evil.example.org"}).get("/").status_code == 400
    assert caplog.text == ""


MULTIPART = "multipart/form-data; boundary=b"
PARTS = b"".join(b'--b\r\nContent-Disposition: form-data; name="a%d"\r\n\r\n1\r\n' % number for number in range(1001))
FORM = "application/x-www-form-urlencoded"


@pytest.mark.parametrize(
    ("path", "body", "media_type"),
    [
        ("/login/", "&".join(f"a{number}=1" for number in range(1001)).encode(), FORM),
        ("/login/", PARTS + b"--b--\r\n", MULTIPART),
        ("/login/?" + "&".join(f"a{number}=1" for number in range(1001)), b"", FORM),
        ("/login/", b"a=" + b"1" * 3_000_000, FORM),
    ],
    ids=["form", "multipart", "query", "bytes"],
)
def test_too_large_form_logs_one_line(
    db: None, path: str, body: bytes, media_type: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with configured_logging():
        response = Client().generic("POST", path, body, media_type)
    assert response.status_code in (400, 413)
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) <= 1
    assert all(line.startswith("INFO django.security.") for line in lines)


@contextmanager
def configured_logging() -> Iterator[None]:
    """Configure logging as in a web process.

    pytest's handlers would not apply the formats.
    """
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    logging.config.dictConfig(logging_config("text"))
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


@pytest.fixture
def without_database(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OperationalError("the server does not answer")

    monkeypatch.setattr("accounts.authentication.fetch", fail, raising=False)
    monkeypatch.setattr("django.db.models.query.QuerySet._fetch_all", fail)


def test_repeated_503_responses_log_one_line(
    home: Member, without_database: None, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(3):
        assert home.api.get("/v1/usage").status_code == 503
    assert [record.getMessage() for record in caplog.records] == [
        "PostgreSQL does not answer: the server does not answer"
    ]


def test_database_outage_page_is_503(db: None, without_database: None, caplog: pytest.LogCaptureFixture) -> None:
    response = Client(raise_request_exception=False).post("/login/", {"login": "a@b.test", "password": "x"})
    assert (response.status_code, response["Retry-After"]) == (503, "5")
    assert "Traceback" not in caplog.text


@pytest.mark.parametrize(
    ("name", "message", "is_outage"),
    [
        ("celery.worker.consumer.consumer", "consumer: Cannot connect to %s: %s.\n%s\n", True),
        ("celery.worker.consumer.consumer", "consumer: Connection to broker lost. Trying to re-establish", True),
        ("celery.worker.request", "Couldn't ack %r, reason:%r", True),
        ("celery.beat", "beat: Connection error: %s. Trying again in %s seconds...", True),
        ("celery.worker.consumer.consumer", "Received and deleted unknown message.", False),
        ("celery.beat", "beat: Starting...", False),
    ],
)
def test_celery_connection_errors_are_logged_once(
    name: str, message: str, is_outage: bool, caplog: pytest.LogCaptureFixture
) -> None:
    outage_filter = OutageFilter()
    arguments = ("there",) * message.count("%")
    record = logging.LogRecord(name, logging.ERROR, "", 0, message, arguments, None)
    assert [outage_filter.filter(record) for _ in range(3)] == [not is_outage] * 3
    assert caplog.text.count("Redis does not answer") == is_outage
    connected = logging.LogRecord(
        "celery.worker.consumer.connection", logging.INFO, "", 0, "Connected to %s", ("x",), None
    )
    assert not outage_filter.filter(connected)
    assert caplog.text.count("Redis answers again") == is_outage
