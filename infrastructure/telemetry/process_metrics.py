"""Definitions of the metrics that processes count in memory. `operations.metrics` exposes them at /metrics."""

from __future__ import annotations

from infrastructure.telemetry.counters import PREFIX, Counter, Histogram

HTTP_REQUESTS = Counter(
    f"{PREFIX}http_requests",
    "Requests answered; `route` is the address with names for what changes, `unknown` where nothing is.",
    ("route", "method", "status"),
)
HTTP_DURATION = Histogram(
    f"{PREFIX}http_request_duration_seconds",
    "Until the answer was ready.",
    ("route",),
    (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0),
)
HTTP_CPU = Counter(
    f"{PREFIX}http_request_cpu_seconds", "Processor time of the thread that answered.", ("route",), is_seconds=True
)
REFUSALS = Counter(
    f"{PREFIX}refusals",
    "Requests to the API, and forms of pages, that were refused, by error code: `RATE_LIMITED`, `QUOTA_EXCEEDED`, "
    "`CONCURRENT_LIMIT`, `SERVICE_UNAVAILABLE` are the limits.",
    ("code",),
)
EGRESS_REFUSED = Counter(
    f"{PREFIX}egress_refused", "Connections that the guard refused to a `scan` or a `delivery`.", ("source",)
)
OTHER_SITES = Counter(f"{PREFIX}requests_to_other_sites", "Requests of scans to sites that nobody asked to scan.")
OTHER_SITES_REFUSED = Counter(
    f"{PREFIX}requests_to_other_sites_refused",
    "Those refused because one `account`, or the whole `installation`, has sent a site enough of them.",
    ("limit",),
)
BROWSER_STARTS = Counter(f"{PREFIX}browser_starts", "Browsers started by workers.")
BROWSER_ENDS = Counter(
    f"{PREFIX}browser_ends",
    "Browsers ended: `worn` (after fifty loads), `unneeded`, `memory` (a page took too much), `failed` (it hung, "
    "crashed, or a page would not be left).",
    ("reason",),
)
DELIVERY_ATTEMPTS = Counter(
    f"{PREFIX}delivery_attempts",
    "Attempts to deliver: `delivered`, `retry`, `failed`, `gone`.",
    ("outcome",),
)
DELIVERY_DURATION = Histogram(
    f"{PREFIX}delivery_duration_seconds",
    "Time of an attempt.",
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
