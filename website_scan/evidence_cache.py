"""Cache for evidence that visits to one origin share.

An example is the TLS certificate.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Protocol

from msgspec import Struct

from website_scan.catalogue import Probe


class Kept(Struct, frozen=True):
    """Cached evidence, with the time when an earlier visit gathered it."""

    evidence: object
    gathered_at: datetime


class EvidenceCache(Protocol):
    """Cache of evidence that is the same for all pages of an origin.

    An audit's visits share it. Thread-safe.
    """

    def find(self, origin: str, probe: Probe) -> Kept | None:
        """Return the evidence that an earlier visit to the origin stored.

        None if the cache has none.
        """
        ...

    def keep(self, origin: str, probe: Probe, evidence: object) -> None:
        """Store evidence of the origin for later visits."""
        ...


class InMemoryEvidence:
    """Evidence cache in memory for one execution of `website-scan`."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], Kept] = {}

    def find(self, origin: str, probe: Probe) -> Kept | None:
        return self._kept.get((origin, probe.name))

    def keep(self, origin: str, probe: Probe, evidence: object) -> None:
        self._kept[origin, probe.name] = Kept(evidence, datetime.now(UTC))
