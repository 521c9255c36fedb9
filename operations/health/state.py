"""State of the running service for operators; gathered quickly even if Redis or the workers do not answer."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import redis
from celery import current_app
from django.conf import settings
from django.core.cache import cache
from django.db.models import Count, Min, Q
from django.utils import timezone
from kombu.exceptions import OperationalError

from infrastructure.cache import outage
from infrastructure.periodic import last_beat
from infrastructure.postgresql.statements import fetch
from operations.scheduler import scheduler_in_charge
from scans.browser import browser_program
from scans.models import WITHOUT_LEASE, Scan
from scans.visits.queue import types_of
from sites.models import Audit, AuditPage
from webhooks.models import Delivery, Webhook
from website_scan.net.browser import missing_packages, sandbox_problem

logger = logging.getLogger(__name__)

# Queues in the order in which a scan passes them, and the work that stops if no worker serves one.
QUEUES: Mapping[str, str] = {
    "scans": "scans without a browser",
    "browser": "scans with a browser",
    "webhooks": "deliveries",
    "maintenance": "the scheduler's tasks",
}
# Workers that do not answer within this time count as gone; each ping takes the whole time.
PING_S = 0.4
# Cache lifetime of an answer, so that reloads of the page do not ping the workers each time.
PING_KEPT_S = 10
CONNECT_S = 0.2
PERIOD = timedelta(hours=24)
# A periodic task runs every 15 seconds, but a busy worker may delay it.
SILENCE = timedelta(minutes=3)
# A monitor starts within a minute of its time; waiting for a free slot may take longer.
LATE = timedelta(minutes=10)
# Due monitors without a run yet, because the scheduler has not looked, and runs that wait to start.
DUE = """
    SELECT count(*), count(*) FILTER (WHERE at <= %(late)s) FROM (
        SELECT next_run_at AS at FROM sites_monitor WHERE next_run_at <= %(now)s
        UNION ALL
        SELECT not_before FROM sites_monitorrun WHERE status = 'due' AND not_before <= %(now)s
    ) AS due
