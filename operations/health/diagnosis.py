"""Check an installation for `manage.py doctor`.

Reports which parts work and how to fix the others.
"""

from __future__ import annotations

import contextlib
import shutil
import smtplib
import ssl
from collections.abc import Iterable, Iterator
from datetime import timedelta
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path

import certifi
import redis
from django.conf import settings
from django.core import checks
from django.core.cache import cache
from django.core.mail import get_connection
from django.db import DatabaseError
from django.utils import timezone
from msgspec import Struct

from infrastructure.periodic import last_beat
from infrastructure.postgresql.availability import has_pending_migrations, is_disk_full, write_to_postgresql
from infrastructure.postgresql.statements import fetch
from infrastructure.web.mail import is_mail_logged
from operations.health.state import QUEUES, SILENCE, queues_of_workers
from operations.health.system_checks import BROWSER, ENVIRONMENT
from operations.scheduler import scheduler_in_charge
from operations.stored_secrets import LOST_KEY, count_unreadable
from scans.browser import browser_program
from scans.models import Scan
from website_scan.written_urls import split_url

# Largest difference between two machines' clocks if both are synchronized.
CLOCK_TOLERANCE = timedelta(seconds=2)
FREE_BYTES = 1024**3
TIMEOUT_S = 5
CERTIFICATE = (
    "Renew or install the certificate in the proxy, with its intermediate certificates. For an authority of your own, "
    "name its certificate in SCAN_CA_BUNDLE."
)


class Diagnosis(Struct, frozen=True):
    """State of one part of the installation.

    If it does not work, there is a remedy.
    """

    subject: str
    state: str
    remedy: str = ""

    @property
    def is_well(self) -> bool:
        return not self.remedy


def diagnoses() -> Iterator[Diagnosis]:
    """Diagnose all parts, one after the other.

    Skips parts that depend on an unreachable server.
    """
    yield from _settings()
    yield from _disk()
    try:
        yield from _postgresql()
        is_up = True
    except DatabaseError as error:
        yield _database_failure(error)
        is_up = False
    yield from (redis_diagnoses := list(_redis()))
    if all(diagnosis.is_well for diagnosis in redis_diagnoses) and is_up:
        yield from _workers()
    yield from _mail()
    yield from _address()


def _settings() -> Iterable[Diagnosis]:
    check_messages = checks.run_checks(tags=[ENVIRONMENT])
    problems = [message for message in check_messages if message.level >= checks.WARNING]
    for problem in problems:
        yield Diagnosis("Settings", problem.msg, problem.hint or "See docs/operations.md.")
    if not problems:
        yield Diagnosis("Settings", "all environment variables are valid")


def _postgresql() -> Iterable[Diagnosis]:
    """Diagnose PostgreSQL, the schema, the clock and the stored secrets.

    Raises DatabaseError.
    """
    before = timezone.now()
    ((version, now),) = fetch("SELECT current_setting('server_version'), clock_timestamp()", {})
    write_to_postgresql()
    yield Diagnosis("PostgreSQL", f"version {version.split()[0]} answers and can write")
    yield _clock(now - before)
    if has_pending_migrations():
        yield Diagnosis("Schema", "the database is older than this version", "Run `manage.py prepare`.")
        return
    yield Diagnosis("Schema", "all migrations are applied")
    unreadable, total = count_unreadable()
    if unreadable:
        yield Diagnosis("Keys", f"{unreadable} of the {total} newest stored secrets cannot be decrypted", LOST_KEY)
    else:
        yield Diagnosis(
            "Keys", f"the {total} newest stored secrets can be decrypted" if total else "no secret is stored"
        )
    yield from _newest_scan()


def _database_failure(error: DatabaseError) -> Diagnosis:
    reason = str(error).partition("\n")[0]
    if is_disk_full(error):
        return Diagnosis("PostgreSQL", "its disk is full", "Free space on it, or enlarge it.")
    return Diagnosis(
        "PostgreSQL", f"does not answer ({reason})", "Start it, or correct host, port and password in DATABASE_URL."
    )


