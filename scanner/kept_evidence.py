"""What visits to the pages of one site share: evidence of its origin, gathered once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from scanner.catalogue import Probe


@dataclass(frozen=True, slots=True)
class Kept:
    """Evidence that an earlier visit gathered, and when."""

    evidence: object
    gathered_at: datetime


class KeptEvidence(Protocol):
    """Where the visits of an audit keep what is the same for all pages of an origin. Thread-safe."""

    def find(self, origin: str, probe: Probe) -> Kept | None:
        """What a visit to this origin kept; None where it has to be gathered."""
        ...

    def keep(self, origin: str, probe: Probe, evidence: object) -> None:
        """For the visits that come after this one."""
        ...
