"""What is counted from rows, and asked of Redis and the workers: the same whichever web process answers."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.db import DatabaseError, InterfaceError
from django.utils import timezone
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from infrastructure.heartbeat import last_beat
from infrastructure.maintenance import maintenance_message
from infrastructure.postgresql.silence import log_failure
from infrastructure.postgresql.statements import fetch
from infrastructure.telemetry.definitions import PREFIX
from operations.state import DUE, LATE, messages_in_queues, queues_of_workers
from scanner import __version__
from scanner.findings import ScanType
from scans.models import LONGEST_LEASE
from scans.visits import tallies
from scans.visits.overload import queue_age_s
from scans.visits.queue import QUEUES, queue_of
from sites.models import UNFINISHED

logger = logging.getLogger(__name__)

CLASSES = ("interactive", "background")
MS = 1000

# Each is served by an index of what is unfinished.
VISITS = """
    SELECT type, is_background, status, count(*),
        count(*) FILTER (WHERE status = 'scanning' AND (
            lease_expires_at < statement_timestamp() OR lease_expires_at > statement_timestamp() + %(longest)s
        )),
        extract(epoch FROM statement_timestamp() - min(created_at))::float
    FROM scans_scan WHERE status IN ('queued', 'scanning') AND lead_id IS NULL GROUP BY type, is_background, status
"""
AUDITS = f"""
    SELECT (SELECT count(*) FROM sites_audit WHERE status IN {UNFINISHED}), (
        SELECT count(*) FROM sites_auditpage AS page JOIN sites_audit AS audit ON audit.id = page.audit_id
        WHERE audit.status IN {UNFINISHED} AND page.status = 'waiting'
    )
"""  # noqa: S608  # of constants
DELIVERIES = """
    SELECT count(*) FILTER (WHERE is_sending), count(*) FILTER (WHERE is_due AND NOT is_sending),
        count(*) FILTER (WHERE NOT is_due AND NOT is_sending),
        extract(epoch FROM statement_timestamp() - min(next_attempt_at) FILTER (WHERE is_due AND NOT is_sending))::float
    FROM (
        SELECT next_attempt_at, next_attempt_at <= statement_timestamp() AS is_due,
            coalesce(lease_expires_at > statement_timestamp(), false) AS is_sending
        FROM webhooks_delivery AS delivery JOIN webhooks_webhook AS webhook ON webhook.id = delivery.webhook_id
        WHERE delivery.status = 'pending' AND NOT delivery.is_held AND webhook.enabled
    ) AS delivery
