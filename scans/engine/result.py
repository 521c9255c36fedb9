"""The outcome of a scan: frozen dataclasses, nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from scans.engine.findings import EvidenceItem, ScanType, Severity
from scans.engine.waterfall import Waterfall

CheckStatus = Literal["pass", "warn", "fail"]
Outcome = Literal["completed", "partial", "failed"]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check that ran. `severity` and `fix` are None on a pass; `points` is what mending it would win."""

    id: str
    name: str
    status: CheckStatus
    severity: Severity | None
    declared_severity: Severity  # the check's own, which a finding may override
    message: str
    fix: str | None = None
    evidence: tuple[EvidenceItem, ...] = ()
    references: tuple[str, ...] = ()
    points: float = 0.0
    share: float | None = None  # what it earns, 0 to 1, if not what its status does
    weighs: bool = True  # False: the score is as if there had been no such check


@dataclass(frozen=True, slots=True)
class CategoryResult:
    """A category with at least one check that ran; `score` is 0 to 100."""

    id: str
    name: str
    weight: int
    checks: tuple[CheckResult, ...]
    score: int = 0


@dataclass(frozen=True, slots=True)
class SkippedCheck:
    """A planned check that could not run, and why."""

    id: str
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class AppliedCap:
    """A ceiling that lowered the score: at most `limit`, because of `reason`."""

    limit: int
    reason: str


@dataclass(frozen=True, slots=True)
class ScanError:
    """Why a scan failed; `code` is one of the API's codes."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class ScanResult:
    """What `scan()` returns. `score`, `grade` are None and `categories` empty exactly when it failed."""

    type: ScanType
    url: str
    status: Outcome
    started_at: datetime
    completed_at: datetime
    catalogue_version: str
    score: int | None = None
    grade: str | None = None
    categories: tuple[CategoryResult, ...] = ()
    skipped_checks: tuple[SkippedCheck, ...] = ()
    caps: tuple[AppliedCap, ...] = ()
    error: ScanError | None = None
    # What the report page tells beside the checks: final_url, address, duration_s, …
    facts: Mapping[str, str | int | float] = field(default_factory=dict)
    # What a browser saw: the first screen as WebP, and the load.
    screenshot: bytes | None = None
    waterfall: Waterfall | None = None

    @property
    def checks(self) -> tuple[CheckResult, ...]:
        """Every check that ran, in report order."""
        return tuple(check for category in self.categories for check in category.checks)
