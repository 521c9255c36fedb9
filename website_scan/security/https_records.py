"""Parser of HTTPS records (RFC 9460), and their faults."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct, field

from website_scan.security.evidence import TlsPeer

RECORD = re.compile(r"(\d{1,5}) (\S{1,255})((?: .*)?)")
PARAMETER = re.compile(r'([a-z0-9-]{1,63}+)(?:="((?:[^"\\]|\\.)*)"|=(\S*))?(?:\s+|$)')
DEFAULT_PROTOCOL = "http/1.1"


class HttpsRecord(Struct, frozen=True):
    """HTTPS record. `target` is empty for the owner's own name. An alias has priority 0 and no parameters."""

    text: str
    priority: int
    target: str
    parameters: dict[str, str] = field(default_factory=dict)

    @property
    def is_alias(self) -> bool:
        return self.priority == 0

    @property
    def port(self) -> int | None:
        port = self.parameters.get("port", "")
        return int(port) if port.isascii() and port.isdecimal() else None

    @property
    def protocols(self) -> frozenset[str]:
        """Return the protocols that the server offers (RFC 9460, section 7.1)."""
        listed = {text.strip() for text in self.parameters.get("alpn", "").split(",") if text.strip()}
        return frozenset(listed if "no-default-alpn" in self.parameters else listed | {DEFAULT_PROTOCOL})


class HttpsFault(Struct, frozen=True):
    """Fault of HTTPS records: the check's outcome, and a sentence with `{host}` and, if it is not empty, `{value}`."""

    outcome: str
    summary: str
    value: str = ""


def read_https_records(records: Sequence[str]) -> tuple[HttpsRecord, ...]:
    """Parse HTTPS records in the syntax of zone files. Records that cannot be read are left out."""
    return tuple(record for text in records if (record := _read(text)) is not None)


def _read(text: str) -> HttpsRecord | None:
    match = RECORD.fullmatch(text)
    if match is None:
        return None
    parameters = {found[1]: found[2] or found[3] or "" for found in PARAMETER.finditer(match[3].strip())}
    return HttpsRecord(text, int(match[1]), match[2].lower().rstrip("."), parameters)


def find_fault(records: Sequence[HttpsRecord], host: str, peer: TlsPeer) -> HttpsFault | None:
    """Return the first fault of a host's HTTPS records."""
    aliases = [record for record in records if record.is_alias]
    services = [record for record in records if not record.is_alias]
    if aliases and services:
        return HttpsFault(
            "mixed", "The HTTPS records of {host} are both alias and service, which contradict each other."
        )
    for alias in aliases:
        if alias.target == host:
            return HttpsFault("alias-loop", "The HTTPS record of {host} is an alias of the same name.")
        if not alias.target:
            return HttpsFault("unavailable", "The HTTPS record of {host} says that the service is not available.")
    for record in services:
        required = [name for name in record.parameters.get("mandatory", "").split(",") if name]
        if missing := [name for name in required if name not in record.parameters]:
            summary = "The HTTPS record of {host} requires {value}, but does not have it."
            return HttpsFault("mandatory", summary, missing[0])
    first = min(services, key=lambda record: record.priority, default=None)
    if first is None or first.target not in ("", host) or peer.handshake is None:
        return None  # Another server was not connected to.
    if first.port is not None and first.port != peer.port:
        summary = "The HTTPS record of {host} sends browsers to port {value}, not to that of the page."
        return HttpsFault("port", summary, str(first.port))
    if "h2" in first.protocols and peer.handshake.alpn != "h2":
        return HttpsFault(
            "protocols", "The HTTPS record of {host} names {value}, which the server does not speak.", "h2"
        )
    return None
