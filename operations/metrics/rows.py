"""Metrics that are computed from database rows.

They are the same in every web process.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.utils import timezone
from prometheus_client.metrics_core import Metric

from infrastructure.maintenance import maintenance_notice
from infrastructure.postgresql.statements import fetch
from infrastructure.telemetry.counters import PREFIX, Counter, Histogram
from operations.health.state import DUE, LATE
from operations.metrics.families import Gauge, counter, gauge, histogram
from scans.models import SCAN_LEASE
from scans.visits import tallies
from scans.visits.overload import queue_age_s
from scans.visits.queue import QUEUES, queue_of
from sites.models import UNFINISHED
from webhooks.models import DELIVERY_LEASE
from website_scan.findings import ScanType

CLASSES = ("interactive", "background")
MS = 1000

SCANS_ENDED = Counter(
    f"{PREFIX}scans_ended",
    "Scans that have ended, including the visits of dry runs; `reason` is the error code of a failed one, `class` is "
    "`interactive` if somebody waits for it, otherwise `background`.",
    ("type", "status", "reason", "class"),
)
SCAN_WAIT = Histogram(
    f"{PREFIX}scan_wait_seconds",
    "From the request for a scan to the beginning of its last attempt.",
    ("class",),
    tallies.WAIT_BUCKETS_S,
)
SCAN_DURATION = Histogram(
    f"{PREFIX}scan_duration_seconds",
    "From the beginning of a scan's last attempt to its end.",
    ("type",),
    tallies.DURATION_BUCKETS_S,
)
SCAN_CPU = Histogram(
    f"{PREFIX}scan_cpu_seconds",
    "Processor time, including the browser's; divided equally among the scans of a visit.",
    ("type",),
    tallies.CPU_S,
)
VISITS_QUEUED = Gauge(
    f"{PREFIX}visits_queued",
    "Visits that are waiting; a visit has one scan for each requested type.",
    ("queue", "class"),
)
OLDEST_VISIT = Gauge(
    f"{PREFIX}oldest_visit_seconds",
    "Time that the oldest waiting visit has waited; 0 if none is waiting.",
    ("queue", "class"),
)
QUEUE_AGE = Gauge(
    f"{PREFIX}queue_age_seconds",
    "Time that an organization without a running visit, and so a new scan, waits, however many scans others have "
    "queued; `SCAN_QUEUE_AGE_LIMIT` limits it.",
    ("queue",),
)
VISITS_RUNNING = Gauge(f"{PREFIX}visits_running", "Visits that a worker is running.", ("queue", "class"))
VISITS_INTERRUPTED = Gauge(f"{PREFIX}visits_interrupted", "Visits whose worker died, until another worker claims them.")
AUDITS_UNFINISHED = Gauge(f"{PREFIX}audits_unfinished", "Audits in progress or waiting.")
AUDIT_PAGES_WAITING = Gauge(f"{PREFIX}audit_pages_waiting", "Pages of audits that wait for a slot.")
MONITORS_DUE = Gauge(f"{PREFIX}monitors_due", "Runs of monitors that are due and have not begun.")
MONITORS_LATE = Gauge(f"{PREFIX}monitors_late", "Runs of monitors that should have begun ten minutes ago.")
LIST_RUNS = Gauge(f"{PREFIX}list_runs", "Runs of lists in progress.")
LIST_SITES_DUE = Gauge(f"{PREFIX}list_sites_due", "Sites of lists that are due and have not begun.")
LISTS_LATE = Gauge(f"{PREFIX}lists_late", "Lists whose run should have begun ten minutes ago.")
DELIVERIES_PENDING = Gauge(
    f"{PREFIX}deliveries_pending",
    "Pending deliveries: `sending`, `due`, or `later` (waiting for the next attempt).",
    ("state",),
)
OLDEST_DUE_DELIVERY = Gauge(f"{PREFIX}oldest_due_delivery_seconds", "Time for which the oldest delivery has been due.")
WEBHOOKS = Gauge(f"{PREFIX}webhooks", "Webhooks that are `failing`, and those `disabled` for that reason.", ("state",))
MAILS_WAITING = Gauge(f"{PREFIX}mails_waiting", "E-mails that are waiting to be sent.")
OLDEST_MAIL = Gauge(f"{PREFIX}oldest_mail_seconds", "Time that the oldest waiting e-mail has waited.")
MAINTENANCE = Gauge(f"{PREFIX}maintenance", "1 in maintenance mode, otherwise 0.")

ROW_METRICS = (
    *(SCANS_ENDED, SCAN_WAIT, SCAN_DURATION, SCAN_CPU),
    *(VISITS_QUEUED, OLDEST_VISIT, QUEUE_AGE, VISITS_RUNNING, VISITS_INTERRUPTED),
    *(AUDITS_UNFINISHED, AUDIT_PAGES_WAITING, MONITORS_DUE, MONITORS_LATE, LIST_RUNS, LIST_SITES_DUE, LISTS_LATE),
    *(DELIVERIES_PENDING, OLDEST_DUE_DELIVERY, WEBHOOKS, MAILS_WAITING, OLDEST_MAIL, MAINTENANCE),
)

# Each of the following queries uses a partial index of unfinished rows.
VISITS = f"""
    SELECT type, is_of_journey, is_background, status, count(*),
        count(*) FILTER (WHERE status = 'scanning' AND NOT {SCAN_LEASE.sql()}),
        extract(epoch FROM statement_timestamp() - min(created_at))::float
    FROM scans_scan WHERE status IN ('queued', 'scanning') AND lead_id IS NULL
    GROUP BY type, is_of_journey, is_background, status
