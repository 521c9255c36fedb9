"""One line for each request, scan and attempt to deliver: whose, how long, and by which request it was asked for.

Never an address: routes as the code names them, so that no key, token or shared link gets into a log.
"""

from __future__ import annotations

import logging

# Not below a logger of ours: it has a handler of its own, and `ACCESS_LOG=off` silences it alone.
LOGGER = "access"

_logger = logging.getLogger(LOGGER)


def write(kind: str, what: str, fields: dict[str, object]) -> None:
    """A line of this kind ("request", "scan", "delivery"); `what` is for people, both together are for machines."""
    if _logger.isEnabledFor(logging.INFO):
        # Not `_logger.info`, which looks through the stack for who called.
        record = _logger.makeRecord(LOGGER, logging.INFO, "", 0, what, (), None)
        record.fields = {"kind": kind, **fields}
        _logger.handle(record)


def request_line(
    *, method: str, route: str, status: int, wall_s: float, cpu_s: float, organization: int | None, client: str
) -> None:
    """Of a request that was answered; `client` is the address behind the proxies that are trusted."""
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


def scan_line(
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
    """Of a scan that has ended; `cpu_s` is its share of its visit's, if known."""
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


def delivery_line(
    *, delivery: str, webhook: str, event: str, outcome: str, status: int | None, error: str, wall_ms: int, attempt: int
) -> None:
    """Of an attempt to deliver an event; `status` is the receiver's."""
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
