"""Definitions for the metrics that processes count in memory.

`operations.metrics` exposes them at /metrics.
"""

from __future__ import annotations

from infrastructure.telemetry.counters import PREFIX, Counter, Histogram

HTTP_REQUESTS = Counter(
    f"{PREFIX}http_requests",
    "Requests answered; `route` is the path with names for its variable parts, or `unknown`.",
    ("route", "method", "status"),
)
HTTP_DURATION = Histogram(
    f"{PREFIX}http_request_duration_seconds",
    "Time until the response was ready.",
    ("route",),
    (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0),
)
HTTP_CPU = Counter(
    f"{PREFIX}http_request_cpu_seconds",
    "Processor time of the thread that answered.",
    ("route",),
    is_seconds=True,
)
REFUSALS = Counter(
    f"{PREFIX}refusals",
    "Refused API requests and forms, by error code; those of limits are `RATE_LIMITED`, `QUOTA_EXCEEDED`, "
    "`CONCURRENT_LIMIT` and `SERVICE_UNAVAILABLE`.",
    ("code",),
)
EGRESS_REFUSED = Counter(
    f"{PREFIX}egress_refused", "Connections that the guard refused to a `scan` or a `delivery`.", ("source",)
)
OTHER_SITES = Counter(f"{PREFIX}requests_to_other_sites", "Requests of scans to sites that nobody requested to scan.")
OTHER_SITES_REFUSED = Counter(
    f"{PREFIX}requests_to_other_sites_refused",
    "Requests to other sites that were refused, because an `account` or the `installation` has reached its limit.",
    ("limit",),
)
BROWSER_STARTS = Counter(f"{PREFIX}browser_starts", "Browsers started by workers.")
BROWSER_ENDS = Counter(
    f"{PREFIX}browser_ends",
    "Browsers ended: `worn` (after fifty loads), `unneeded`, `memory` (a page used too much), `failed` (it hung, "
    "crashed, or could not leave a page).",
    ("reason",),
)
DELIVERY_ATTEMPTS = Counter(
    f"{PREFIX}delivery_attempts",
    "Delivery attempts: `delivered`, `retry`, `failed`, `gone`.",
    ("outcome",),
)
DELIVERY_DURATION = Histogram(
    f"{PREFIX}delivery_duration_seconds",
    "Duration of an attempt.",
    (),
    (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0),
)

PROCESS_METRICS = (
    *(HTTP_REQUESTS, HTTP_DURATION, HTTP_CPU, REFUSALS, EGRESS_REFUSED),
    *(OTHER_SITES, OTHER_SITES_REFUSED),
    *(BROWSER_STARTS, BROWSER_ENDS, DELIVERY_ATTEMPTS, DELIVERY_DURATION),
)
COUNTERS = tuple(metric for metric in PROCESS_METRICS if isinstance(metric, Counter))
HISTOGRAMS = tuple(metric for metric in PROCESS_METRICS if isinstance(metric, Histogram))
