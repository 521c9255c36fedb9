"""Limits for requests, bytes and seconds.

They apply to a scan and to each HTTP exchange.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Collection
from typing import Protocol

from msgspec import Struct

from website_scan.net.deadline import Deadline
from website_scan.net.errors import BudgetExceeded

MIB = 1024 * 1024


class Limits(Struct, frozen=True):
    """Limits of a scan's network in seconds and bytes.

    The first group applies to each HTTP exchange, the second to a whole scan.
    """

    connect_s: float = 5.0  # Limit for DNS + TCP; the TLS handshake gets the same limit again.
    first_byte_s: float = 15.0  # Limit from the request to the end of the response headers.
    total_s: float = 30.0
    header_bytes: int = 64 * 1024
    body_bytes: int = 5 * MIB  # Maximum size of the body as sent, perhaps compressed.
    decoded_bytes: int = 10 * MIB

    requests: int = 600
    requests_per_host: int = 300
    total_bytes: int = 100 * MIB
    redirects: int = 10
    dns_queries: int = 80  # Limit for queries about a domain. Addresses to connect to are resolved without it.


class SharedBudget(Protocol):
    """Request budget that several scans share.

    Thread-safe. `Limits` are for one scan. A service that runs many scans must also ensure that all scans together do
    not send more requests to a site than the site can handle, whatever URLs users enter.
    """

    def request(self, host: str, port: int, addresses: Collection[str]) -> None:
        """Count a request to a host with these `addresses`.

        Raises BudgetExceeded beyond a limit.
        """
        ...


class Meter:
    """Counter of a scan's requests and received bytes.

    Thread-safe.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._per_host: Counter[str] = Counter()
        self.requests = 0
        self.dns_queries = 0
        self.received_bytes = 0

    def dns_query(self) -> None:
        """Count a DNS query.

        Raises BudgetExceeded beyond the limit.
        """
        with self._lock:
            if self.dns_queries >= self._limits.dns_queries:
                raise BudgetExceeded(f"The scan would need more than {self._limits.dns_queries} DNS queries.")
            self.dns_queries += 1

    def request(self, host: str) -> None:
        """Count a request.

        Raises BudgetExceeded beyond the limit.
        """
        with self._lock:
            if self.requests >= self._limits.requests:
                raise BudgetExceeded(f"The scan would need more than {self._limits.requests} requests.")
            if self._per_host[host] >= self._limits.requests_per_host:
                raise BudgetExceeded(
                    f"The scan would need more than {self._limits.requests_per_host} requests to {host}."
                )
            self.requests += 1
            self._per_host[host] += 1

    def allows_another_repetition(self, times: int) -> bool:
        """Return True if the budget allows one more repetition.

        All requests are repeated. `times` is their number so far.
        """
        factor = 1 + 1 / times
        with self._lock:
            busiest = max(self._per_host.values(), default=0)
        return self.requests * factor <= self._limits.requests and busiest * factor <= self._limits.requests_per_host

    def received(self, count: int) -> None:
        """Count received bytes.

        Raises BudgetExceeded beyond the limit.
        """
        with self._lock:
            self.received_bytes += count
            if self.received_bytes > self._limits.total_bytes:
                raise BudgetExceeded(f"The site sent more than {self._limits.total_bytes / MIB:g} MiB.")


class ConnectionGuard:
    """Guard of a connection that this client does not use for HTTP.

    It has a deadline and the scan's byte budget.
    """

    def __init__(self, deadline: Deadline, meter: Meter) -> None:
        self._deadline = deadline
        self._meter = meter

    def timeout_s(self) -> float:
        """Return the remaining seconds.

        Raises TimeoutError if there are none.
        """
        return _require_time(self._deadline)

    def received(self, count: int) -> None:
        """Count received bytes."""
        self._meter.received(count)


class Exchange:
    """One HTTP request and its response.

    Each phase has a time limit. The exchange is also the guard of its connection.
    """

    def __init__(
        self, deadline: Deadline, limits: Limits, meter: Meter, request_path: str, *, needs_new_connection: bool
    ) -> None:
        self.deadline = deadline
        self.request_path = request_path  # Path as it appears in the request line.
        self.needs_new_connection = needs_new_connection  # True if no kept-alive connection may be used.
        self.is_connection_reused = True  # False as soon as a new connection is opened.
        self.connect_s = 0.0
        self.sent_at = 0.0
        self.address = ""
        self.tls_version = ""
        self.tls_cipher = ""
        self._meter = meter
        self._limits = limits
        self._phase = deadline

    def start_connecting(self) -> None:
        """Start the connection phase, which has its own time limit."""
        self.is_connection_reused = False
        self._phase = self.deadline.within(self._limits.connect_s)

    def start_sending(self) -> None:
        """Start the phase until the end of the response headers.

        It begins with the request, and has its own time limit.
        """
        self.sent_at = time.monotonic()
        self._phase = self.deadline.within(self._limits.first_byte_s)

    def start_reading_body(self) -> None:
        """Start reading the body.

        Only the time limit of the whole exchange applies.
        """
        self._phase = self.deadline

    def timeout_s(self) -> float:
        """Return the remaining seconds of the exchange's current phase.

        Raises TimeoutError if there are none.
        """
        return _require_time(self._phase)

    def received(self, count: int) -> None:
        """Count received bytes."""
        self._meter.received(count)


def _require_time(deadline: Deadline) -> float:
    remaining = deadline.remaining_s()
    if remaining <= 0:
        raise TimeoutError("the time is used up")
    return remaining
