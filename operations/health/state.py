"""The running service's state for operators.

Gathering it is quick even if Redis or the workers are down.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

import redis
from celery import current_app
from django.conf import settings
from django.core.cache import cache
from django.db.models import Count, Min, Q
from django.utils import timezone
from kombu.exceptions import OperationalError
from msgspec import Struct

from infrastructure.cache import outage
from infrastructure.periodic import last_beat
from infrastructure.postgresql.statements import fetch
from operations.scheduler import scheduler_in_charge
from scans.browser import browser_program
from scans.models import WITHOUT_LEASE, Scan
from scans.visits.queue import queue_of
from sites.models import Audit, AuditPage
from webhooks.models import Delivery, Webhook
from website_scan.findings import ScanType
from website_scan.net.browser import missing_packages, sandbox_problem

logger = logging.getLogger(__name__)

# Names of the Celery queues, with the work that stops if no worker serves the queue.
QUEUES: Mapping[str, str] = {
    "scans": "scans without a browser",
    "browser": "scans with a browser",
    "webhooks": "deliveries",
    "maintenance": "the scheduler's tasks",
}
# A worker that does not answer a ping within this time counts as stopped. Each ping takes the whole time.
PING_S = 0.4
# How long the workers' answers are cached, so that not every page load pings the workers.
PING_CACHE_S = 10
CONNECT_S = 0.2
PERIOD = timedelta(hours=24)
# Time without periodic tasks after which the scheduler counts as silent. The most frequent task runs every 15 seconds,
# but a busy worker may delay it.
SILENCE = timedelta(minutes=3)
# Delay after which a monitor counts as late. Usually a run starts within a minute, but it may wait for a free slot.
LATE = timedelta(minutes=10)
# Count the monitors whose run is due but not created yet, and the runs that wait to start.
DUE = """
    SELECT count(*), count(*) FILTER (WHERE at <= %(late)s) FROM (
        SELECT next_run_at AS at FROM sites_monitor WHERE next_run_at <= %(now)s
        UNION ALL
        SELECT not_before FROM sites_monitorrun WHERE status = 'due' AND not_before <= %(now)s
    ) AS due
"""


class Queue(Struct, frozen=True):
    """A Celery queue, the number of messages in it and the workers that serve it.

    None if unknown.

    `waiting` is the number of queued scans for this queue, including scans whose messages were lost.
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


class Operations(Struct, frozen=True):
    """The service's state at one moment.

    `monitors_due` counts due monitors whose audit has not begun, `monitors_late` monitors due for longer than LATE.
    `oldest` is the creation time of the oldest queued scan. `scheduled` is the time at which a periodic task last ran,
    or None if unknown.
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
        """Return True if no scheduler has sent a task for longer than SILENCE, as far as Redis knows.

        After a start, no task has run yet: then a running scheduler is enough.
        """
        if self.scheduled is None:
            return self.redis_answers and not self.has_scheduler
        return self.redis_answers and self.now - self.scheduled > SILENCE


def operations() -> Operations:
    """Return the service's current state.

    Needs eleven queries, which use indexes on unfinished or new rows.

    Redis and the workers take at most a second.
    """
    now = timezone.now()
    depths = messages_in_queues()
    queues_by_worker = queues_of_workers() if depths is not None else None
    unfinished = Scan.objects.filter(status__in=(Scan.Status.QUEUED, Scan.Status.SCANNING)).aggregate(
        queued=Count("id", Q(status=Scan.Status.QUEUED)),
        oldest=Min("created_at", filter=Q(status=Scan.Status.QUEUED)),
        running=Count("id", Q(status=Scan.Status.SCANNING)),
        interrupted=Count("id", WITHOUT_LEASE),
    )
    queued = Scan.objects.filter(status=Scan.Status.QUEUED).values_list("type", "is_of_journey")
    by_queue: Counter[str] = Counter()
    for scan_type, is_of_journey, count in queued.annotate(count=Count("id")).order_by():
        by_queue[queue_of(ScanType(scan_type), is_of_journey=is_of_journey)] += count
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
        queues=tuple(_queues(depths, queues_by_worker, by_queue)),
        workers=None if queues_by_worker is None else tuple(sorted(queues_by_worker)),
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
    depths: Mapping[str, int] | None, queues_by_worker: Mapping[str, Iterable[str]] | None, by_queue: Mapping[str, int]
) -> Iterable[Queue]:
    for name, work in QUEUES.items():
        workers = None
        if queues_by_worker is not None:
            workers = tuple(sorted(worker for worker, queues in queues_by_worker.items() if name in queues))
        yield Queue(name, work, None if depths is None else depths[name], workers, by_queue.get(name, 0))


def messages_in_queues() -> dict[str, int] | None:
    """Return the number of messages in each queue, or None if Redis does not answer."""
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
    """Map every worker that answers a ping to its queues.

    Returns None if the workers could not be pinged.
    """
    try:
        queues_by_worker: dict[str, list[str]] | None = cache.get("operations:workers")
        if queues_by_worker is None:
            queues_by_worker = _ping_workers()
            cache.set("operations:workers", queues_by_worker, PING_CACHE_S)
    except (redis.RedisError, OperationalError, OSError) as error:
        logger.error("the workers could not be queried: %s", error)
        return None
    return queues_by_worker


def _ping_workers() -> dict[str, list[str]]:
    # The connections of tasks have timeouts that are too long for a page, so this function opens its own connection.
    timeouts = {"socket_timeout": CONNECT_S, "socket_connect_timeout": CONNECT_S}
    options: dict[str, Any] = {"transport_options": timeouts, "connect_timeout": CONNECT_S}
    with current_app.connection_for_write(**options) as connection:
        answers = current_app.control.inspect(timeout=PING_S, connection=connection).active_queues() or {}
    return {worker: [queue["name"] for queue in queues] for worker, queues in answers.items()}


def _browser() -> str:
    """Describe this machine's browser for scans.

    Workers on other machines may have another browser.
    """
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