"""  # noqa: S608  # The query is composed of constants.
AUDITS = f"""
    SELECT (SELECT count(*) FROM sites_audit WHERE status IN {UNFINISHED}), (
        SELECT count(*) FROM sites_auditpage AS page JOIN sites_audit AS audit ON audit.id = page.audit_id
        WHERE audit.status IN {UNFINISHED} AND page.status = 'waiting'
    )
"""  # noqa: S608  # The query is composed of constants.
LISTS = """
    SELECT (SELECT count(*) FROM sites_listrun WHERE status = 'running'),
        (SELECT count(*) FROM sites_listresult WHERE status = 'waiting' AND starts_at <= %(now)s),
        (SELECT count(*) FROM sites_sitelist WHERE next_run_at <= %(late)s)
"""
DELIVERIES = f"""
    SELECT count(*) FILTER (WHERE is_sending), count(*) FILTER (WHERE is_due AND NOT is_sending),
        count(*) FILTER (WHERE NOT is_due AND NOT is_sending),
        extract(epoch FROM statement_timestamp() - min(next_attempt_at) FILTER (WHERE is_due AND NOT is_sending))::float
    FROM (
        SELECT next_attempt_at, next_attempt_at <= statement_timestamp() AS is_due,
            coalesce({DELIVERY_LEASE.sql()}, false) AS is_sending
        FROM webhooks_delivery AS delivery JOIN webhooks_webhook AS webhook ON webhook.id = delivery.webhook_id
        WHERE delivery.status = 'pending' AND NOT delivery.is_held AND webhook.enabled
    ) AS delivery
"""  # noqa: S608  # The query is composed of constants.
WEBHOOK_STATES = """
    SELECT count(*) FILTER (WHERE enabled AND failing_since IS NOT NULL),
        count(*) FILTER (WHERE NOT enabled AND disabled_reason <> 'requested')
    FROM webhooks_webhook
"""
MAILS = """
    SELECT count(*), extract(epoch FROM statement_timestamp() - min(created_at))::float
    FROM accounts_mail WHERE sent_at IS NULL AND given_up_at IS NULL
"""


def row_metrics() -> Iterator[Metric]:
    """Yield the metrics in ROW_METRICS. Raises DatabaseError or InterfaceError."""
    yield from _visit_metrics(fetch(VISITS, {}))
    ages_s = {(queue,): queue_age_s(queue) for queue in QUEUES}
    yield gauge(QUEUE_AGE, ages_s)
    yield from _tally_metrics(tallies.tallies())
    ((audits, pages),) = fetch(AUDITS, {})
    yield gauge(AUDITS_UNFINISHED, {(): audits})
    yield gauge(AUDIT_PAGES_WAITING, {(): pages})
    now = timezone.now()
    ((due, late),) = fetch(DUE, {"now": now, "late": now - LATE})
    yield gauge(MONITORS_DUE, {(): due})
    yield gauge(MONITORS_LATE, {(): late})
    ((list_runs, sites_due, lists_late),) = fetch(LISTS, {"now": now, "late": now - LATE})
    yield gauge(LIST_RUNS, {(): list_runs})
    yield gauge(LIST_SITES_DUE, {(): sites_due})
    yield gauge(LISTS_LATE, {(): lists_late})
    ((sending, due, later, age_s),) = fetch(DELIVERIES, {})
    counts = {("sending",): sending, ("due",): due, ("later",): later}
    yield gauge(DELIVERIES_PENDING, counts)
    yield gauge(OLDEST_DUE_DELIVERY, {(): age_s or 0})
    ((failing, disabled),) = fetch(WEBHOOK_STATES, {})
    counts = {("failing",): failing, ("disabled",): disabled}
    yield gauge(WEBHOOKS, counts)
    ((mails, age_s),) = fetch(MAILS, {})
    yield gauge(MAILS_WAITING, {(): mails})
    yield gauge(OLDEST_MAIL, {(): age_s or 0})
    yield gauge(MAINTENANCE, {(): int(maintenance_notice() is not None)})


def _visit_metrics(rows: Iterable[tuple[Any, ...]]) -> Iterator[Metric]:
    all_labels = [(queue, visit_class) for queue in QUEUES for visit_class in CLASSES]
    queued, running = dict.fromkeys(all_labels, 0), dict.fromkeys(all_labels, 0)
    oldest_s = dict.fromkeys(all_labels, 0.0)
    all_interrupted = 0
    for scan_type, is_of_journey, is_background, status, count, interrupted, age_s in rows:
        labels = (queue_of(ScanType(scan_type), is_of_journey=is_of_journey), CLASSES[is_background])
        if status == "queued":
            queued[labels] += count
            oldest_s[labels] = max(oldest_s[labels], age_s)
        else:
            running[labels] += count - interrupted
        all_interrupted += interrupted
    yield gauge(VISITS_QUEUED, queued)
    yield gauge(OLDEST_VISIT, oldest_s)
    yield gauge(VISITS_RUNNING, running)
    yield gauge(VISITS_INTERRUPTED, {(): all_interrupted})


def _tally_metrics(counts: Mapping[str, Mapping[tuple[str, ...], int]]) -> Iterator[Metric]:
    yield counter(SCANS_ENDED, counts.get("ended", {}))
    for name, definition in (("waited", SCAN_WAIT), ("duration", SCAN_DURATION), ("cpu", SCAN_CPU)):
        buckets: dict[tuple[str, ...], dict[str, int]] = {}
        for (value, upper_bound), count in counts.get(name, {}).items():
            buckets.setdefault((value,), {})[upper_bound] = count
        sums = {labels: value / MS for labels, value in counts.get(f"{name}_sum", {}).items()}
        yield histogram(definition, buckets, sums)
