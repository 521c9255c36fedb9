"""Diagnoses of a running installation for `manage.py doctor`: what works, what does not, and how to mend it."""

from __future__ import annotations

import contextlib
import shutil
import smtplib
import ssl
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
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

from infrastructure.periodic import last_beat
from infrastructure.postgresql.availability import has_pending_migrations, is_disk_full, write_to_postgresql
from infrastructure.postgresql.statements import fetch
from infrastructure.web.mail import goes_to_log
from operations.health.state import QUEUES, SILENCE, queues_of_workers
from operations.health.system_checks import BROWSER, ENVIRONMENT
from operations.scheduler import scheduler_in_charge
from operations.stored_secrets import LOST_KEY, count_unreadable
from scans.browser import browser_program
from scans.models import Scan
from website_scan.written_urls import split_url

# Clocks of two machines whose time is synchronized differ by less.
CLOCK_TOLERANCE = timedelta(seconds=2)
FREE_BYTES = 1024**3
TIMEOUT_S = 5
CERTIFICATE = (
    "Renew or install the certificate in the proxy, with its intermediate certificates. For an authority of your own, "
    "name its certificate in SCAN_CA_BUNDLE."
)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """State of one part of the installation, with the remedy if it does not work as it should."""

    subject: str
    state: str
    remedy: str = ""

    @property
    def is_well(self) -> bool:
        return not self.remedy


def diagnoses() -> Iterator[Diagnosis]:
    """Look at all parts, one after the other. Those that need a server that does not answer are left out."""
    yield from _settings()
    yield from _disk()
    try:
        yield from _postgresql()
        is_up = True
    except DatabaseError as error:
        yield _database_failure(error)
        is_up = False
    yield from (redis_found := list(_redis()))
    if all(each.is_well for each in redis_found) and is_up:
        yield from _workers()
    yield from _mail()
    yield from _address()


def _settings() -> Iterable[Diagnosis]:
    found = checks.run_checks(tags=[ENVIRONMENT])
    problems = [each for each in found if each.level >= checks.WARNING]
    for each in problems:
        yield Diagnosis("Settings", each.msg, each.hint or "See docs/operations.md.")
    if not problems:
        yield Diagnosis("Settings", "all environment variables are valid")


def _postgresql() -> Iterable[Diagnosis]:
    """Diagnose PostgreSQL, the schema, the clock and the stored secrets. Raises DatabaseError."""
    before = timezone.now()
    ((version, now),) = fetch("SELECT current_setting('server_version'), clock_timestamp()", {})
    write_to_postgresql()
    yield Diagnosis("PostgreSQL", f"version {version.split()[0]} answers and can write")
    yield _clock(now - before)
    if has_pending_migrations():
        yield Diagnosis("Schema", "the database is older than this version", "Run `manage.py prepare`.")
        return
    yield Diagnosis("Schema", "all migrations are applied")
    unreadable, tried = count_unreadable()
    if unreadable:
        yield Diagnosis("Keys", f"{unreadable} of the {tried} newest stored secrets cannot be decrypted", LOST_KEY)
    else:
        yield Diagnosis(
            "Keys", f"the {tried} newest stored secrets can be decrypted" if tried else "no secret is stored"
        )
    yield from _newest_scan()


def _database_failure(error: DatabaseError) -> Diagnosis:
    reason = str(error).partition("\n")[0]
    if is_disk_full(error):
        return Diagnosis("PostgreSQL", "its disk is full", "Free space on it, or enlarge it.")
    return Diagnosis(
        "PostgreSQL", f"does not answer ({reason})", "Start it, or correct host, port and password in DATABASE_URL."
    )


