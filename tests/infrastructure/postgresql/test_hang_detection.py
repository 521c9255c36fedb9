"""Tests that queries on a hanging PostgreSQL server fail fast."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import environ
import psutil
import psycopg
import pytest
from django.db import OperationalError, transaction

from infrastructure.logging import Outage
from infrastructure.postgresql import base, driver, hang_detection
from infrastructure.postgresql.base import DatabaseWrapper
from operations.stack import embedded
from tests.operations.stack.processes import wait_until

MAX_RESPONSE_S = 5.0
MAX_FAST_RESPONSE_S = 1.0


class OwnServer:
    """PostgreSQL server that a test can freeze.

    The postmaster gets SIGSTOP before its children.
    """

    def __init__(self, url: str, data_dir: Path) -> None:
        self.data_dir = data_dir
        self.settings = {
            **environ.Env.db_url_config(url),
            "OPTIONS": {"connect_timeout": 3, "prepare_threshold": 5},
            "TIME_ZONE": None, "CONN_MAX_AGE": None, "CONN_HEALTH_CHECKS": True, "AUTOCOMMIT": True,
            "ATOMIC_REQUESTS": False, "TEST": {},
        }  # fmt: skip

    def connect(self) -> DatabaseWrapper:
        wrapper = DatabaseWrapper(self.settings, "default")
        wrapper.inc_thread_sharing()
        return wrapper

    def _processes(self) -> list[int]:
        postmaster = int((self.data_dir / "postgres" / "postmaster.pid").read_text().split()[0])
        return [postmaster, *(child.pid for child in psutil.Process(postmaster).children())]

    def send(self, number: signal.Signals) -> None:
        for pid in self._processes():
            with contextlib.suppress(ProcessLookupError):  # A backend process without a client exits when it resumes.
                os.kill(pid, number)

    @contextlib.contextmanager
    def frozen_server(self) -> Iterator[None]:
        self.send(signal.SIGSTOP)
        try:
            yield
        finally:
            self.send(signal.SIGCONT)


@pytest.fixture(scope="module")
def server(django_db_setup: None, django_db_blocker: Any) -> Iterator[OwnServer]:
    with django_db_blocker.unblock(), tempfile.TemporaryDirectory(prefix="wss-silence-") as folder:
        Path(folder).chmod(0o755)  # PostgreSQL refuses to run as root.
        with embedded.stack(Path(folder), redis=False, durable=False) as stack:
            yield OwnServer(stack.env["DATABASE_URL"], Path(folder))


@pytest.fixture(autouse=True)
def fresh_server_state(monkeypatch: pytest.MonkeyPatch) -> hang_detection.Server:
    """Reset the server's state to that of a new process."""
    fresh = hang_detection.Server()
    for module in (hang_detection, driver, base):
        monkeypatch.setattr(module, "server", fresh)
    monkeypatch.setattr(hang_detection, "outage", Outage("PostgreSQL"))
    return fresh


def query(wrapper: DatabaseWrapper, sql: str = "SELECT 1") -> Any:
    """Run a query and close a failed connection, as after a request."""
    try:
        with wrapper.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchone()
    finally:
        wrapper.close_if_unusable_or_obsolete()


def seconds_until_failure(wrapper: DatabaseWrapper) -> float:
    """Return the seconds until a query failed.

    The query must fail.
    """
    began = time.monotonic()
    with pytest.raises(OperationalError):
        query(wrapper)
    return time.monotonic() - began


def test_queries_fail_fast_on_hanging_server(server: OwnServer, caplog: pytest.LogCaptureFixture) -> None:
    open_connection, idle, new = server.connect(), server.connect(), server.connect()
    assert query(open_connection) == query(idle) == (1,)
    with server.frozen_server():
        assert seconds_until_failure(open_connection) < MAX_RESPONSE_S
        # Connections fail faster after one of them has detected the outage.
        assert seconds_until_failure(idle) < hang_detection.PROBE_TIMEOUT_S + MAX_FAST_RESPONSE_S
        assert seconds_until_failure(new) < hang_detection.PROBE_TIMEOUT_S + MAX_FAST_RESPONSE_S
    wait_until(lambda: not _fails(open_connection), 30)
    assert query(idle) == query(new) == (1,)
    lines = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert lines == [
        "PostgreSQL does not answer: it accepts a connection, but does not respond",
        "PostgreSQL answers again",
    ]
    for wrapper in (open_connection, idle, new):
        wrapper.close()


def _fails(wrapper: DatabaseWrapper) -> bool:
    try:
        query(wrapper)
    except OperationalError:
        return True
    return False


def test_concurrent_queries_fail_fast(server: OwnServer) -> None:
    wrappers = [server.connect() for _ in range(16)]
    for wrapper in wrappers:
        query(wrapper)
    durations_s: list[float] = []

    def fail(wrapper: DatabaseWrapper) -> None:
        durations_s.append(seconds_until_failure(wrapper))

    with server.frozen_server():
        threads = [threading.Thread(target=fail, args=[wrapper]) for wrapper in wrappers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(durations_s) == 16
    assert max(durations_s) < MAX_RESPONSE_S
    for wrapper in wrappers:
        wrapper.close()


def test_new_connections_fail_fast(server: OwnServer) -> None:
    before, first, second = server.connect(), server.connect(), server.connect()
    query(before)
    with server.frozen_server():
        assert seconds_until_failure(first) < MAX_RESPONSE_S
        assert seconds_until_failure(second) < hang_detection.PROBE_TIMEOUT_S + MAX_FAST_RESPONSE_S
    for wrapper in (before, first, second):
        wrapper.close()


def test_only_the_first_connection_waits(server: OwnServer) -> None:
    first, *others = (server.connect() for _ in range(4))
    with server.frozen_server():
        assert seconds_until_failure(first) < MAX_RESPONSE_S
        began = time.monotonic()
        durations_s = [seconds_until_failure(wrapper) for wrapper in others]
        assert time.monotonic() - began < hang_detection.PAUSE_S + MAX_RESPONSE_S, durations_s
    wait_until(lambda: not _fails(first), 30)
    for wrapper in (first, *others):
        wrapper.close()


def test_slow_query_is_not_a_hanging_server(server: OwnServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "PATIENCE_S", 0.2)
    wrapper = server.connect()
    assert query(wrapper, "SELECT 1 FROM pg_sleep(1)") == (1,)
    wrapper.close()


def test_transaction_on_hanging_server_raises(server: OwnServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "PATIENCE_S", 0.2)
    wrapper = server.connect()
    monkeypatch.setattr(transaction, "get_connection", lambda using=None: wrapper)
    query(wrapper)
    with server.frozen_server(), pytest.raises(OperationalError), transaction.atomic(), wrapper.cursor() as cursor:
        cursor.execute("SELECT 1")
    assert wrapper.connection is None
    wait_until(lambda: not _fails(wrapper), 30)
    wrapper.close()


def test_canceled_query_raises_QueryCanceled(server: OwnServer) -> None:
    wrapper = server.connect()
    with pytest.raises(OperationalError) as canceled:
        query(wrapper, "SET statement_timeout = 50; SELECT pg_sleep(5)")
    assert isinstance(canceled.value.__cause__, psycopg.errors.QueryCanceled)
    wrapper.close()
