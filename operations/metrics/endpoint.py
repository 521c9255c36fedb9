"""/metrics for Prometheus.

Any web process can return the metrics from all processes on all hosts.
"""

from __future__ import annotations

import hmac
import threading
import time
from collections.abc import Callable, Iterator

import redis
from django.conf import settings
from django.db import DatabaseError, InterfaceError
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector, CollectorRegistry

from infrastructure.cache import outage
from infrastructure.postgresql.hang_detection import log_failure
from infrastructure.telemetry.counters import counters
from infrastructure.telemetry.middleware import METRICS_PATH
from operations.health.state import messages_in_queues
from operations.metrics import servers
from operations.metrics.families import gauge
from operations.metrics.processes import process_metrics
from operations.metrics.rows import row_metrics
from website_scan import __version__

# Cache lifetime of collected metrics, so that PostgreSQL, Redis and the workers are not queried more often.
KEPT_S = 5.0
# Maximum time for which a request waits while another request collects the metrics.
PATIENCE_S = 10.0


class MetricsMiddleware:
    """Middleware that answers /metrics before Django validates the Host header.

    Prometheus sends IP addresses.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path_info == METRICS_PATH and settings.METRICS_TOKEN:
            return metrics(request)
        return self.get_response(request)


def metrics(request: HttpRequest) -> HttpResponse:
    """Return the metrics for a request with `METRICS_TOKEN` as its bearer token."""
    if request.method not in ("GET", "HEAD"):
        return HttpResponseNotAllowed(["GET", "HEAD"])
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not hmac.compare_digest(token.strip().encode(), settings.METRICS_TOKEN.encode()):
        return HttpResponse(
            "Send METRICS_TOKEN as a bearer.\n", "text/plain", 401, headers={"WWW-Authenticate": "Bearer"}
        )
    families = _latest.get()
    if families is None:
        return HttpResponse("Others are asking. Try again.\n", "text/plain", 503, headers={"Retry-After": "5"})
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_CachedCollector(families))
    encode, content_type = choose_encoder(request.headers.get("Accept", ""))
    return HttpResponse(encode(registry), content_type, headers={"Cache-Control": "no-store"})


class _CachedCollector(Collector):
    def __init__(self, families: list[Metric]) -> None:
        self._families = families

    def collect(self) -> list[Metric]:
        return self._families


class _MetricsCache:
    """Cache for collected metrics.

    One thread collects, and requests that arrive meanwhile wait for its result.

    Waiting requests do not get the previous result: a client that has requested another process since would see
    counters decrease, and treat that as a restart.
    """

    def __init__(self, collect: Callable[[], Iterator[Metric]]) -> None:
        self._collect = collect
        self._lock = threading.Lock()
        self._families: list[Metric] | None = None
        self._expires_at = self._ended_at = 0.0

    def get(self) -> list[Metric] | None:
        """Return metrics at most `KEPT_S` old, or None if another thread collects for longer than `PATIENCE_S`."""
        requested_at = time.monotonic()
        if requested_at < self._expires_at:
            return self._families
        if not self._lock.acquire(timeout=PATIENCE_S):
            return None
        try:
            if self._ended_at < requested_at:
                began_at = time.monotonic()
                self._families = [*self._collect()]
                self._expires_at, self._ended_at = began_at + KEPT_S, time.monotonic()
            return self._families
        finally:
            self._lock.release()

    def forget(self) -> None:
        """Clear the cache, for tests."""
        self._families = None
        self._expires_at = self._ended_at = 0.0


def _all_metrics() -> Iterator[Metric]:
    """Yield all metrics.

    If PostgreSQL or Redis does not answer, its metrics are missing, and its metric `up` is 0.
    """
    yield gauge(servers.INFO, {(__version__,): 1})
    messages = messages_in_queues()
    if messages is not None:
        yield from servers.redis_metrics(messages)
    metrics_from_rows: list[Metric] = []
    try:
        metrics_from_rows = [*row_metrics()]
    except (DatabaseError, InterfaceError) as error:
        log_failure(error)
    yield from metrics_from_rows
    yield gauge(servers.UP, {("postgresql",): int(bool(metrics_from_rows)), ("redis",): int(messages is not None)})
    try:
        totals = counters.totals()
    except redis.RedisError as error:
        outage.begin(error)
    else:
        yield from process_metrics(totals)


_latest = _MetricsCache(_all_metrics)
