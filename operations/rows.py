"""Metrics from rows, Redis and the workers: the same from every web process."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.db import DatabaseError, InterfaceError
from django.utils import timezone
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from infrastructure.heartbeat import last_beat
from infrastructure.maintenance import maintenance_notice
from infrastructure.postgresql.silence import log_failure
from infrastructure.postgresql.statements import fetch
from infrastructure.telemetry.counters import Histogram
from operations import definitions as of
from operations.definitions import Gauge
from operations.state import DUE, LATE, messages_in_queues, queues_of_workers
from scans.models import SCAN_LEASE
from scans.visits import tallies
from scans.visits.overload import queue_age_s
from scans.visits.queue import QUEUES, queue_of
from sites.models import UNFINISHED
from webhooks.models import DELIVERY_LEASE
from website_scan import __version__
from website_scan.findings import ScanType

logger = logging.getLogger(__name__)

CLASSES = ("interactive", "background")
MS = 1000

# A partial index of unfinished rows serves each of these queries.
VISITS = f"""
    SELECT type, is_background, status, count(*),
        count(*) FILTER (WHERE status = 'scanning' AND NOT {SCAN_LEASE.sql()}),
        extract(epoch FROM statement_timestamp() - min(created_at))::float
    FROM scans_scan WHERE status IN ('queued', 'scanning') AND lead_id IS NULL GROUP BY type, is_background, status
"""  # noqa: S608  # of constants
AUDITS = f"""
    SELECT (SELECT count(*) FROM sites_audit WHERE status IN {UNFINISHED}), (
        SELECT count(*) FROM sites_auditpage AS page JOIN sites_audit AS audit ON audit.id = page.audit_id
        WHERE audit.status IN {UNFINISHED} AND page.status = 'waiting'
    )
"""  # noqa: S608  # of constants
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
"""  # noqa: S608  # of constants
WEBHOOKS = """
    SELECT count(*) FILTER (WHERE enabled AND failing_since IS NOT NULL),
        count(*) FILTER (WHERE NOT enabled AND disabled_reason <> 'requested')
    FROM webhooks_webhook
"""
MAILS = """
    SELECT count(*), extract(epoch FROM statement_timestamp() - min(created_at))::float
    FROM accounts_mail WHERE sent_at IS NULL AND given_up_at IS NULL
"""


def collected() -> Iterator[Metric]:
    """Collect all metrics. If PostgreSQL or Redis does not answer, its metrics are missing and `up` says so."""
    yield gauge(of.INFO, {(__version__,): 1})
    messages = messages_in_queues()
    if messages is not None:
        yield from _of_redis(messages)
    rows: list[Metric] = []
    try:
        rows = [*_of_rows()]
    except (DatabaseError, InterfaceError) as error:
        log_failure(error)
    yield from rows
    servers = {("postgresql",): int(bool(rows)), ("redis",): int(messages is not None)}
    yield gauge(of.UP, servers)


def _of_redis(messages: Mapping[str, int]) -> Iterator[Metric]:
    counts = {(name,): count for name, count in messages.items()}
    yield gauge(of.QUEUE_MESSAGES, counts)
    serving = queues_of_workers()
    if serving is not None:
        workers = {(name,): sum(name in queues for queues in serving.values()) for name in messages}
        yield gauge(of.QUEUE_WORKERS, workers)
    beat = last_beat()
    silence_s = {} if beat is None else {(): max(0.0, (timezone.now() - beat).total_seconds())}
    yield gauge(of.SCHEDULER_SILENCE, silence_s)


