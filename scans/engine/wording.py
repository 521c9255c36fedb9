"""Turns of phrase and evidence items that the findings share."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from scans.engine.findings import EvidenceItem
from scans.engine.masking import excerpt
from scans.net.tls_certificates import Certificate

SHOWN = 5  # named in a message; the evidence holds more


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun: "1 form", "3 forms"."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def some(values: Sequence[str]) -> str:
    """The first few of many, and how many more there are."""
    more = len(values) - SHOWN
    return ", ".join(values[:SHOWN]) + (f" and {more} more" if more > 0 else "")


def duration(time: timedelta) -> str:
    """Whole days, or hours where it is less than two days."""
    if time < timedelta(days=2):
        return counted(int(time.total_seconds() // 3600), "hour")
    return f"{time.days} days"


def certificate_facts(certificate: Certificate) -> EvidenceItem:
    """A certificate as an evidence item."""
    return {
        "subject": excerpt(certificate.subject),
        "issuer": excerpt(certificate.issuer),
        "not_before": f"{certificate.not_before:%Y-%m-%dT%H:%M:%SZ}",
        "not_after": f"{certificate.not_after:%Y-%m-%dT%H:%M:%SZ}",
        "key": f"{certificate.key_type} {certificate.key_bits or ''}".strip(),
        "signature": certificate.signature_hash,
    }
