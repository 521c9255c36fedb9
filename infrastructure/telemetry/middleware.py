"""Middleware that counts and times every request by its route, and writes an access log line."""

from __future__ import annotations

import time
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from infrastructure.logging import current_id
from infrastructure.telemetry import access_log, tracing
from infrastructure.telemetry.counters import counted, counters, observed
from infrastructure.telemetry.process_metrics import HTTP_CPU, HTTP_DURATION, HTTP_REQUESTS

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
# Health check paths. They are answered before Django resolves the URL, and monitoring systems request them all day.
PROBE_PATHS = ("/healthz", "/readyz")
METRICS_PATH = "/metrics"
MONITORING_PATHS = frozenset({*PROBE_PATHS, METRICS_PATH})
UNKNOWN = "unknown"


class TelemetryMiddleware:
    """Middleware for request metrics, the access log and tracing.

    It runs inside TrustedProxyMiddleware and RequestIdMiddleware, because it needs the client's address and the request
    ID, and outside all other middleware.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not tracing.is_on():
            return self._measured(request)[0]
        with tracing.request_span(current_id.get()) as attributes:
            response, route = self._measured(request)
            attributes |= {
                "name": f"{request.method} {route}",
                "http.request.method": request.method or "",
                "http.route": route,
                "http.response.status_code": response.status_code,
            }
        return response

    def _measured(self, request: HttpRequest) -> tuple[HttpResponse, str]:
        began_s, began_cpu_s = time.perf_counter(), time.thread_time()
        response = self.get_response(request)
        cpu_s = time.thread_time() - began_cpu_s
        return response, record_request(request, response.status_code, time.perf_counter() - began_s, cpu_s)


def record_request(request: HttpRequest, status: int, wall_s: float, cpu_s: float) -> str:
    """Count a request, log it, and return its route.

    Health checks and /metrics are logged only if their status is not 200.
    """
    route = route_of(request)
    method = request.method if request.method in METHODS else "other"
    counters.add(
        [
            counted(HTTP_REQUESTS, route, method, str(status)),
            counted(HTTP_CPU, route, by=cpu_s),
            *observed(HTTP_DURATION, wall_s, route),
        ]
    )
    if route not in MONITORING_PATHS or status != 200:
        access_log.log_request(
            method=method,
            route=route,
            status=status,
            wall_s=wall_s,
            cpu_s=cpu_s,
            organization=_organization(request),
            client=request.META.get("REMOTE_ADDR", ""),
        )
    return route


def route_of(request: HttpRequest) -> str:
    """Return the request's URL pattern from `config.urls`, such as `/v1/scans/<any:scan_id>`, or `unknown`."""
    match = request.resolver_match
    if match is not None:
        # Only the fallbacks for unknown paths are regular expressions.
        return UNKNOWN if match.route.startswith("^") else f"/{match.route}"
    path = request.path_info
    if path in MONITORING_PATHS:
        return path
    return settings.STATIC_URL if path.startswith(settings.STATIC_URL) else UNKNOWN


def _organization(request: HttpRequest) -> int | None:
    """Return the organization's ID if the request has an API key or is for a dashboard page, otherwise None."""
    membership = getattr(request, "membership", None)
    id: int | None = membership.organization_id if membership else getattr(request, "organization_id", None)
    return id