def _of_rows() -> Iterator[Metric]:
    yield from _of_visits(fetch(VISITS, {}))
    ages_s = {(queue,): queue_age_s(queue) for queue in QUEUES}
    yield gauge(of.QUEUE_AGE, ages_s)
    yield from _of_tallies(tallies.tallies())
    ((audits, pages),) = fetch(AUDITS, {})
    yield gauge(of.AUDITS_UNFINISHED, {(): audits})
    yield gauge(of.AUDIT_PAGES_WAITING, {(): pages})
    now = timezone.now()
    ((due, late),) = fetch(DUE, {"now": now, "late": now - LATE})
    yield gauge(of.MONITORS_DUE, {(): due})
    yield gauge(of.MONITORS_LATE, {(): late})
    ((list_runs, sites_due, lists_late),) = fetch(LISTS, {"now": now, "late": now - LATE})
    yield gauge(of.LIST_RUNS, {(): list_runs})
    yield gauge(of.LIST_SITES_DUE, {(): sites_due})
    yield gauge(of.LISTS_LATE, {(): lists_late})
    ((sending, due, later, age_s),) = fetch(DELIVERIES, {})
    counts = {("sending",): sending, ("due",): due, ("later",): later}
    yield gauge(of.DELIVERIES_PENDING, counts)
    yield gauge(of.OLDEST_DUE_DELIVERY, {(): age_s or 0})
    ((failing, disabled),) = fetch(WEBHOOKS, {})
    counts = {("failing",): failing, ("disabled",): disabled}
    yield gauge(of.WEBHOOKS, counts)
    ((mails, age_s),) = fetch(MAILS, {})
    yield gauge(of.MAILS_WAITING, {(): mails})
    yield gauge(of.OLDEST_MAIL, {(): age_s or 0})
    yield gauge(of.MAINTENANCE, {(): int(maintenance_notice() is not None)})


def _of_visits(rows: Iterable[tuple[Any, ...]]) -> Iterator[Metric]:
    places = [(queue, kind) for queue in QUEUES for kind in CLASSES]
    queued, running, oldest_s = dict.fromkeys(places, 0), dict.fromkeys(places, 0), dict.fromkeys(places, 0.0)
    lost = 0
    for scan_type, is_background, status, count, interrupted, age_s in rows:
        place = (queue_of(ScanType(scan_type)), CLASSES[is_background])
        if status == "queued":
            queued[place] += count
            oldest_s[place] = max(oldest_s[place], age_s)
        else:
            running[place] += count - interrupted
        lost += interrupted
    yield gauge(of.VISITS_QUEUED, queued)
    yield gauge(of.OLDEST_VISIT, oldest_s)
    yield gauge(of.VISITS_RUNNING, running)
    yield gauge(of.VISITS_INTERRUPTED, {(): lost})


def _of_tallies(found: Mapping[str, Mapping[tuple[str, ...], int]]) -> Iterator[Metric]:
    ended = CounterMetricFamily(of.SCANS_ENDED.name, of.SCANS_ENDED.help, labels=of.SCANS_ENDED.labels)
    for labels, count in found.get("ended", {}).items():
        ended.add_metric(labels, count)
    yield ended
    for name, definition in (("waited", of.SCAN_WAIT), ("duration", of.SCAN_DURATION), ("cpu", of.SCAN_CPU)):
        buckets: dict[tuple[str, ...], dict[str, int]] = {}
        for (value, bound), count in found.get(name, {}).items():
            buckets.setdefault((value,), {})[bound] = count
        sums = {labels: value / MS for labels, value in found.get(f"{name}_sum", {}).items()}
        yield histogram(definition, buckets, sums)


def gauge(definition: Gauge, values: Mapping[Any, float]) -> Metric:
    """Build a Prometheus gauge from values by their label values."""
    family = GaugeMetricFamily(definition.name, definition.help, labels=definition.labels)
    for each, value in values.items():
        family.add_metric(each, value)
    return family


def histogram(
    definition: Histogram,
    buckets: Mapping[tuple[str, ...], Mapping[str, int]],
    sums: Mapping[tuple[str, ...], float],
) -> Metric:
    """Build a Prometheus histogram from the counts of each single bucket; unknown, retired buckets are left out."""
    family = HistogramMetricFamily(definition.name, definition.help, labels=definition.labels)
    for each, counts in buckets.items():
        total = 0
        cumulated = [(name, total := total + counts.get(name, 0)) for name in definition.names]
        family.add_metric(each, cumulated, sums.get(each, 0.0))
    return family
