"""Access log with one line per request, scan and delivery attempt.

Lines contain URL patterns (routes) instead of URLs, so that no key, token or shared link gets into a log.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time

from django.conf import settings

from infrastructure.logging import NO_ID, current_id, current_job


def write(kind: str, what: str, fields: dict[str, object]) -> None:
    """Write an access log line to stderr.

    `kind` is "request", "scan" or "delivery".

    With `LOG_FORMAT=json` the line consists of `fields`, else of the text `what`. Python's logging is not used, because
    a record and its handler cost as much as all other telemetry of a request.
    """
    if not settings.ACCESS_LOG:
        return
    request, job = current_id.get(), current_job.get()
    if settings.LOG_FORMAT == "json":
        header = {"time": time.strftime("%Y-%m-%dT%H:%M:%S%z"), "level": "INFO", "logger": "access"}
        line = json.dumps({**header, "request_id": request, "job": job, "kind": kind, "message": what, **fields})
    else:
        line = f"INFO access [{request if job == NO_ID else f'{request} {job}'}] {what}"
    with contextlib.suppress(OSError, ValueError):  # The reader of stderr may have closed the pipe.
        sys.stderr.write(line + "\n")


def log_request(
    *, method: str, route: str, status: int, wall_s: float, cpu_s: float, organization: int | None, client: str
) -> None:
    """Write the line for an answered request.

    `client` is the client's IP address behind trusted proxies.
    """
    write(
        "request",
        f"{method} {route} {status} {wall_s * 1000:.1f} ms, {cpu_s * 1000:.1f} ms CPU, "
        f"organization {organization or '-'}, client {client}",
        {
            "method": method,
            "route": route,
            "status": status,
            "duration_ms": round(wall_s * 1000, 1),
            "cpu_ms": round(cpu_s * 1000, 1),
            "organization": organization,
            "client": client,
        },
    )


def log_scan(  # noqa: PLR0913 -- The arguments are the fields of the line, by keyword.
    *,
    scan: str,
    scan_type: str,
    status: str,
    reason: str,
    waited_s: float,
    wall_s: float,
    cpu_s: float | None,
    attempt: int,
    organization: int,
) -> None:
    """Write the line for a scan that ended.

    `cpu_s` is its share of the visit's CPU time, or None if unknown.
    """
    cpu = "-" if cpu_s is None else f"{cpu_s:.2f}"
    write(
        "scan",
        f"{scan} {scan_type} {status}{f' {reason}' if reason else ''} {wall_s:.2f} s, {cpu} s CPU, "
        f"waited {waited_s:.2f} s, attempt {attempt}, organization {organization}",
        {
            "scan": scan,
            "type": scan_type,
            "status": status,
            "reason": reason or None,
            "duration_ms": round(wall_s * 1000),
            "cpu_ms": None if cpu_s is None else round(cpu_s * 1000),
            "waited_ms": round(waited_s * 1000),
            "attempt": attempt,
            "organization": organization,
        },
    )


def log_delivery(  # noqa: PLR0913 -- The arguments are the fields of the line, by keyword.
    *, delivery: str, webhook: str, event: str, outcome: str, status: int | None, error: str, wall_ms: int, attempt: int
) -> None:
    """Write the line for an attempted delivery.

    `status` is the HTTP status that the receiver returned.
    """
    write(
        "delivery",
        f"{delivery} {event} to {webhook} {outcome}, attempt {attempt}, {status or error} {wall_ms} ms",
        {
            "delivery": delivery,
            "webhook": webhook,
            "event": event,
            "outcome": outcome,
            "status": status,
            "error": error or None,
            "duration_ms": wall_ms,
            "attempt": attempt,
        },
    )
