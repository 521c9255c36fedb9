"""Liveness and readiness probes, `/healthz` and `/readyz`."""

from __future__ import annotations

from collections.abc import Callable

from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, JsonResponse

from infrastructure.cache import redis_answers
from infrastructure.maintenance import maintenance_notice, retry_after_s
from infrastructure.postgresql.availability import has_pending_migrations, is_disk_full, write_to_postgresql
from infrastructure.postgresql.hang_detection import log_failure
from infrastructure.telemetry.middleware import PROBE_PATHS


def healthz(_request: HttpRequest) -> JsonResponse:
    """Return 200 while the process runs.

    Neither PostgreSQL nor Redis is queried.
    """
    return JsonResponse({"status": "ok"})


def readyz(_request: HttpRequest) -> JsonResponse:
    """Return 200 if the service can answer requests, else a 503 with the problems."""
    problems = {}
    try:
        if has_pending_migrations():
            problems["migrations"] = "The database is older than this version: run `manage.py prepare`."
        write_to_postgresql()
    except DatabaseError as error:
        log_failure(error)
        problems["postgresql"] = (
            "PostgreSQL's disk is full: free space on it." if is_disk_full(error) else "PostgreSQL does not answer."
        )
    if not redis_answers():
        problems["redis"] = "Redis does not answer."
    notice = maintenance_notice()
    if notice:
        problems["maintenance"] = "Maintenance mode is on."
    if problems:
        response = JsonResponse({"status": "unavailable", "problems": problems}, status=503)
        response["Retry-After"] = str(retry_after_s(notice) if notice else 5)
        return response
    return JsonResponse({"status": "ready"})


PROBES = dict(zip(PROBE_PATHS, (healthz, readyz), strict=True))


class HealthMiddleware:
    """Middleware that answers both probes before Django validates the Host header.

    Load balancers send an IP address as Host, which Django would refuse.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        probe = PROBES.get(request.path_info)
        return probe(request) if probe else self.get_response(request)