"""
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
    """All of it. Where PostgreSQL or Redis does not answer, what the other one knows, and that it does not."""
    yield gauge("info", "The version of the answering process, always 1.", {(__version__,): 1}, "version")
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
    yield gauge("up", "Whether a server answers.", servers, "server")


def _of_redis(messages: Mapping[str, int]) -> Iterator[Metric]:
    counts = {(name,): count for name, count in messages.items()}
    yield gauge("queue_messages", "Messages that wait in a queue; rows, not messages, say what waits.", counts, "queue")
    serving = queues_of_workers()
    if serving is not None:
        workers = {(name,): sum(name in queues for queues in serving.values()) for name in messages}
        yield gauge("queue_workers", "Workers that take from a queue.", workers, "queue")
    beat = last_beat()
    silence_s = {} if beat is None else {(): max(0.0, (timezone.now() - beat).total_seconds())}
    yield gauge("scheduler_silence_seconds", "Time since the scheduler's most frequent task ran.", silence_s)


def _of_rows() -> Iterator[Metric]:
    yield from _of_visits(fetch(VISITS, {"longest": LONGEST_LEASE}))
    ages_s = {(queue,): queue_age_s(queue) for queue in QUEUES}
    text = "How long an organization waits that has nothing running: a new scan would, too."
    yield gauge("queue_age_seconds", text, ages_s, "queue")
    yield from _of_tallies(tallies.tallies())
    ((audits, pages),) = fetch(AUDITS, {})
    yield gauge("audits_unfinished", "Audits under way, or waiting to be.", {(): audits})
    yield gauge("audit_pages_waiting", "Pages of audits that wait for a place.", {(): pages})
    now = timezone.now()
    ((due, late),) = fetch(DUE, {"now": now, "late": now - LATE})
    yield gauge("monitors_due", "Runs of monitors whose time has come and that have not begun.", {(): due})
    yield gauge("monitors_late", "Those that should have begun ten minutes ago.", {(): late})
    ((sending, due, later, age_s),) = fetch(DELIVERIES, {})
    counts = {("sending",): sending, ("due",): due, ("later",): later}
    yield gauge("deliveries_pending", "Deliveries to come: under way, due, or due later.", counts, "state")
    yield gauge("oldest_due_delivery_seconds", "How long the oldest delivery has been due.", {(): age_s or 0})
    ((failing, disabled),) = fetch(WEBHOOKS, {})
    counts = {("failing",): failing, ("disabled",): disabled}
    yield gauge("webhooks", "Webhooks that fail, and those disabled because they failed.", counts, "state")
    ((mails, age_s),) = fetch(MAILS, {})
    yield gauge("mails_waiting", "E-mails that wait to be sent.", {(): mails})
    yield gauge("oldest_mail_seconds", "How long the oldest of them has waited.", {(): age_s or 0})
    yield gauge("maintenance", "Whether maintenance is on.", {(): int(maintenance_message() is not None)})


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
    yield gauge("visits_queued", "Visits to pages that wait, each with its scans.", queued, "queue", "class")
    yield gauge("oldest_visit_seconds", "How long the oldest of them has waited.", oldest_s, "queue", "class")
    yield gauge("visits_running", "Visits that a worker is at.", running, "queue", "class")
    yield gauge("visits_interrupted", "Visits whose worker died, until another takes them.", {(): lost})


def _of_tallies(found: Mapping[str, Mapping[tuple[str, ...], int]]) -> Iterator[Metric]:
    ended = CounterMetricFamily(
        f"{PREFIX}scans_ended",
        "Scans that have ended, by type, status, error code and whether somebody waited.",
        labels=("type", "status", "reason", "class"),
    )
    for labels, count in found.get("ended", {}).items():
        ended.add_metric(labels, count)
    yield ended
    for name, title, label, bounds in (
        ("waited", "scan_wait_seconds", "class", tallies.WAITED_S),
        ("duration", "scan_duration_seconds", "type", tallies.DURATION_S),
        ("cpu", "scan_cpu_seconds", "type", tallies.CPU_S),
    ):
        buckets: dict[tuple[str, ...], dict[str, int]] = {}
        for (value, bound), count in found.get(name, {}).items():
            buckets.setdefault((value,), {})[bound] = count
        sums = {labels: value / MS for labels, value in found.get(f"{name}_sum", {}).items()}
        yield histogram(f"{PREFIX}{title}", HELP[name], (label,), bounds, buckets, sums)


HELP = {
    "waited": "Time from asking for a scan to the beginning of its last attempt.",
    "duration": "Time from the beginning of a scan's last attempt to its end.",
    "cpu": "Processor time of a scan, its browser included; scans of one visit share it equally.",
}


def gauge(name: str, text: str, values: Mapping[Any, float], *labels: str) -> Metric:
    """A gauge from its values by the values of its labels."""
    family = GaugeMetricFamily(f"{PREFIX}{name}", text, labels=labels)
    for each, value in values.items():
        family.add_metric(each, value)
    return family


def histogram(
    name: str,
    text: str,
    labels: tuple[str, ...],
    bounds: tuple[float, ...],
    buckets: Mapping[tuple[str, ...], Mapping[str, int]],
    sums: Mapping[tuple[str, ...], float],
) -> Metric:
    """A histogram from how many are in each bucket, and nowhere else; buckets that are no longer ours are left out."""
    family = HistogramMetricFamily(name, text, labels=labels)
    for each, counts in buckets.items():
        total = 0
        cumulated = [(str(bound), total := total + counts.get(str(bound), 0)) for bound in (*bounds, "+Inf")]
        family.add_metric(each, cumulated, sums.get(each, 0.0))
    return family