def _clock(ahead_of_us: timedelta) -> Diagnosis:
    """Diagnose the clock of this machine by how far PostgreSQL's is ahead of it."""
    if abs(ahead_of_us) <= CLOCK_TOLERANCE:
        return Diagnosis("Clock", "agrees with PostgreSQL's")
    side = "behind" if ahead_of_us > timedelta(0) else "ahead of"
    seconds = abs(ahead_of_us).total_seconds()
    return Diagnosis(
        "Clock",
        f"is {seconds:,.0f} s {side} that of PostgreSQL's machine",
        "Let both machines synchronize their time (chrony or systemd-timesyncd; `timedatectl` shows whether they do).",
    )


def _newest_scan() -> Iterable[Diagnosis]:
    """Find a clock that was put back: then the newest scan is of the future."""
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
        cache.set("readiness", 1)  # as /readyz does
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
    serving = queues_of_workers()
    if serving is None:
        yield Diagnosis("Workers", "could not be asked", "The log says why; usually Redis does not answer in time.")
        return
    for queue, serves in QUEUES.items():
        names = [worker for worker, queues in serving.items() if queue in queues]
        if names:
            yield Diagnosis(f"Queue {queue}", f"served by {', '.join(sorted(names))}")
        elif queue != "browser" or settings.SCAN_BROWSER != "off":
            yield Diagnosis(
                f"Queue {queue}",
                f"no worker serves it: {serves} wait",
                f"Start `celery -A config worker --queues {queue} …` as in compose.yaml; its log says why it ended.",
            )
    yield _scheduler()
    yield from _browser(is_served=any("browser" in queues for queues in serving.values()))


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
    """Diagnose the browser if this machine has one, or should: in containers only the worker's own has."""
    if browser_program() is None and is_served:
        return
    for each in checks.run_checks(tags=[BROWSER], include_deployment_checks=True):
        yield Diagnosis("Browser", each.msg, (each.hint or "") if each.level >= checks.WARNING else "")


def _mail() -> Iterable[Diagnosis]:
    if goes_to_log():
        if not settings.SECURE:
            yield Diagnosis("Mail", "is written to the log: EMAIL_URL is not set")
        return  # with https, the settings are told to be wrong
    server = get_connection(timeout=TIMEOUT_S)
    where = f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT}"
    try:
        with contextlib.closing(server):
            server.open()
    except (OSError, smtplib.SMTPException) as error:
        yield Diagnosis(
            "Mail",
            f"{where} does not accept a log-in ({_words(error)})",
            "Correct host, port, user and password in EMAIL_URL, or let the firewall pass this connection. Mails wait.",
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
    """Request /healthz at BASE_URL as people do: by name, with TLS, through the proxy."""
    url = f"{settings.BASE_URL}/healthz"
    try:
        status, body = _get(url)
    except ssl.SSLCertVerificationError as error:
        yield Diagnosis("Address", f"{url}: the certificate is not accepted ({error.verify_message})", CERTIFICATE)
    except (OSError, HTTPException) as error:
        yield Diagnosis(
            "Address",
            f"{url} does not answer ({_words(error)})",
            "Check the DNS record, ports 80 and 443 of the firewall, and the proxy's log. If only this machine cannot "
            "reach it, the router does not lead back: try from elsewhere.",
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
    """Request a URL without following redirects; return status and the beginning of the body."""
    parts = split_url(url)
    host = parts.hostname or ""
    if parts.scheme == "https":
        trust = ssl.create_default_context()
        trust.load_verify_locations(certifi.where())
        if settings.SCAN_CA_BUNDLE is not None:
            trust.load_verify_locations(settings.SCAN_CA_BUNDLE)
        connection: HTTPConnection = HTTPSConnection(host, parts.port, timeout=TIMEOUT_S, context=trust)
    else:
        connection = HTTPConnection(host, parts.port, timeout=TIMEOUT_S)
    with contextlib.closing(connection):
        connection.request("GET", parts.path)
        response = connection.getresponse()
        return response.status, response.read(1024)


def _words(error: Exception) -> str:
    """Return the innermost reason of an error in one line."""
    while isinstance(cause := error.__cause__ or error.__context__, Exception):
        error = cause
    return " ".join(str(error).split()) or type(error).__name__
