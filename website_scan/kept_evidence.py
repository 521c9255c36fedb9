"""Cache of evidence that visits to the pages of one site share: evidence of the origin, gathered once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from website_scan.catalogue import Probe


@dataclass(frozen=True, slots=True)
class Kept:
    """Evidence that an earlier visit gathered, and when."""

    evidence: object
    gathered_at: datetime


class KeptEvidence(Protocol):
    """Store for evidence that is the same for all pages of an origin, shared by the visits of an audit. Thread-safe."""

    def find(self, origin: str, probe: Probe) -> Kept | None:
        """Return the evidence that an earlier visit to this origin kept; None if it has to be gathered."""
        ...

    def keep(self, origin: str, probe: Probe, evidence: object) -> None:
        """Keep the evidence for later visits."""
        ...


class EvidenceOfRun:
    """Store of one process, for the pages that one run of the command visits."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], Kept] = {}

    def find(self, origin: str, probe: Probe) -> Kept | None:
        return self._kept.get((origin, probe.name))

    def keep(self, origin: str, probe: Probe, evidence: object) -> None:
        self._kept[origin, probe.name] = Kept(evidence, datetime.now(UTC))
