"""Fixtures for every test."""

from __future__ import annotations

import contextlib
import gc
import importlib
import math
import os
import sys
import threading
import zlib
from collections.abc import Generator, Iterator
from ipaddress import ip_network
from pathlib import Path
from typing import TYPE_CHECKING

import django_ratelimit.core
import hypothesis
import pytest
from django.conf import settings
from django.core.cache import cache
from django.test import TestCase, override_settings
from pytest_django import DjangoDbBlocker

from infrastructure import maintenance
from infrastructure.api import throttling
from infrastructure.telemetry import counters
from tests import template
from tests.world import Member, listening, member_of

if TYPE_CHECKING:
    from tests.e2e.pages import Window

MAX_ID = 80

# How busy the machine is at this moment is nothing that a test may fail for.
hypothesis.settings.register_profile(
    "steady", hypothesis.settings.default, deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("steady")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Thousands of tests stay in memory until the end: no need to look for garbage among them."""
    gc.disable()
    try:
        import_a_share()
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(20_000)  # tests leave little garbage, and looking for it took a twentieth of their time
        gc.enable()


def import_a_share() -> None:
    """Under xdist, import other tests first than the other processes do.

    All of them import all tests, and what takes longest is rewriting their asserts, which the next process finds done.
    """
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is None or sys.dont_write_bytecode:
        return
    root = Path(__file__).parent
    files = sorted(root.rglob("test_*.py"))
    for file in files[int(worker.removeprefix("gw")) :: int(os.environ["PYTEST_XDIST_WORKER_COUNT"])]:
        with contextlib.suppress(Exception):  # pytest itself imports it again, and tells of it
            importlib.import_module(".".join(file.relative_to(root.parent).with_suffix("").parts))


@pytest.fixture(autouse=True)
def _fresh_counters(request: pytest.FixtureRequest) -> None:
    """Every test that uses the database begins with an empty Redis."""
    if {"db", "transactional_db"} & set(request.fixturenames):
        cache.clear()
        throttling._paused_until[0] = 0


@pytest.fixture(autouse=True, scope="session")
def _no_maintenance() -> Iterator[None]:
    """The switch is not asked for, so that no test's queries depend on the clock."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(maintenance, "_switch", maintenance._Switch(lambda: None, next_ask=math.inf))
        yield


@pytest.fixture(autouse=True, scope="session")
def _windows_without_end() -> Iterator[None]:
    """What is counted for a minute is counted to the end of a test, so that none depends on where the minute ends."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(django_ratelimit.core, "_get_window", lambda value, period: 2**31)
        yield


@pytest.fixture(autouse=True, scope="session")
def _no_handing_over() -> Iterator[None]:
    """What is counted is handed over when a test asks for it, so that none depends on the clock."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counters, "HAND_OVER_EVERY_S", threading.TIMEOUT_MAX)
        yield


@pytest.fixture(autouse=True, scope="session")
def _settings_of_tests() -> Iterator[None]:
    """Tests collect no static files, so there is no manifest for their names; none of their passwords is precious."""
    backend = "django.contrib.staticfiles.storage.StaticFilesStorage"
    with override_settings(
        STORAGES=settings.STORAGES | {"staticfiles": {"BACKEND": backend}},
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
        ACCESS_LOG=False,
    ):
        yield


@pytest.fixture(autouse=True, scope="session")
def _one_connection() -> Iterator[None]:
    """Django connects anew for each class of tests, which each of ours is to it: one connection serves them all."""

    def end(cls: type[TestCase]) -> None:
        cls._rollback_atomics(cls.cls_atomics)
        super(TestCase, cls).tearDownClass()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TestCase, "tearDownClass", classmethod(end))
        yield


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None, django_db_blocker: DjangoDbBlocker
) -> None:
    """Under xdist, migrate once for all processes (pytest-django's hook before it creates a database)."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        with django_db_blocker.unblock():
            template.use_template()


@pytest.fixture(scope="session")
def browser() -> Iterator[Window]:
    """One Chromium for all tests of a process; what must not meet others opens a context of its own."""
    from tests.e2e.pages import window  # Playwright is imported where it is used

    with window() as running:
        yield running


@pytest.fixture
def home(db: None) -> Member:
    """The organization that most tests look at."""
    return member_of("Home")


@pytest.fixture
def stranger(db: None) -> Member:
    """Another organization, which must never see anything of home."""
    return member_of("Stranger")


@pytest.fixture
def target() -> Iterator[str]:
    """The URL of something that accepts connections and may be scanned."""
    loopback = (ip_network("127.0.0.0/8"), ip_network("::1/128"))
    with override_settings(SCAN_ALLOWED_NETWORKS=loopback), listening() as port:
        yield f"http://127.0.0.1:{port}/"


def pytest_make_parametrize_id(val: object) -> str | None:
    """Short names for long texts: a test's name goes through the environment, to other processes and into memory."""
    if isinstance(val, str | bytes) and len(val) > MAX_ID:
        data = val.encode(errors="backslashreplace") if isinstance(val, str) else val
        return f"{zlib.crc32(data):08x}-{len(val)}"
    return None
