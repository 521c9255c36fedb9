"""Cache of evidence of an origin, which visits to pages of the same site share."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from website_scan.catalogue import Probe


@dataclass(frozen=True, slots=True)
class Kept:
    """Cached evidence, and when an earlier visit gathered it."""

    evidence: object
    gathered_at: datetime


class EvidenceCache(Protocol):
    """Cache of evidence that is the same for all pages of an origin, shared by the visits of an audit. Thread-safe."""

    def find(self, origin: str, probe: Probe) -> Kept | None:
        """Return the evidence that an earlier visit to this origin stored, or None."""
        ...

    def keep(self, origin: str, probe: Probe, evidence: object) -> None:
        """Store the evidence for later visits."""
        ...


class InMemoryEvidence:
    """Evidence cache in memory, for all pages that one execution of the command scans."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], Kept] = {}

    def find(self, origin: str, probe: Probe) -> Kept | None:
        return self._kept.get((origin, probe.name))

    def keep(self, origin: str, probe: Probe, evidence: object) -> None:
        self._kept[origin, probe.name] = Kept(evidence, datetime.now(UTC))