def _clock(difference: timedelta) -> Diagnosis:
    """Diagnose this machine's clock.

    `difference` is how far PostgreSQL's machine is ahead.
    """
    if abs(difference) <= CLOCK_TOLERANCE:
        return Diagnosis("Clock", "agrees with PostgreSQL's")
    side = "behind" if difference > timedelta(0) else "ahead of"
    seconds = abs(difference).total_seconds()
    return Diagnosis(
        "Clock",
        f"is {seconds:,.0f} s {side} that of PostgreSQL's machine",
        "Let both machines synchronize their time (chrony or systemd-timesyncd; `timedatectl` shows whether they do).",
    )


def _newest_scan() -> Iterable[Diagnosis]:
    """Yield a diagnosis if the newest scan lies in the future, which means that this clock was set back."""
    newest = Scan.objects.order_by("-created_at").values_list("created_at", flat=True).first()
    if newest and newest > timezone.now() + CLOCK_TOLERANCE:
        yield Diagnosis(
            "Clock",
            f"says {timezone.now():%Y-%m-%d %H:%M:%S} UTC, and the newest scan is of {newest:%Y-%m-%d %H:%M:%S} UTC",
            "Let the machine synchronize its time. Log-ins with authenticator apps and the certificates of scanned "
            "sites are judged by it.",
        )


def _redis() -> Iterable[Diagnosis]:
    try:
        with redis.Redis.from_url(settings.REDIS_URL, decode_responses=True, **settings.REDIS_TIMEOUTS) as client:
            version = client.info("server")["redis_version"]
            memory = client.info("memory")
        cache.set("readiness", 1)  # Like the readiness probe /readyz, test that Redis accepts writes.
    except redis.RedisError as error:
        yield Diagnosis("Redis", f"does not answer ({error})", "Start it, or correct host and password in REDIS_URL.")
        return
    if memory["maxmemory_policy"] != "noeviction" and memory["maxmemory"]:
        yield Diagnosis(
            "Redis",
            f"deletes keys when its memory is full (maxmemory-policy {memory['maxmemory_policy']})",
            "Set maxmemory-policy to noeviction, as in compose.yaml: tasks and counters would be lost.",
        )
    else:
        yield Diagnosis("Redis", f"version {version} answers and can write")


def _workers() -> Iterable[Diagnosis]:
    queues_by_worker = queues_of_workers()
    if queues_by_worker is None:
        yield Diagnosis("Workers", "could not be queried", "The log says why; usually Redis does not answer in time.")
        return
    for queue, work in QUEUES.items():
        names = [worker for worker, queues in queues_by_worker.items() if queue in queues]
        if names:
            yield Diagnosis(f"Queue {queue}", f"served by {', '.join(sorted(names))}")
        elif queue != "browser" or settings.SCAN_BROWSER != "off":
            yield Diagnosis(
                f"Queue {queue}",
                f"no worker serves it: {work} wait",
                f"Start `celery -A config worker --queues {queue} …` as in compose.yaml; its log says why it ended.",
            )
    yield _scheduler()
    yield from _browser(is_served=any("browser" in queues for queues in queues_by_worker.values()))


def _scheduler() -> Diagnosis:
    holder, last = scheduler_in_charge(), last_beat()
    if holder is None:
        return Diagnosis("Scheduler", "does not run", "Start `celery -A config beat …` as in compose.yaml.")
    if last and timezone.now() - last > SILENCE:
        return Diagnosis(
            "Scheduler",
            f"{holder} runs, and no periodic task has since {last:%Y-%m-%d %H:%M:%S} UTC",
            "Look at the logs of the scheduler and of the worker of the queue maintenance.",
        )
    return Diagnosis("Scheduler", f"{holder} runs" + (f"; its last task was at {last:%H:%M:%S} UTC" if last else ""))


