"""What one scan, and one exchange of it, may cost."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass

from scans.net.deadline import Deadline
from scans.net.errors import BadResponse, BudgetExceeded

MIB = 1024 * 1024
# What the parser reads ahead of the headers' end, and chunk sizes between the body's bytes.
SLACK_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds and bytes. The first group is for one exchange, the second for all of a `Network`'s life."""

    connect_s: float = 5.0
    exchange_s: float = 30.0
    header_bytes: int = 64 * 1024
    body_bytes: int = 5 * MIB  # on the wire
    decoded_bytes: int = 10 * MIB

    requests: int = 600
    requests_per_host: int = 300
    total_bytes: int = 100 * MIB
    redirects: int = 10


class Meter:
    """Counts what a `Network` uses; thread-safe."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._per_host: Counter[str] = Counter()
        self.requests = 0
        self.received_bytes = 0

    def request(self, host: str) -> None:
        """Count a request; raises BudgetExceeded when it is one too many."""
        with self._lock:
            self.requests += 1
            self._per_host[host] += 1
            if self.requests > self._limits.requests:
                raise BudgetExceeded(f"The scan needs more than {self._limits.requests} requests.")
            if self._per_host[host] > self._limits.requests_per_host:
                raise BudgetExceeded(f"{host} needs more than {self._limits.requests_per_host} requests.")

    def received(self, count: int) -> None:
        """Count bytes; raises BudgetExceeded when they are too many."""
        with self._lock:
            self.received_bytes += count
            if self.received_bytes > self._limits.total_bytes:
                raise BudgetExceeded(f"The site sent more than {self._limits.total_bytes // MIB} MiB.")


class Exchange:
    """One request and its answer: the guard of the connection while it carries them."""

    def __init__(self, deadline: Deadline, limits: Limits, meter: Meter, max_body_bytes: int) -> None:
        self.deadline = deadline
        self.connect_s = 0.0
        self.address = ""
        self.tls_version = ""
        self.tls_cipher = ""
        self.is_reused = True  # until a connection is opened for it
        self._meter = meter
        self._limits = limits
        self._max_body_bytes = max_body_bytes
        self._received_bytes = 0
        self._in_headers = True

    def headers_done(self) -> None:
        """The response's headers are read; what comes now is its body."""
        self._in_headers = False
        self._received_bytes = 0

    def timeout_s(self) -> float:
        """Seconds left; raises TimeoutError when there are none."""
        remaining = self.deadline.remaining_s()
        if remaining <= 0:
            raise TimeoutError("the time is used up")
        return remaining

    def received(self, count: int) -> None:
        """Bytes came in for this exchange."""
        self._meter.received(count)
        self._received_bytes += count
        if self._in_headers:
            # One read may bring the body's beginning with it.
            if self._received_bytes > self._limits.header_bytes + SLACK_BYTES:
                raise BadResponse("The response's headers are larger than any browser would take.")
        elif self._received_bytes > 2 * self._max_body_bytes + SLACK_BYTES:
            raise BadResponse("The response's framing is larger than its content.")
