"""/metrics for Prometheus: the metrics of all processes on all hosts. Any web process can answer."""

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
from infrastructure.postgresql.silence import log_failure
from infrastructure.telemetry.counters import counters
from infrastructure.telemetry.middleware import METRICS_PATH
from operations.health.state import messages_in_queues
from operations.metrics import servers
from operations.metrics.families import gauge
from operations.metrics.processes import process_metrics
from operations.metrics.rows import row_metrics
from website_scan import __version__

# Lifetime of collected metrics: PostgreSQL, Redis and the workers are not queried more often.
KEPT_S = 5.0
# Maximum wait of a request while another one collects.
PATIENCE_S = 10.0


class MetricsMiddleware:
    """Answer /metrics before Django validates the Host header, like health probes: Prometheus uses IP addresses."""

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
    registry.register(_Kept(families))
    encode, content_type = choose_encoder(request.headers.get("Accept", ""))
    return HttpResponse(encode(registry), content_type, headers={"Cache-Control": "no-store"})


class _Kept(Collector):
    def __init__(self, families: list[Metric]) -> None:
        self._families = families

    def collect(self) -> list[Metric]:
        return self._families


class _Latest:
    """Cache of the metrics. One thread collects; requests that arrive meanwhile wait for its result.

    They do not get the previous result: a client that has asked another process since would see counters decrease and
    take that for a restart.
    """

    def __init__(self, collect: Callable[[], Iterator[Metric]]) -> None:
        self._collect = collect
        self._lock = threading.Lock()
        self._families: list[Metric] | None = None
        self._until = self._ended_at = 0.0

    def get(self) -> list[Metric] | None:
        """Return metrics at most `KEPT_S` old; None if another thread collects for longer than `PATIENCE_S`."""
        asked_at = time.monotonic()
        if asked_at < self._until:
            return self._families
        if not self._lock.acquire(timeout=PATIENCE_S):
            return None
        try:
            if self._ended_at < asked_at:
                began_at = time.monotonic()
                self._families = [*self._collect()]
                self._until, self._ended_at = began_at + KEPT_S, time.monotonic()
            return self._families
        finally:
            self._lock.release()

    def forget(self) -> None:
        """Clear the cache, for tests."""
        self._families = None
        self._until = self._ended_at = 0.0


def _all() -> Iterator[Metric]:
    """Yield all metrics. If PostgreSQL or Redis does not answer, its metrics are missing and `up` says so."""
    yield gauge(servers.INFO, {(__version__,): 1})
    messages = messages_in_queues()
    if messages is not None:
        yield from servers.redis_metrics(messages)
    of_rows: list[Metric] = []
    try:
        of_rows = [*row_metrics()]
    except (DatabaseError, InterfaceError) as error:
        log_failure(error)
    yield from of_rows
    yield gauge(servers.UP, {("postgresql",): int(bool(of_rows)), ("redis",): int(messages is not None)})
    try:
        totals = counters.totals()
    except redis.RedisError as error:
        outage.begin(error)
    else:
        yield from process_metrics(totals)


_latest = _Latest(_all)
