"""Logging of known states: an outage is one line, and refusals and foreign hosts are none."""

from __future__ import annotations

import logging

import pytest
from django.db import OperationalError
from django.test import Client

from infrastructure import cache
from infrastructure.logging import Outage
from infrastructure.outage_filter import OutageFilter
from infrastructure.postgresql import silence
from tests.factories import Member


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(silence, "outage", Outage("PostgreSQL"))
    monkeypatch.setattr(cache, "outage", Outage("Redis"))


def test_an_outage_is_a_line_when_it_begins_and_one_when_it_ends(caplog: pytest.LogCaptureFixture) -> None:
    outage = Outage("PostgreSQL")
    outage.end()
    for _ in range(5):
        outage.begin("connection refused\n\tIs the server running?")
    outage.end()
    outage.end()
    assert [(each.levelname, each.getMessage()) for each in caplog.records] == [
        ("ERROR", "PostgreSQL does not answer: connection refused Is the server running?"),
        ("WARNING", "PostgreSQL answers again"),
    ]


def test_a_foreign_host_is_no_error_of_ours(caplog: pytest.LogCaptureFixture) -> None:
    assert Client(headers={"Host": "evil.example.org"}).get("/").status_code == 400
    assert caplog.text == ""


@pytest.fixture
def without_database(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OperationalError("the server does not answer")

    monkeypatch.setattr("accounts.authentication.fetch", fail, raising=False)
    monkeypatch.setattr("django.db.models.query.QuerySet._fetch_all", fail)


def test_a_request_that_gets_a_503_is_no_line_of_its_own(
    home: Member, without_database: None, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(3):
        assert home.api.get("/v1/usage").status_code == 503
    assert [each.getMessage() for each in caplog.records] == ["PostgreSQL does not answer: the server does not answer"]


def test_a_page_gets_a_503_too(db: None, without_database: None, caplog: pytest.LogCaptureFixture) -> None:
    response = Client(raise_request_exception=False).post("/login/", {"login": "a@b.test", "password": "x"})
    assert (response.status_code, response["Retry-After"]) == (503, "5")
    assert "Traceback" not in caplog.text


@pytest.mark.parametrize(
    ("name", "message", "begins"),
    [
        ("celery.worker.consumer.consumer", "consumer: Cannot connect to %s: %s.\n%s\n", True),
        ("celery.worker.consumer.consumer", "consumer: Connection to broker lost. Trying to re-establish", True),
        ("celery.worker.request", "Couldn't ack %r, reason:%r", True),
        ("celery.beat", "beat: Connection error: %s. Trying again in %s seconds...", True),
        ("celery.worker.consumer.consumer", "Received and deleted unknown message.", False),
        ("celery.beat", "beat: Starting...", False),
    ],
)
def test_celerys_tries_are_one_line(name: str, message: str, begins: bool, caplog: pytest.LogCaptureFixture) -> None:
    known = OutageFilter()
    arguments = ("there",) * message.count("%")
    record = logging.LogRecord(name, logging.ERROR, "", 0, message, arguments, None)
    assert [known.filter(record) for _ in range(3)] == [not begins] * 3
    assert caplog.text.count("Redis does not answer") == begins
    connected = logging.LogRecord(
        "celery.worker.consumer.connection", logging.INFO, "", 0, "Connected to %s", ("x",), None
    )
    assert not known.filter(connected)
    assert caplog.text.count("Redis answers again") == begins
