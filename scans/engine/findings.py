"""What a check says: one of four findings, with what was seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

# One thing a check saw, as JSON: {"header": "Server", "value": "nginx/1.25.3"}.
EvidenceItem = Mapping[str, str | int | float | bool | None]


class Severity(StrEnum):
    """How much a failed check matters. Ordered by weight, heaviest first."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


CRITICAL, HIGH, MEDIUM, LOW = Severity


class ScanType(StrEnum):
    """The four kinds of scan; each is a folder of `scans.engine.checks`."""

    SECURITY = "security"
    PERFORMANCE = "performance"
    ACCESSIBILITY = "accessibility"
    SEO = "seo"


@dataclass(frozen=True, slots=True)
class Pass:
    """Nothing wrong; the message says what was seen. `share` is what it earns, 0 to 1, where that is on a curve."""

    message: str
    evidence: tuple[EvidenceItem, ...] = ()
    share: float | None = None


@dataclass(frozen=True, slots=True)
class Warn:
    """Worth improving, or not certain: counts half, or `share`. `severity` and `fix` override the check's own.

    One that does not weigh is for people to look at: the score is as if there had been no such check.
    """

    message: str
    severity: Severity | None = None
    evidence: tuple[EvidenceItem, ...] = ()
    fix: str | None = None
    share: float | None = None
    weighs: bool = True


@dataclass(frozen=True, slots=True)
class Fail:
    """Wrong: counts nothing, or `share`. `severity` and `fix` override the check's own."""

    message: str
    severity: Severity | None = None
    evidence: tuple[EvidenceItem, ...] = ()
    fix: str | None = None
    share: float | None = None


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """The check has nothing to judge on this page; it is left out of the report."""

    reason: str


Finding = Pass | Warn | Fail | NotApplicable


def graded(
    value: float, good: float, poor: float, message: str, why: str, evidence: tuple[EvidenceItem, ...] = ()
) -> Finding:
    """A pass up to `good`, a warning up to `poor`, else a fail; `why` is added unless it is a pass."""
    if value <= good:
        return Pass(f"{message}.", evidence)
    told = f"{message}; {why}."
    return Warn(told, evidence=evidence) if value <= poor else Fail(told, evidence=evidence)
