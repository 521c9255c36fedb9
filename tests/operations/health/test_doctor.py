"""`manage.py doctor`: what works, and each fault with the sentence that names the remedy."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator
from datetime import timedelta
from io import StringIO
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

SERVING = {"celery@one": ["scans", "maintenance"], "browser@one": ["browser"], "webhooks@one": ["webhooks"]}


@pytest.fixture(autouse=True)
def well(db: None, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, list[str]]]:
    """An installation in which all is well: workers, scheduler, address, mail server. Yields the workers' queues."""
    serving = dict(SERVING)
    monkeypatch.setattr(state, "_ping_workers", lambda: serving)
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
        yield serving
        client.delete(LEASE_KEY)


def store_secret(home: Member) -> None:
    """Store the secret of a webhook."""
    Webhook.objects.create(
        organization=home.organization,
        url="https://receiver.example/",
        receiver="receiver.example:443",
        events=["scan.completed"],
        encrypted_secret=encryption.encrypt("whsec_x"),
    )


def told() -> str:
    """Return the output of the command in one line."""
    output = StringIO()
    with contextlib.suppress(SystemExit):
        call_command("doctor", stdout=output)
        assert "Everything works." in output.getvalue()
    return " ".join(output.getvalue().split())


def test_an_installation_that_works(home: Member) -> None:
    store_secret(home)
    text = told()
    assert "!!" not in text
    for each in (
        "PostgreSQL version 1",
        "1 newest stored secrets can be decrypted",
        "Queue browser served by browser@one",
    ):
        assert each in text
    assert "Everything works." in text


def test_a_wrong_secret_key(home: Member, settings: Settings) -> None:
    store_secret(home)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "another-" * 5, []
    text = told()
    assert "!! Keys 1 of the 1 newest stored secrets cannot be decrypted" in text
    assert "Add the former key to SECRET_KEY_FALLBACKS" in text
    errors = StringIO()
    call_command("prepare", stdout=StringIO(), stderr=errors)
    assert "1 of the 1 newest secrets in the database are encrypted with a key that is not set" in errors.getvalue()
    assert "SECRET_KEY_FALLBACKS" in errors.getvalue()


def test_problems_are_counted_and_change_the_exit_status(settings: Settings) -> None:
    settings.EMAIL_PORT = 1
    settings.LOG_FORMAT = "xml"
    output = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("doctor", stdout=output)
    assert ended.value.code == 1
    assert output.getvalue().endswith("\n2 problems.\n")


def refused_by(error: Exception) -> Callable[..., Any]:
    def refuse(execute: Callable[..., Any], *_: Any) -> Any:
        raise OperationalError(str(error)) from error

    return refuse


def test_a_database_that_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    def fetch(*_: object) -> None:
        raise OperationalError("connection refused\nIs the server running?")

    monkeypatch.setattr(diagnosis, "fetch", fetch)
    text = told()
    assert "!! PostgreSQL does not answer (connection refused)" in text
    assert "correct host, port and password in DATABASE_URL" in text
    assert "ok Redis" in text, "the rest is looked at nevertheless"


def test_a_full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage("/")._replace(free=50 * 1024**2)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    with connection.execute_wrapper(refused_by(DiskFull("No space left on device"))):
        text = told()
    assert "!! Disk 50 MiB are free where DATA_DIR is" in text
    assert "Free at least 1 GiB" in text
    assert "!! PostgreSQL its disk is full → Free space on it" in text


