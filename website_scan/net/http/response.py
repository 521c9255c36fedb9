"""One HTTP response of the client, as it was on the wire."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Headers:
    """Response headers in the order received. Names are compared without case; values are latin-1 text."""

    items: tuple[tuple[str, str], ...] = ()

    @cached_property
    def _by_name(self) -> dict[str, tuple[str, ...]]:
        grouped: dict[str, list[str]] = {}
        for name, value in self.items:
            grouped.setdefault(name.lower(), []).append(value)
        return {name: tuple(values) for name, values in grouped.items()}

    def all(self, name: str) -> tuple[str, ...]:
        """Return every field line of that name, in order; repeated headers stay separate."""
        return self._by_name.get(name.lower(), ())

    def get(self, name: str) -> str | None:
        """Return the field's value with repeated lines joined by commas (RFC 9110, section 5.3), or None."""
        values = self.all(name)
        return ", ".join(values) if values else None

    def __contains__(self, name: str) -> bool:
        return name.lower() in self._by_name

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self.items)


@dataclass(frozen=True, slots=True)
class TlsSession:
    """The TLS connection of a response. `trust_error` says why the certificate was not trusted."""

    version: str  # "TLSv1.3", as OpenSSL names it
    cipher: str
    trust_error: str | None = None


@dataclass(frozen=True, slots=True)
class Response:
    """One HTTP exchange. Times in seconds, sizes in bytes; `body` is decompressed."""

    url: str
    status: int
    headers: Headers
    body: bytes = b""
    reason: str = ""
    http_version: str = "1.1"
    method: str = "GET"
    truncated: bool = False  # `body` is incomplete: more than the limit, or broken off
    header_bytes: int = 0
    body_wire_bytes: int = 0  # as sent, compressed
    address: str = ""
    connect_s: float = 0.0  # 0.0 when the connection was reused
    ttfb_s: float = 0.0  # from sending the request to the end of the response's headers
    total_s: float = 0.0
    tls: TlsSession | None = None
    is_kept: bool = False  # received by an earlier request, whose times these are
