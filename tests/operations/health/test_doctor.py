"""Tests that `manage.py doctor` reports faults with remedies."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import redis
from django.conf import settings as django_settings
from django.core.cache import cache
from django.core.management import call_command
from django.db import OperationalError, connection
from django.utils import timezone
from psycopg.errors import DiskFull
from pytest_django import Settings

from infrastructure import encryption, periodic
from operations.health import diagnosis, state
from operations.scheduler import LEASE_KEY
from tests.factories import Member, finished_scan
from tests.targets.mail_server import MailServer
from tests.targets.server import Answer, Certificate, Site
from webhooks.models import Webhook

QUEUES_BY_WORKER = {"celery@one": ["scans", "maintenance"], "browser@one": ["browser"], "webhooks@one": ["webhooks"]}


@pytest.fixture(autouse=True)
def working_installation(
    db: None, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> Iterator[dict[str, list[str]]]:
    """Simulate a healthy installation.

    Yields the queues by worker, which a test may edit.
    """
    queues_by_worker = dict(QUEUES_BY_WORKER)
    monkeypatch.setattr(state, "_ping_workers", lambda: queues_by_worker)
    monkeypatch.setattr(diagnosis, "browser_program", lambda: None)
    cache.clear()
    periodic.beat()
    with (
        Site({"/healthz": Answer('{"status": "ok"}')}) as site,
        MailServer() as mail,
        redis.Redis.from_url(django_settings.REDIS_URL) as client,
    ):
        client.set(LEASE_KEY, "host:1", ex=60)
        settings.BASE_URL = site.url
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", mail.port
        settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
        settings.EMAIL_HOST_USER = settings.EMAIL_HOST_PASSWORD = ""
        yield queues_by_worker
        client.delete(LEASE_KEY)


def store_secret(home: Member) -> None:
    """Store a webhook with an encrypted secret."""
    Webhook.objects.create(
        organization=home.organization,
        url="https://receiver.example/",
        receiver="receiver.example:443",
        events=["scan.completed"],
        encrypted_secret=encryption.encrypt("whsec_x"),
    )


def doctor_output() -> str:
    """Run `manage.py doctor` and return its output as one line."""
    output = StringIO()
    with contextlib.suppress(SystemExit):
        call_command("doctor", stdout=output)
        assert "Everything works." in output.getvalue()
    return " ".join(output.getvalue().split())


def test_doctor_accepts_working_installation(home: Member) -> None:
    store_secret(home)
    text = doctor_output()
    assert "!!" not in text
    for line in (
        "PostgreSQL version 1",
        "1 newest stored secrets can be decrypted",
        "Queue browser served by browser@one",
    ):
        assert line in text
    assert "Everything works." in text


def test_doctor_reports_undecryptable_secrets(home: Member, settings: Settings, tmp_path: Path) -> None:
    store_secret(home)
    # The command collects static files. In the usual folder, each client of later tests would read all of them.
    settings.STATIC_ROOT = tmp_path / "static"
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "another-" * 5, []
    text = doctor_output()
    assert "!! Keys 1 of the 1 newest stored secrets cannot be decrypted" in text
    assert "Add the former key to SECRET_KEY_FALLBACKS" in text
    errors = StringIO()
    call_command("prepare", stdout=StringIO(), stderr=errors)
    assert "1 of the 1 newest secrets in the database are encrypted with a key that is not set" in errors.getvalue()
    assert "SECRET_KEY_FALLBACKS" in errors.getvalue()


def test_doctor_exits_with_status_1(settings: Settings) -> None:
    settings.EMAIL_PORT = 1
    settings.LOG_FORMAT = "xml"
    output = StringIO()
    with pytest.raises(SystemExit) as exit_info:
        call_command("doctor", stdout=output)
    assert exit_info.value.code == 1
    assert output.getvalue().endswith("\n2 problems.\n")


def raising_function(error: Exception) -> Callable[..., Any]:
    def refuse(execute: Callable[..., Any], *_: Any) -> Any:
        raise OperationalError(str(error)) from error

    return refuse


def test_doctor_reports_database_outage(monkeypatch: pytest.MonkeyPatch) -> None:
    def fetch(*_: object) -> None:
        raise OperationalError("connection refused\nIs the server running?")

    monkeypatch.setattr(diagnosis, "fetch", fetch)
    text = doctor_output()
    assert "!! PostgreSQL does not answer (connection refused)" in text
    assert "correct host, port and password in DATABASE_URL" in text
    assert "ok Redis" in text, "the other parts are diagnosed nevertheless"


def test_doctor_reports_full_disks(monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage("/")._replace(free=50 * 1024**2)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    with connection.execute_wrapper(raising_function(DiskFull("No space left on device"))):
        text = doctor_output()
    assert "!! Disk 50 MiB are free where DATA_DIR is" in text
    assert "Free at least 1 GiB" in text
    assert "!! PostgreSQL its disk is full → Free space on it" in text


@pytest.mark.parametrize(("offset_s", "expected"), [(-300, "is 300 s behind that of"), (300, "is 300 s ahead of")])
def test_doctor_reports_a_wrong_clock(offset_s: int, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    now = timezone.now
    monkeypatch.setattr(timezone, "now", lambda: now() + timedelta(seconds=offset_s))
    text = doctor_output()
    assert expected in text
    assert "Let both machines synchronize their time" in text


def test_doctor_reports_clock_before_newest_scan(home: Member) -> None:
    finished_scan(home, age=timedelta(days=-1))
    text = doctor_output()
    assert "and the newest scan is of" in text
    assert "Let the machine synchronize its time." in text


def test_doctor_accepts_a_scan_created_just_now(home: Member) -> None:
    finished_scan(home)
    assert "newest scan" not in doctor_output()


def test_doctor_reports_unreachable_mail_server(settings: Settings) -> None:
    settings.EMAIL_PORT = 1
    text = doctor_output()
    assert "!! Mail 127.0.0.1:1 does not accept a log-in ([Errno 111] Connection refused)" in text
    assert "Correct host, port, user and password in EMAIL_URL" in text


def test_doctor_reports_failed_mail_login(settings: Settings) -> None:
    settings.EMAIL_HOST_USER, settings.EMAIL_HOST_PASSWORD = "ann", "opensesame"
    text = doctor_output()
    assert "!! Mail" in text
    assert "opensesame" not in text


def test_doctor_reports_browser_without_sandbox(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.SCAN_BROWSER = "auto"
    for module in ("operations.health.diagnosis", "operations.health.system_checks"):
        monkeypatch.setattr(f"{module}.browser_program", lambda: "/usr/bin/chromium")
    monkeypatch.setattr(
        "operations.health.system_checks.sandbox_problem", lambda program: "user namespaces are forbidden"
    )
    text = doctor_output()
    assert "!! Browser The browser will not start: it gets no sandbox, user namespaces are forbidden." in text
    assert "deploy/seccomp.json" in text


def test_doctor_reports_pending_migrations() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'webhooks'")
    text = doctor_output()
    assert "!! Schema the database is older than this version → Run `manage.py prepare`." in text


def test_doctor_reports_redis_outage(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    info = redis.Redis.info

    def redis_with_eviction(client: redis.Redis, section: str) -> dict[str, Any]:
        return info(client, section) | {"maxmemory": 1000, "maxmemory_policy": "allkeys-lru"}

    with monkeypatch.context() as patch:
        patch.setattr(redis.Redis, "info", redis_with_eviction)
        assert (
            "deletes keys when its memory is full (maxmemory-policy allkeys-lru) → Set maxmemory-policy"
            in doctor_output()
        )
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    assert "correct host and password in REDIS_URL" in doctor_output()


def test_doctor_reports_missing_worker(working_installation: dict[str, list[str]]) -> None:
    del working_installation["webhooks@one"]
    with redis.Redis.from_url(django_settings.REDIS_URL) as client:
        client.delete(LEASE_KEY)
    text = doctor_output()
    assert "!! Queue webhooks no worker serves it: deliveries wait → Start `celery -A config worker" in text
    assert "!! Scheduler does not run → Start `celery -A config beat" in text


def test_doctor_reports_idle_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagnosis, "last_beat", lambda: timezone.now() - timedelta(minutes=4))
    assert "Look at the logs of the scheduler and of the worker of the queue maintenance" in doctor_output()


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Answer('{"status": "ok"}', status=301, headers={"Location": "https://other.example/"}), "answers with 301"),
        (Answer("<h1>Welcome to nginx!</h1>"), "and not like this service → Correct BASE_URL"),
    ],
)
def test_doctor_reports_foreign_BASE_URL(answer: Answer, expected: str, settings: Settings) -> None:
    with Site({"/healthz": answer}) as site:
        settings.BASE_URL = site.url
        assert expected in doctor_output()


def test_doctor_reports_unreachable_BASE_URL(settings: Settings) -> None:
    settings.BASE_URL = "http://127.0.0.1:1"
    assert "Check the DNS record, ports 80 and 443 of the firewall, and the proxy's log." in doctor_output()


def test_doctor_reports_expired_certificate(settings: Settings) -> None:
    with Site({"/healthz": Answer('{"status": "ok"}')}, certificate=Certificate.EXPIRED) as site:
        settings.BASE_URL = site.url
        text = doctor_output()
    assert "the certificate is not accepted" in text
    assert "Renew or install the certificate in the proxy" in text


def test_doctor_reports_invalid_LOG_FORMAT(settings: Settings) -> None:
    settings.LOG_FORMAT = "xml"
    assert "!! Settings LOG_FORMAT 'xml' is unknown, so text is used. → Set it to text or json." in doctor_output()


def test_doctor_accepts_certificate_in_CA_BUNDLE(settings: Settings) -> None:
    with Site({"/healthz": Answer('{"status": "ok"}')}, certificate=Certificate.VALID) as site:
        settings.BASE_URL = site.url
        settings.SCAN_CA_BUNDLE = site.ca_file
        assert f"ok Address {site.url}/healthz answers" in doctor_output()
        settings.SCAN_CA_BUNDLE = None
        assert "name its certificate in SCAN_CA_BUNDLE." in doctor_output()
