"""What processes count. What is counted from rows stands in `operations.rows`, all of it in docs/metrics.md."""

from __future__ import annotations

from infrastructure.telemetry.counters import Counter, Histogram

PREFIX = "website_scan_"

HTTP_REQUESTS = Counter(
    f"{PREFIX}http_requests", "Requests answered, by route, method and status.", ("route", "method", "status")
)
HTTP_DURATION = Histogram(
    f"{PREFIX}http_request_duration_seconds",
    "Time until a response was ready, by route.",
    ("route",),
    (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0),
)
HTTP_CPU = Counter(
    f"{PREFIX}http_request_cpu_seconds", "Processor time of web's threads for requests, by route.", ("route",), True
)
REFUSALS = Counter(
    f"{PREFIX}refusals",
    "What was asked for and refused, by the error code that the client was told, in the API or on a page.",
    ("code",),
)
EGRESS_REFUSED = Counter(
    f"{PREFIX}egress_refused",
    "Connections to addresses that may not be contacted, refused by the guard, by what asked for them.",
    ("source",),
)
BROWSER_STARTS = Counter(f"{PREFIX}browser_starts", "Browsers started by workers.")
BROWSER_ENDS = Counter(
    f"{PREFIX}browser_ends",
    "Browsers ended by workers: worn (after fifty loads), unneeded, memory (a page took too much), failed.",
    ("reason",),
)
DELIVERY_ATTEMPTS = Counter(
    f"{PREFIX}delivery_attempts",
    "Attempts to deliver an event to a webhook, by outcome: delivered, retry, failed, gone.",
    ("outcome",),
)
DELIVERY_DURATION = Histogram(
    f"{PREFIX}delivery_duration_seconds",
    "Time of an attempt to deliver, until the answer was read or the attempt failed.",
    (),
    (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0),
)

COUNTERS = (HTTP_REQUESTS, HTTP_CPU, REFUSALS, EGRESS_REFUSED, BROWSER_STARTS, BROWSER_ENDS, DELIVERY_ATTEMPTS)
HISTOGRAMS = (HTTP_DURATION, DELIVERY_DURATION)