"""


@dataclass(frozen=True, slots=True)
class Queue:
    """Queue with its number of messages and the workers that serve it; None if unknown.

    `waiting` is the number of queued scans for it, even if their messages were lost.
    """

    name: str
    serves: str
    depth: int | None
    workers: tuple[str, ...] | None
    waiting: int

    @property
    def is_unserved(self) -> bool:
        """Return True if scans wait in a queue that no worker serves."""
        return self.waiting > 0 and self.workers == ()


@dataclass(frozen=True, slots=True)
class Operations:
    """State of the service at one moment.

    `monitors_due` counts the monitors whose time has come and whose audit has not begun; `monitors_late` those due for
    longer than LATE. `oldest` is the time of the oldest queued scan; `scheduled` is the time at which a periodic task
    ran last, None if unknown.
    """

    now: datetime
    queues: tuple[Queue, ...]
    workers: tuple[str, ...] | None
    queued: int
    oldest: datetime | None
    running: int
    interrupted: int
    audits: int
    waiting_pages: int
    monitors_due: int
    monitors_late: int
    failures: tuple[tuple[str, int], ...]
    pending: int
    due: int
    longest_due: datetime | None
    failing: int
    disabled: int
    browser: str
    redis_answers: bool
    scheduled: datetime | None
    has_scheduler: bool

    @property
    def failed(self) -> int:
        return sum(count for _, count in self.failures)

    @property
    def is_scheduler_silent(self) -> bool:
        """Return True if periodic tasks do not run, according to Redis. The first one runs a while after the start."""
        if self.scheduled is None:
            return self.redis_answers and not self.has_scheduler
        return self.redis_answers and self.now - self.scheduled > SILENCE


def operations() -> Operations:
    """Gather the state with eleven queries, each served by an index of unfinished or new rows.

    Redis and the workers take at most a second.
    """
    now = timezone.now()
    depths = messages_in_queues()
    serving = queues_of_workers() if depths is not None else None
    unfinished = Scan.objects.filter(status__in=(Scan.Status.QUEUED, Scan.Status.SCANNING)).aggregate(
        queued=Count("id", Q(status=Scan.Status.QUEUED)),
        oldest=Min("created_at", filter=Q(status=Scan.Status.QUEUED)),
        running=Count("id", Q(status=Scan.Status.SCANNING)),
        interrupted=Count("id", WITHOUT_LEASE),
    )
    by_type = dict(
        Scan.objects.filter(status=Scan.Status.QUEUED).values_list("type").annotate(count=Count("id")).order_by()
    )
    failed = Scan.objects.filter(status=Scan.Status.FAILED, created_at__gt=now - PERIOD)
    reasons = failed.values_list("error_code").annotate(count=Count("id")).order_by("-count", "error_code")
    waiting = Delivery.objects.filter(status=Delivery.Status.PENDING, is_held=False, webhook__enabled=True)
    audits = Audit.objects.unfinished()
    pages = AuditPage.objects.filter(audit__in=audits, status=AuditPage.Status.WAITING)
    deliveries = waiting.aggregate(
        pending=Count("id"),
        due=Count("id", Q(next_attempt_at__lt=now)),
        longest=Min("next_attempt_at", filter=Q(next_attempt_at__lt=now)),
    )
    webhooks = Webhook.objects.aggregate(
        failing=Count("id", Q(enabled=True, failing_since__isnull=False)),
        disabled=Count("id", Q(enabled=False) & ~Q(disabled_reason=Webhook.Reason.REQUESTED)),
    )
    ((monitors_due, monitors_late),) = fetch(DUE, {"now": now, "late": now - LATE})
    return Operations(
        now=now,
        queues=tuple(_queues(depths, serving, by_type)),
        workers=None if serving is None else tuple(sorted(serving)),
        **unfinished,
        audits=audits.count(),
        waiting_pages=pages.count(),
        monitors_due=monitors_due,
        monitors_late=monitors_late,
        failures=tuple((code or "no code", count) for code, count in reasons),
        pending=deliveries["pending"],
        due=deliveries["due"],
        longest_due=deliveries["longest"],
        **webhooks,
        browser=_browser(),
        redis_answers=depths is not None,
        scheduled=None if depths is None else last_beat(),
        has_scheduler=depths is not None and _has_scheduler(),
    )


def _has_scheduler() -> bool:
    try:
        return scheduler_in_charge() is not None
    except redis.RedisError as error:
        outage.begin(error)
        return False


def _queues(
    depths: Mapping[str, int] | None, serving: Mapping[str, Iterable[str]] | None, by_type: Mapping[str, int]
) -> Iterable[Queue]:
    for name, serves in QUEUES.items():
        workers = (
            None if serving is None else tuple(sorted(worker for worker, taken in serving.items() if name in taken))
        )
        waiting = sum(by_type.get(each, 0) for each in types_of(name))
        yield Queue(name, serves, None if depths is None else depths[name], workers, waiting)


def messages_in_queues() -> dict[str, int] | None:
    """Count the messages in each queue; None if Redis does not answer."""
    client = redis.Redis.from_url(
        settings.REDIS_URL,
        **settings.REDIS_TIMEOUTS | {"socket_timeout": CONNECT_S, "socket_connect_timeout": CONNECT_S},
    )
    try:
        pipeline = client.pipeline(transaction=False)
        for name in QUEUES:
            pipeline.llen(name)
        return dict(zip(QUEUES, pipeline.execute(), strict=True))
    except redis.RedisError as error:
        outage.begin(error)
        return None
    finally:
        client.close()


def queues_of_workers() -> dict[str, list[str]] | None:
    """Return the queues of each worker that answers; None if the workers could not be asked."""
    try:
        known: dict[str, list[str]] | None = cache.get("operations:workers")
        if known is None:
            known = _ask_workers()
            cache.set("operations:workers", known, PING_KEPT_S)
    except (redis.RedisError, OperationalError, OSError) as error:
        logger.error("the workers could not be asked: %s", error)
        return None
    return known


def _ask_workers() -> dict[str, list[str]]:
    # Use a separate connection: the timeouts of the tasks' connections are too long for a page, even for closing.
    times = {"socket_timeout": CONNECT_S, "socket_connect_timeout": CONNECT_S}
    options: dict[str, Any] = {"transport_options": times, "connect_timeout": CONNECT_S}
    with current_app.connection_for_write(**options) as connection:
        answers = current_app.control.inspect(timeout=PING_S, connection=connection).active_queues() or {}
    return {worker: [queue["name"] for queue in queues] for worker, queues in answers.items()}


def _browser() -> str:
    """Describe the browser that scans on this machine would use; workers elsewhere may have another."""
    if settings.SCAN_BROWSER == "off":
        return "none: SCAN_BROWSER is off"
    program = browser_program()
    if program is None:
        packages = ", ".join(missing_packages())
        return f"none: the packages {packages} are missing" if packages else "none was found"
    if not settings.SCAN_BROWSER_SANDBOX:
        return f"{program}, without its sandbox: SCAN_BROWSER_SANDBOX is off"
    problem = sandbox_problem(program)
    return f"{program}, which will not start: it gets no sandbox, {problem}" if problem else str(program)
