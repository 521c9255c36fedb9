"""Budgets of requests, bytes and seconds for a scan and for each of its exchanges."""

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
    """Limits in seconds and bytes. The first group is for one exchange, the second for the life of a `Network`."""

    connect_s: float = 5.0  # name and TCP; TLS gets the same again
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

    The limits above are for one scan. Who runs many of them must see to it that all together do not send more requests
    to a site than it can take, whatever address was typed.
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
        """Return True if the budget allows one more repetition of what has been requested `times` times so far."""
        more = 1 + 1 / times
        with self._lock:
            busiest = max(self._per_host.values(), default=0)
        return self.requests * more <= self._limits.requests and busiest * more <= self._limits.requests_per_host

    def received(self, count: int) -> None:
        """Count received bytes. Raises BudgetExceeded if they exceed the limit."""
        with self._lock:
            self.received_bytes += count
            if self.received_bytes > self._limits.total_bytes:
                raise BudgetExceeded(f"The site sent more than {self._limits.total_bytes / MIB:g} MiB.")


class Meters:
    """Guard of a connection that does not carry HTTP of this client: a deadline, and the scan's bytes."""

    def __init__(self, deadline: Deadline, meter: Meter) -> None:
        self._deadline = deadline
        self._meter = meter

    def timeout_s(self) -> float:
        """Return the seconds left. Raises TimeoutError if there are none."""
        return _left_s(self._deadline)

    def received(self, count: int) -> None:
        """Count received bytes."""
        self._meter.received(count)


class Exchange:
    """One request and its answer. Guards the connection while it carries them."""

    def __init__(self, deadline: Deadline, limits: Limits, meter: Meter, request_path: str, *, is_fresh: bool) -> None:
        self.deadline = deadline
        self.request_path = request_path  # as in the request line
        self.is_fresh = is_fresh  # must not use a kept-alive connection
        self.is_reused = True  # until a connection is opened for it
        self.connect_s = 0.0
        self.sent_at = 0.0
        self.address = ""
        self.tls_version = ""
        self.tls_cipher = ""
        self._meter = meter
        self._limits = limits
        self._phase = deadline

    def connecting(self) -> None:
        """Begin a connection: the time limit for connecting applies."""
        self.is_reused = False
        self._phase = self.deadline.within(self._limits.connect_s)

    def sending(self) -> None:
        """Begin the request on the open connection: the time limit up to the end of the response's headers applies."""
        self.sent_at = time.monotonic()
        self._phase = self.deadline.within(self._limits.first_byte_s)

    def reading_body(self) -> None:
        """Begin the response's body: the time limit of the whole exchange applies."""
        self._phase = self.deadline

    def timeout_s(self) -> float:
        """Return the seconds left in the current phase of the exchange. Raises TimeoutError if there are none."""
        return _left_s(self._phase)

    def received(self, count: int) -> None:
        """Count received bytes."""
        self._meter.received(count)


def _left_s(deadline: Deadline) -> float:
    remaining = deadline.remaining_s()
    if remaining <= 0:
        raise TimeoutError("the time is used up")
    return remaining
