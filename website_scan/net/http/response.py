"""HTTP response of the client."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from msgspec import Struct


class Headers(Struct, frozen=True, dict=True):
    """Response headers in the order received.

    Names are case-insensitive; values are decoded as latin-1.
    """

    items: tuple[tuple[str, str], ...] = ()

    @cached_property
    def _values_by_name(self) -> dict[str, tuple[str, ...]]:
        grouped: dict[str, list[str]] = {}
        for name, value in self.items:
            grouped.setdefault(name.lower(), []).append(value)
        return {name: tuple(values) for name, values in grouped.items()}

    def all(self, name: str) -> tuple[str, ...]:
        """Return the values of all header lines with this name, in order."""
        return self._values_by_name.get(name.lower(), ())

    def get(self, name: str) -> str | None:
        """Return the header's value, or None.

        Repeated lines are joined by commas (RFC 9110, section 5.3).
        """
        values = self.all(name)
        return ", ".join(values) if values else None

    def __contains__(self, name: str) -> bool:
        return name.lower() in self._values_by_name

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self.items)


class TlsSession(Struct, frozen=True):
    """TLS parameters of a response's connection.

    `trust_error` is why the certificate is not trusted, or None.
    """

    version: str  # OpenSSL's name of the version, such as "TLSv1.3".
    cipher: str
    trust_error: str | None = None


class Response(Struct, frozen=True):
    """HTTP response with its times in seconds and sizes in bytes.

    `body` is decompressed.
    """

    url: str
    status: int
    headers: Headers
    body: bytes = b""
    reason: str = ""
    http_version: str = "1.1"
    method: str = "GET"
    truncated: bool = False  # True if `body` is incomplete.
    header_bytes: int = 0
    body_wire_bytes: int = 0  # Size of the body as sent, perhaps compressed.
    address: str = ""
    connect_s: float = 0.0  # The connection time is 0.0 if the connection was reused.
    ttfb_s: float = 0.0  # Time from the request to the end of the response headers.
    total_s: float = 0.0
    tls: TlsSession | None = None
    is_kept: bool = False  # True for a cached response, which has the times of the original request.