@pytest.mark.parametrize(("off_s", "said"), [(-300, "is 300 s behind that of"), (300, "is 300 s ahead of")])
def test_a_wrong_clock(off_s: int, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    now = timezone.now
    monkeypatch.setattr(timezone, "now", lambda: now() + timedelta(seconds=off_s))
    text = told()
    assert said in text
    assert "Let both machines synchronize their time" in text


def test_a_clock_that_was_put_back(home: Member) -> None:
    finished_scan(home, age=timedelta(days=-1))
    text = told()
    assert "and the newest scan is of" in text
    assert "Let the machine synchronize its time." in text


def test_a_clock_that_is_right_is_not_blamed_for_a_scan_of_this_moment(home: Member) -> None:
    finished_scan(home)
    assert "newest scan" not in told()


def test_no_mail(settings: Settings) -> None:
    settings.EMAIL_PORT = 1
    text = told()
    assert "!! Mail 127.0.0.1:1 does not accept a log-in ([Errno 111] Connection refused)" in text
    assert "Correct host, port, user and password in EMAIL_URL" in text


def test_a_log_in_that_the_mail_server_does_not_offer(settings: Settings) -> None:
    settings.EMAIL_HOST_USER, settings.EMAIL_HOST_PASSWORD = "ann", "opensesame"
    text = told()
    assert "!! Mail" in text
    assert "opensesame" not in text


def test_a_browser_without_a_sandbox(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.SCAN_BROWSER = "auto"
    for module in ("operations.health.diagnosis", "operations.health.system_checks"):
        monkeypatch.setattr(f"{module}.browser_program", lambda: "/usr/bin/chromium")
    monkeypatch.setattr(
        "operations.health.system_checks.sandbox_problem", lambda program: "user namespaces are forbidden"
    )
    text = told()
    assert "!! Browser The browser will not start: it gets no sandbox, user namespaces are forbidden." in text
    assert "deploy/seccomp.json" in text


def test_an_old_schema() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'webhooks'")
    text = told()
    assert "!! Schema the database is older than this version → Run `manage.py prepare`." in text


def test_redis_that_is_away_or_evicts(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    info = redis.Redis.info

    def evicting(client: redis.Redis, section: str) -> dict[str, Any]:
        return info(client, section) | {"maxmemory": 1000, "maxmemory_policy": "allkeys-lru"}

    with monkeypatch.context() as patch:
        patch.setattr(redis.Redis, "info", evicting)
        assert "deletes keys when its memory is full (maxmemory-policy allkeys-lru) → Set maxmemory-policy" in told()
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    assert "correct host and password in REDIS_URL" in told()


def test_workers_and_a_scheduler_that_do_not_run(well: dict[str, list[str]]) -> None:
    del well["webhooks@one"]
    with redis.Redis.from_url(django_settings.REDIS_URL) as client:
        client.delete(LEASE_KEY)
    text = told()
    assert "!! Queue webhooks no worker serves it: deliveries wait → Start `celery -A config worker" in text
    assert "!! Scheduler does not run → Start `celery -A config beat" in text


def test_a_scheduler_that_runs_and_whose_tasks_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagnosis, "last_beat", lambda: timezone.now() - timedelta(minutes=4))
    assert "Look at the logs of the scheduler and of the worker of the queue maintenance" in told()


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Answer('{"status": "ok"}', status=301, headers={"Location": "https://other.example/"}), "answers with 301"),
        (Answer("<h1>Welcome to nginx!</h1>"), "and not like this service → Correct BASE_URL"),
    ],
)
def test_an_address_that_leads_elsewhere(answer: Answer, said: str, settings: Settings) -> None:
    with Site({"/healthz": answer}) as site:
        settings.BASE_URL = site.url
        assert said in told()


def test_an_address_where_nobody_answers(settings: Settings) -> None:
    settings.BASE_URL = "http://127.0.0.1:1"
    assert "Check the DNS record, ports 80 and 443 of the firewall, and the proxy's log." in told()


def test_a_certificate_that_has_expired(settings: Settings) -> None:
    with Site({"/healthz": Answer('{"status": "ok"}')}, certificate=Certificate.EXPIRED) as site:
        settings.BASE_URL = site.url
        text = told()
    assert "the certificate is not accepted" in text
    assert "Renew or install the certificate in the proxy" in text


def test_settings_that_are_not_valid(settings: Settings) -> None:
    settings.LOG_FORMAT = "xml"
    assert "!! Settings LOG_FORMAT 'xml' is not known, text is used. → Set it to text or json." in told()


def test_a_certificate_of_an_authority_of_ones_own(settings: Settings) -> None:
    with Site({"/healthz": Answer('{"status": "ok"}')}, certificate=Certificate.VALID) as site:
        settings.BASE_URL = site.url
        settings.SCAN_CA_BUNDLE = site.ca_file
        assert f"ok Address {site.url}/healthz answers" in told()
        settings.SCAN_CA_BUNDLE = None
        assert "name its certificate in SCAN_CA_BUNDLE." in told()
