"""Budgets of requests, bytes and seconds, for a scan and for each of its exchanges."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from website_scan.net.deadline import Deadline
from website_scan.net.errors import BudgetExceeded

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits in seconds and bytes. The first group applies to one exchange, the second to all of a `Network`."""

    connect_s: float = 5.0  # limit for DNS + TCP; the TLS handshake gets the same limit again
    first_byte_s: float = 15.0  # from the request to the end of the response's headers
    total_s: float = 30.0
    header_bytes: int = 64 * 1024
    body_bytes: int = 5 * MIB  # on the wire
    decoded_bytes: int = 10 * MIB

    requests: int = 600
    requests_per_host: int = 300
    total_bytes: int = 100 * MIB
    redirects: int = 10


class SharedBudget(Protocol):
    """Budget of requests that several scans share. Thread-safe.

    `Limits` are for one scan. A service that runs many scans must also ensure that all scans together do not send more
    requests to a site than the site can handle, whatever URLs users enter.
    """

    def request(self, host: str, port: int, addresses: Collection[str]) -> None:
        """Count a request to a host at one of its `addresses`. Raises BudgetExceeded if it exceeds a limit."""
        ...


class Meter:
    """Counter of the requests and bytes of a `Network`. Thread-safe."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._per_host: Counter[str] = Counter()
        self.requests = 0
        self.received_bytes = 0

    def request(self, host: str) -> None:
        """Count a request. Raises BudgetExceeded if it exceeds the limit."""
        with self._lock:
            if self.requests >= self._limits.requests:
                raise BudgetExceeded(f"The scan would take more than {self._limits.requests} requests.")
            if self._per_host[host] >= self._limits.requests_per_host:
                raise BudgetExceeded(
                    f"The scan would take more than {self._limits.requests_per_host} requests to {host}."
                )
            self.requests += 1
            self._per_host[host] += 1

    def has_room_again(self, times: int) -> bool:
        """Return True if the budget allows one more repetition of the requests that were sent `times` times so far."""
        factor = 1 + 1 / times
        with self._lock:
            busiest = max(self._per_host.values(), default=0)
        return self.requests * factor <= self._limits.requests and busiest * factor <= self._limits.requests_per_host

    def received(self, count: int) -> None:
        """Count received bytes. Raises BudgetExceeded if they exceed the limit."""
        with self._lock:
            self.received_bytes += count
            if self.received_bytes > self._limits.total_bytes:
                raise BudgetExceeded(f"The site sent more than {self._limits.total_bytes / MIB:g} MiB.")


class Meters:
    """Guard of a connection outside of this client's HTTP: a deadline, and the scan's byte budget."""

    def __init__(self, deadline: Deadline, meter: Meter) -> None:
        self._deadline = deadline
        self._meter = meter

    def timeout_s(self) -> float:
        """Return the remaining seconds. Raises TimeoutError if there are none."""
        return _require_time(self._deadline)

    def received(self, count: int) -> None:
        """Count received bytes."""
        self._meter.received(count)


class Exchange:
    """One request and its response. Guards the connection during the exchange."""

    def __init__(self, deadline: Deadline, limits: Limits, meter: Meter, request_path: str, *, is_fresh: bool) -> None:
        self.deadline = deadline
        self.request_path = request_path  # as in the request line
        self.is_fresh = is_fresh  # must not reuse a kept-alive connection
        self.is_reused = True  # until a new connection is opened for the exchange
        self.connect_s = 0.0
        self.sent_at = 0.0
        self.address = ""
        self.tls_version = ""
        self.tls_cipher = ""
        self._meter = meter
        self._limits = limits
        self._phase = deadline

    def connecting(self) -> None:
        """Start the connection phase: the time limit for connecting applies."""
        self.is_reused = False
        self._phase = self.deadline.within(self._limits.connect_s)

    def sending(self) -> None:
        """Start the request on the open connection: the time limit up to the end of the response's headers applies."""
        self.sent_at = time.monotonic()
        self._phase = self.deadline.within(self._limits.first_byte_s)

    def reading_body(self) -> None:
        """Start the response's body: the time limit of the whole exchange applies."""
        self._phase = self.deadline

    def timeout_s(self) -> float:
        """Return the remaining seconds of the exchange's current phase. Raises TimeoutError if there are none."""
        return _require_time(self._phase)

    def received(self, count: int) -> None:
        """Count received bytes."""
        self._meter.received(count)


def _require_time(deadline: Deadline) -> float:
    remaining = deadline.remaining_s()
    if remaining <= 0:
        raise TimeoutError("the time is used up")
    return remaining