def _browser(*, is_served: bool) -> Iterable[Diagnosis]:
    """Diagnose this machine's browser.

    Skipped if there is none and another worker serves the queue `browser`.

    In containers only one worker's image contains a browser.
    """
    if browser_program() is None and is_served:
        return
    for message in checks.run_checks(tags=[BROWSER], include_deployment_checks=True):
        yield Diagnosis("Browser", message.msg, (message.hint or "") if message.level >= checks.WARNING else "")


def _mail() -> Iterable[Diagnosis]:
    if is_mail_logged():
        if not settings.SECURE:
            yield Diagnosis("Mail", "is written to the log: EMAIL_URL is not set")
        return  # With https, the system check `mail` reports the missing mail server.
    server = get_connection(timeout=TIMEOUT_S)
    where = f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT}"
    try:
        with contextlib.closing(server):
            server.open()
    except (OSError, smtplib.SMTPException) as error:
        yield Diagnosis(
            "Mail",
            f"{where} does not accept a log-in ({_innermost_reason(error)})",
            "Correct host, port, user and password in EMAIL_URL, or allow this connection in the firewall. Mails wait.",
        )
    else:
        yield Diagnosis("Mail", f"{where} accepts the log-in; `manage.py sendtestemail ADDRESS` sends one")


def _disk() -> Iterable[Diagnosis]:
    free = shutil.disk_usage(settings.DATA_DIR if settings.DATA_DIR.exists() else Path("/")).free
    if free < FREE_BYTES:
        yield Diagnosis(
            "Disk",
            f"{free / 1024**2:,.0f} MiB are free where DATA_DIR is ({settings.DATA_DIR})",
            "Free at least 1 GiB. With `make run`, the databases are there, too.",
        )
    else:
        yield Diagnosis("Disk", f"{free / 1024**3:,.0f} GiB are free where DATA_DIR is")


def _address() -> Iterable[Diagnosis]:
    """Diagnose BASE_URL by requesting /healthz as a browser would, through DNS, TLS and the reverse proxy."""
    url = f"{settings.BASE_URL}/healthz"
    try:
        status, body = _get(url)
    except ssl.SSLCertVerificationError as error:
        yield Diagnosis("Address", f"{url}: the certificate is not accepted ({error.verify_message})", CERTIFICATE)
    except (OSError, HTTPException) as error:
        yield Diagnosis(
            "Address",
            f"{url} does not answer ({_innermost_reason(error)})",
            "Check the DNS record, ports 80 and 443 of the firewall, and the proxy's log. If only this machine cannot "
            "reach it, the router does not route back to it: try from another network.",
        )
    else:
        if (status, body) == (HTTPStatus.OK, b'{"status": "ok"}'):
            yield Diagnosis("Address", f"{url} answers")
        else:
            yield Diagnosis(
                "Address",
                f"{url} answers with {status}, and not like this service",
                "Correct BASE_URL, or the address to which the proxy passes requests on.",
            )


def _get(url: str) -> tuple[int, bytes]:
    """Request a URL without following redirects.

    Return the status and the first 1024 bytes of the body.
    """
    parts = split_url(url)
    host = parts.hostname or ""
    if parts.scheme == "https":
        tls = ssl.create_default_context()
        tls.load_verify_locations(certifi.where())
        if settings.SCAN_CA_BUNDLE is not None:
            tls.load_verify_locations(settings.SCAN_CA_BUNDLE)
        connection: HTTPConnection = HTTPSConnection(host, parts.port, timeout=TIMEOUT_S, context=tls)
    else:
        connection = HTTPConnection(host, parts.port, timeout=TIMEOUT_S)
    with contextlib.closing(connection):
        connection.request("GET", parts.path)
        response = connection.getresponse()
        return response.status, response.read(1024)


def _innermost_reason(error: Exception) -> str:
    """Return an error's innermost cause as a one-line message."""
    while isinstance(cause := error.__cause__ or error.__context__, Exception):
        error = cause
    return " ".join(str(error).split()) or type(error).__name__
