"""Fixtures and hooks for all tests."""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import math
import os
import sys
import threading
import zlib
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from ipaddress import ip_network
from pathlib import Path
from typing import TYPE_CHECKING, Any

import django_ratelimit.core
import hypothesis
import psutil
import pytest
from _pytest.runner import runtestprotocol
from django.conf import settings
from django.core.cache import cache
from django.db import connection
from django.test import TestCase, TransactionTestCase, override_settings
from pytest_django import DjangoDbBlocker

from infrastructure import leases, maintenance
from infrastructure.api import throttling
from infrastructure.frame_stack import call_with_room
from infrastructure.telemetry import counters
from scans.visits import serving
from tests import database_template
from tests.distribution import empties_database
from tests.factories import Member, listening, member_of

# jsonschema would compile grammars of this package for seconds, only to check the format “iri”, which no schema has.
sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]  # documented for modules that cannot be imported

if TYPE_CHECKING:
    from tests.e2e.pages import Window

MAX_ID = 80

# Busy machines would miss a deadline of Hypothesis examples.
hypothesis.settings.register_profile(
    "steady", hypothesis.settings.default, deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
# `make mutants` repeats the tests, so examples are few, fixed and not shrunk.
hypothesis.settings.register_profile(
    "mutants",
    hypothesis.settings.get_profile("steady"),
    derandomize=True,
    max_examples=30,
    phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
)
hypothesis.settings.load_profile("steady")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Freeze the collected tests, so that the garbage collector skips them.

    The tests stay in memory.
    """
    gc.disable()
    try:
        import_share_of_tests()
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(20_000)  # Collecting the little garbage of tests took 5 % of the time.
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    """Run the test as pytest does, but with room for its frames."""
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    call_with_room(runtestprotocol, item, nextitem=nextitem)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """Collect garbage after each slow test.

    An unclosed socket or file then fails the test that opened it.
    """
    try:
        return (yield)
    finally:
        if item.get_closest_marker("fast") is None:
            gc.collect()


def import_share_of_tests() -> None:
    """Import the test files in another order in each pytest-xdist process.

    All processes import all tests. Rewriting the asserts takes longest, and its result is cached for the other
    processes.
    """
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is None or sys.dont_write_bytecode:
        return
    root = Path(__file__).parent
    files = sorted(root.rglob("test_*.py"))
    for file in files[int(worker.removeprefix("gw")) :: int(os.environ["PYTEST_XDIST_WORKER_COUNT"])]:
        with contextlib.suppress(Exception):  # pytest imports the file again and reports the error.
            importlib.import_module(".".join(file.relative_to(root.parent).with_suffix("").parts))


@pytest.fixture(autouse=True)
def _empty_redis(request: pytest.FixtureRequest) -> None:
    """Empty Redis before each test with a database."""
    if {"db", "transactional_db"} & set(request.fixturenames):
        cache.clear()
        throttling._paused_until[0] = 0
        serving._next_refresh.clear()


@pytest.fixture(autouse=True)
def _no_early_renewal(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Renew leases only when they are due in tests whose transaction other connections do not see.

    On a busy machine, a scan would otherwise renew its claim after a second, not find its own row, and end.
    """
    if "db" in request.fixturenames and not empties_database(request.node):
        monkeypatch.setattr(leases.Renewal, "hasten", lambda _: None)


@pytest.fixture(autouse=True, scope="session")
def _no_maintenance_query() -> Iterator[None]:
    """Disable the query for the maintenance switch.

    The number of queries would depend on the clock.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(maintenance, "_switch", maintenance._Switch(lambda: None, next_ask=math.inf))
        yield


@pytest.fixture(autouse=True, scope="session")
def _endless_rate_limit_windows() -> Iterator[None]:
    """Make rate limit windows endless.

    No test depends on the end of a minute.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(django_ratelimit.core, "_get_window", lambda value, period: 2**31)
        yield


@pytest.fixture(autouse=True, scope="session")
def _no_periodic_counter_flush() -> Iterator[None]:
    """Disable the periodic transfer of counters.

    Tests call it explicitly.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counters, "FLUSH_EVERY_S", threading.TIMEOUT_MAX)
        yield


class _ConnectionClosingExecutor(ThreadPoolExecutor):
    """Executor whose threads close their database connections.

    They do so after each task.
    """

    def submit(self, work: Callable[[], Any]) -> Future[Any]:  # type: ignore[override]  # All that `leases` needs.
        def run_and_close() -> None:
            try:
                work()
            finally:
                connection.close()

        return super().submit(run_and_close)


@pytest.fixture(autouse=True, scope="session")
def _no_idle_connections() -> Iterator[None]:
    """Close the connections of lease renewals at once.

    A database with connections cannot be dropped.
    """
    with pytest.MonkeyPatch.context() as patch, _ConnectionClosingExecutor() as threads:
        patch.setattr(leases, "_threads", threads)
        yield


@pytest.fixture(autouse=True, scope="session")
def _test_settings() -> Iterator[None]:
    """Use static files without a manifest, and a fast password hash.

    Tests do not collect static files, so there is no manifest.
    """
    backend = "django.contrib.staticfiles.storage.StaticFilesStorage"
    with override_settings(
        STORAGES=settings.STORAGES | {"staticfiles": {"BACKEND": backend}},
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
        ACCESS_LOG=False,
    ):
        yield


@pytest.fixture(autouse=True, scope="session")
def _constant_network_interfaces() -> Iterator[None]:
    """Read the addresses of the machine's network interfaces once.

    Tests scan servers by their address, and each of these URLs is compared with the machine's own addresses.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(psutil, "net_if_addrs", functools.cache(psutil.net_if_addrs))
        yield


@pytest.fixture(autouse=True, scope="session")
def _single_database_connection() -> Iterator[None]:
    """Use one connection for all tests.

    Django would reconnect after each test class.
    """

    def end(cls: Any) -> None:  # The type stubs of TestCase lack these attributes.
        cls._rollback_atomics(cls.cls_atomics)
        super(TestCase, cls).tearDownClass()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TestCase, "tearDownClass", classmethod(end))
        yield


