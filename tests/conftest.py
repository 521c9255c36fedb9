"""Fixtures and hooks for all tests."""

from __future__ import annotations

import contextlib
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
import pytest
from django.conf import settings
from django.core.cache import cache
from django.db import connection
from django.test import TestCase, override_settings
from pytest_django import DjangoDbBlocker

from infrastructure import leases, maintenance
from infrastructure.api import throttling
from infrastructure.telemetry import counters
from tests import database_template
from tests.factories import Member, listening, member_of

if TYPE_CHECKING:
    from tests.e2e.pages import Window

MAX_ID = 80

# Examples have no deadline, because a test must not fail on a busy machine.
hypothesis.settings.register_profile(
    "steady", hypothesis.settings.default, deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
# For `make mutants`: few examples, the same for every mutant and never shrunk, because each mutant runs the tests
# again.
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
    """Freeze the objects of collected tests, which stay in memory anyway, so that the garbage collector skips them."""
    gc.disable()
    try:
        import_a_share()
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(20_000)  # Tests leave little garbage, and collections took a twentieth of the time.
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """Collect garbage after each slow test, so that an unclosed socket or file fails the test that opened it."""
    try:
        return (yield)
    finally:
        if item.get_closest_marker("fast") is None:
            gc.collect()


def import_a_share() -> None:
    """Under xdist, import another share of the tests first in each process.

    All processes import all tests. Rewriting the asserts takes longest, and its result is cached for the other
    processes.
    """
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is None or sys.dont_write_bytecode:
        return
    root = Path(__file__).parent
    files = sorted(root.rglob("test_*.py"))
    for file in files[int(worker.removeprefix("gw")) :: int(os.environ["PYTEST_XDIST_WORKER_COUNT"])]:
        with contextlib.suppress(Exception):  # pytest itself imports the file again, and reports the error.
            importlib.import_module(".".join(file.relative_to(root.parent).with_suffix("").parts))


@pytest.fixture(autouse=True)
def _fresh_counters(request: pytest.FixtureRequest) -> None:
    """Empty Redis before each test that uses the database."""
    if {"db", "transactional_db"} & set(request.fixturenames):
        cache.clear()
        throttling._paused_until[0] = 0


@pytest.fixture(autouse=True, scope="session")
def _no_maintenance() -> Iterator[None]:
    """Disable the query for the maintenance switch, so that the number of queries does not depend on the clock."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(maintenance, "_switch", maintenance._Switch(lambda: None, next_ask=math.inf))
        yield


@pytest.fixture(autouse=True, scope="session")
def _windows_without_end() -> Iterator[None]:
    """Make the windows of rate limits endless, so that no test depends on the end of a minute."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(django_ratelimit.core, "_get_window", lambda value, period: 2**31)
        yield


@pytest.fixture(autouse=True, scope="session")
def _no_handing_over() -> Iterator[None]:
    """Disable the periodic transfer of counters, so that no test depends on the clock. Tests call it explicitly."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counters, "FLUSH_EVERY_S", threading.TIMEOUT_MAX)
        yield


class _Closing(ThreadPoolExecutor):
    """Executor whose threads close their database connection after each task."""

    def submit(self, work: Callable[[], Any]) -> Future[Any]:  # type: ignore[override]  # All that `leases` needs.
        def closing() -> None:
            try:
                work()
            finally:
                connection.close()

        return super().submit(closing)


@pytest.fixture(autouse=True, scope="session")
def _no_idle_connections() -> Iterator[None]:
    """Close the connections of lease renewals at once, because a database with connections cannot be dropped."""
    with pytest.MonkeyPatch.context() as patch, _Closing() as threads:
        patch.setattr(leases, "_threads", threads)
        yield


@pytest.fixture(autouse=True, scope="session")
def _settings_of_tests() -> Iterator[None]:
    """Use static files without a manifest, because tests collect none, and a fast hash for the passwords of tests."""
    backend = "django.contrib.staticfiles.storage.StaticFilesStorage"
    with override_settings(
        STORAGES=settings.STORAGES | {"staticfiles": {"BACKEND": backend}},
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
        ACCESS_LOG=False,
    ):
        yield


@pytest.fixture(autouse=True, scope="session")
def _one_connection() -> Iterator[None]:
    """Use one connection for all tests. Django would reconnect after each test class, which here is each test."""

    def end(cls: Any) -> None:  # The stubs of TestCase lack these attributes.
        cls._rollback_atomics(cls.cls_atomics)
        super(TestCase, cls).tearDownClass()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TestCase, "tearDownClass", classmethod(end))
        yield


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None, django_db_blocker: DjangoDbBlocker
) -> None:
    """Migrate once for all processes of a run. This is pytest-django's hook before the creation of a database."""
    with django_db_blocker.unblock():
        database_template.use_template()


@pytest.fixture(scope="session")
def browser() -> Iterator[Window]:
    """One Chromium for all tests of a process. A test that needs isolation opens its own context."""
    from tests.e2e.pages import window  # Playwright is imported only if it is used.

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
    """Shorten long parameters in test IDs, because IDs are passed to other processes and in environment variables."""
    if isinstance(val, str | bytes) and len(val) > MAX_ID:
        data = val.encode(errors="backslashreplace") if isinstance(val, str) else val
        return f"{zlib.crc32(data):08x}-{len(val)}"
    return None
