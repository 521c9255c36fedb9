"""Detection of a hanging PostgreSQL server: nobody waits for it, unlike for a slow one."""

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
from infrastructure.postgresql import base, driver, silence
from infrastructure.postgresql.base import DatabaseWrapper
from operations.stack import embedded
from tests.operations.stack.processes import wait_until

ANSWERED_WITHIN_S = 5.0
FAST_S = 1.0


class OwnServer:
    """PostgreSQL server of this test, which can be frozen: SIGSTOP reaches the postmaster before its children."""

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
        return [postmaster, *(each.pid for each in psutil.Process(postmaster).children())]

    def send(self, number: signal.Signals) -> None:
        for pid in self._processes():
            with contextlib.suppress(ProcessLookupError):  # a backend whose client has gone ends as it is continued
                os.kill(pid, number)

    @contextlib.contextmanager
    def frozen(self) -> Iterator[None]:
        self.send(signal.SIGSTOP)
        try:
            yield
        finally:
            self.send(signal.SIGCONT)


@pytest.fixture(scope="module")
def own(django_db_setup: None, django_db_blocker: Any) -> Iterator[OwnServer]:
    with django_db_blocker.unblock(), tempfile.TemporaryDirectory(prefix="wss-silence-") as folder:
        Path(folder).chmod(0o755)  # if the tests run as root, the server runs as another user
        with embedded.stack(Path(folder), redis=False, durable=False) as stack:
            yield OwnServer(stack.env["DATABASE_URL"], Path(folder))


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> silence.Server:
    """Replace the server's state by that of a process that has just started."""
    fresh = silence.Server()
    for module in (silence, driver, base):
        monkeypatch.setattr(module, "server", fresh)
    monkeypatch.setattr(silence, "outage", Outage("PostgreSQL"))
    return fresh


def ask(wrapper: DatabaseWrapper, sql: str = "SELECT 1") -> Any:
    """Run a query like a request: afterwards, a connection that has failed is closed."""
    try:
        with wrapper.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchone()
    finally:
        wrapper.close_if_unusable_or_obsolete()


def refused(wrapper: DatabaseWrapper) -> float:
    """Run a query that must fail, and return the seconds until it did."""
    begun = time.monotonic()
    with pytest.raises(OperationalError):
        ask(wrapper)
    return time.monotonic() - begun


def test_nobody_waits_for_a_server_that_hangs_and_it_is_used_again_when_it_goes_on(
    own: OwnServer, caplog: pytest.LogCaptureFixture
) -> None:
    open_before, idle, new = own.connect(), own.connect(), own.connect()
    assert ask(open_before) == ask(idle) == (1,)
    with own.frozen():
        assert refused(open_before) < ANSWERED_WITHIN_S
        # After one connection has found out, the others fail sooner, whether they are open or new.
        assert refused(idle) < silence.PROBE_TIMEOUT_S + FAST_S
        assert refused(new) < silence.PROBE_TIMEOUT_S + FAST_S
    wait_until(lambda: not _fails(open_before), 30)
    assert ask(idle) == ask(new) == (1,)
    lines = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert lines == [
        "PostgreSQL does not answer: it takes a connection, and says nothing",
        "PostgreSQL answers again",
    ]
    for wrapper in (open_before, idle, new):
        wrapper.close()


def _fails(wrapper: DatabaseWrapper) -> bool:
    try:
        ask(wrapper)
    except OperationalError:
        return True
    return False


def test_many_at_once_all_get_their_refusal_in_time(own: OwnServer) -> None:
    wrappers = [own.connect() for _ in range(16)]
    for wrapper in wrappers:
        ask(wrapper)
    took: list[float] = []
    with own.frozen():
        threads = [threading.Thread(target=lambda each=wrapper: took.append(refused(each))) for wrapper in wrappers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(took) == 16
    assert max(took) < ANSWERED_WITHIN_S
    for wrapper in wrappers:
        wrapper.close()


def test_a_new_connection_is_given_up_in_time_too(own: OwnServer) -> None:
    before, first, second = own.connect(), own.connect(), own.connect()
    ask(before)
    with own.frozen():
        assert refused(first) < ANSWERED_WITHIN_S
        assert refused(second) < silence.PROBE_TIMEOUT_S + FAST_S
    for wrapper in (before, first, second):
        wrapper.close()


def test_a_process_that_never_was_connected_has_one_thread_try_and_spares_the_others(own: OwnServer) -> None:
    first, *others = (own.connect() for _ in range(4))
    with own.frozen():
        assert refused(first) < ANSWERED_WITHIN_S
        begun = time.monotonic()
        took = [refused(each) for each in others]
        assert time.monotonic() - begun < silence.PAUSE_S + ANSWERED_WITHIN_S, took
    wait_until(lambda: not _fails(first), 30)
    for wrapper in (first, *others):
        wrapper.close()


def test_a_slow_query_is_waited_for(own: OwnServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "PATIENCE_S", 0.2)
    wrapper = own.connect()
    assert ask(wrapper, "SELECT 1 FROM pg_sleep(1)") == (1,)
    wrapper.close()


def test_a_transaction_ends_with_its_server(own: OwnServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "PATIENCE_S", 0.2)
    wrapper = own.connect()
    monkeypatch.setattr(transaction, "get_connection", lambda using=None: wrapper)
    ask(wrapper)
    with own.frozen(), pytest.raises(OperationalError), transaction.atomic(), wrapper.cursor() as cursor:
        cursor.execute("SELECT 1")
    assert wrapper.connection is None
    wait_until(lambda: not _fails(wrapper), 30)
    wrapper.close()


def test_errors_are_still_told_apart(own: OwnServer) -> None:
    wrapper = own.connect()
    with pytest.raises(OperationalError) as canceled:
        ask(wrapper, "SET statement_timeout = 50; SELECT pg_sleep(5)")
    assert isinstance(canceled.value.__cause__, psycopg.errors.QueryCanceled)
    wrapper.close()