@pytest.fixture(autouse=True, scope="session")
def _rows_of_migrations() -> Iterator[None]:
    """Restore the rows of migrations, such as the plan tiers, after a test that empties the database.

    Django restores them only before the next test that empties it. Another test may run in between: pytest-xdist
    repeats the tests of a crashed process after all others.
    """
    empty = TransactionTestCase._fixture_teardown  # type: ignore[attr-defined]

    def empty_and_restore(case: Any) -> None:
        case.serialized_rollback = True  # Otherwise, the restored rows would conflict with those of `post_migrate`.
        empty(case)
        connection.creation.deserialize_db_from_string(connection._test_serialized_contents)  # type: ignore[attr-defined]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", empty_and_restore)
        yield


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None, django_db_blocker: DjangoDbBlocker
) -> None:
    """Migrate once for all processes of a run.

    pytest-django calls this hook before it creates a database.
    """
    with django_db_blocker.unblock():
        database_template.use_template()


@pytest.fixture(scope="session")
def browser() -> Iterator[Window]:
    """Chromium for all tests of a process.

    A test that needs isolation opens its own context.
    """
    from tests.e2e.pages import window  # Playwright is imported only if a test uses the browser.

    with window() as running:
        yield running


@pytest.fixture
def home(db: None) -> Member:
    """Organization that most tests use."""
    return member_of("Home")


@pytest.fixture
def stranger(db: None) -> Member:
    """Another organization, which must never see data of `home`."""
    return member_of("Stranger")


@pytest.fixture
def target() -> Iterator[str]:
    """URL of a server that accepts connections and may be scanned."""
    loopback = (ip_network("127.0.0.0/8"), ip_network("::1/128"))
    with override_settings(SCAN_ALLOWED_NETWORKS=loopback), listening() as port:
        yield f"http://127.0.0.1:{port}/"


def pytest_make_parametrize_id(val: object) -> str | None:
    """Shorten long test IDs.

    They are passed between processes and in environment variables.
    """
    if isinstance(val, str | bytes) and len(val) > MAX_ID:
        data = val.encode(errors="backslashreplace") if isinstance(val, str) else val
        return f"{zlib.crc32(data):08x}-{len(val)}"
    return None
