"""Definitions of the metrics that come from rows, Redis and the workers.

The metrics that processes count are in `infrastructure.telemetry.definitions`. `make docs` lists all metrics in
docs/metrics.md.
"""

from __future__ import annotations

from dataclasses import dataclass

from infrastructure.telemetry.counters import Counter, Histogram
from infrastructure.telemetry.definitions import PREFIX
from scans.visits import tallies


@dataclass(frozen=True, slots=True)
class Gauge:
    """Prometheus gauge: its name, help text and labels."""

    name: str
    help: str
    labels: tuple[str, ...] = ()


SCANS_ENDED = Counter(
    f"{PREFIX}scans_ended",
    "Scans that have ended; `reason` is the error code of a failed one, `class` is `interactive` where somebody waits "
    "for it, else `background`.",
    ("type", "status", "reason", "class"),
)
SCAN_WAIT = Histogram(
    f"{PREFIX}scan_wait_seconds",
    "From asking for a scan to the beginning of its last attempt.",
    ("class",),
    tallies.WAITED_S,
)
SCAN_DURATION = Histogram(
    f"{PREFIX}scan_duration_seconds",
    "From the beginning of a scan's last attempt to its end.",
    ("type",),
    tallies.DURATION_S,
)
SCAN_CPU = Histogram(
    f"{PREFIX}scan_cpu_seconds",
    "Processor time, the browser's included; scans of one visit share it equally.",
    ("type",),
    tallies.CPU_S,
)
VISITS_QUEUED = Gauge(
    f"{PREFIX}visits_queued",
    "Visits to pages that wait; a visit has one scan of each type that was asked for.",
    ("queue", "class"),
)
OLDEST_VISIT = Gauge(
    f"{PREFIX}oldest_visit_seconds",
    "How long the oldest of the visits that wait has waited, 0 where none waits.",
    ("queue", "class"),
)
QUEUE_AGE = Gauge(
    f"{PREFIX}queue_age_seconds",
    "How long an organization waits that has nothing running: a new scan would, too, however much others have queued; "
    "`SCAN_QUEUE_AGE_LIMIT` bounds it.",
    ("queue",),
)
VISITS_RUNNING = Gauge(f"{PREFIX}visits_running", "Visits that a worker is at.", ("queue", "class"))
VISITS_INTERRUPTED = Gauge(f"{PREFIX}visits_interrupted", "Visits whose worker died, until another takes them.")
AUDITS_UNFINISHED = Gauge(f"{PREFIX}audits_unfinished", "Audits in progress or waiting.")
AUDIT_PAGES_WAITING = Gauge(f"{PREFIX}audit_pages_waiting", "Pages of audits that wait for a slot.")
MONITORS_DUE = Gauge(f"{PREFIX}monitors_due", "Runs of monitors whose time has come and that have not begun.")
MONITORS_LATE = Gauge(f"{PREFIX}monitors_late", "Runs of monitors that should have begun ten minutes ago.")
LIST_RUNS = Gauge(f"{PREFIX}list_runs", "Runs of lists in progress.")
LIST_SITES_DUE = Gauge(f"{PREFIX}list_sites_due", "Sites of lists whose time has come and that have not begun.")
LISTS_LATE = Gauge(f"{PREFIX}lists_late", "Lists whose run should have begun ten minutes ago.")
DELIVERIES_PENDING = Gauge(
    f"{PREFIX}deliveries_pending", "Deliveries to come: `sending`, `due`, or `later` (to be tried again).", ("state",)
)
OLDEST_DUE_DELIVERY = Gauge(f"{PREFIX}oldest_due_delivery_seconds", "How long the oldest delivery has been due.")
WEBHOOKS = Gauge(f"{PREFIX}webhooks", "Webhooks that are `failing`, and those `disabled` for it.", ("state",))
MAILS_WAITING = Gauge(f"{PREFIX}mails_waiting", "E-mails that wait to be sent.")
OLDEST_MAIL = Gauge(f"{PREFIX}oldest_mail_seconds", "How long the oldest e-mail that waits has waited.")
MAINTENANCE = Gauge(f"{PREFIX}maintenance", "1 while maintenance is on.")

QUEUE_MESSAGES = Gauge(
    f"{PREFIX}queue_messages", "Messages in a queue; they only wake workers, rows say what waits.", ("queue",)
)
QUEUE_WORKERS = Gauge(f"{PREFIX}queue_workers", "Workers that take from a queue, as far as they answer.", ("queue",))
SCHEDULER_SILENCE = Gauge(
    f"{PREFIX}scheduler_silence_seconds", "Time since the scheduler's most frequent task ran or had nothing to do."
)
UP = Gauge(
    f"{PREFIX}up", "Whether `postgresql` and `redis` answer; what only they know is missing meanwhile.", ("server",)
)
INFO = Gauge(f"{PREFIX}info", "Always 1; the version of the process that answered.", ("version",))

OF_ROWS = (
    *(SCANS_ENDED, SCAN_WAIT, SCAN_DURATION, SCAN_CPU),
    *(VISITS_QUEUED, OLDEST_VISIT, QUEUE_AGE, VISITS_RUNNING, VISITS_INTERRUPTED),
    *(AUDITS_UNFINISHED, AUDIT_PAGES_WAITING, MONITORS_DUE, MONITORS_LATE, LIST_RUNS, LIST_SITES_DUE, LISTS_LATE),
    *(DELIVERIES_PENDING, OLDEST_DUE_DELIVERY, WEBHOOKS, MAILS_WAITING, OLDEST_MAIL, MAINTENANCE),
)
OF_SERVERS = (QUEUE_MESSAGES, QUEUE_WORKERS, SCHEDULER_SILENCE, UP, INFO)
