"""The outcome of a scan: frozen dataclasses, nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from scanner.errors import Refusal
from scanner.findings import EvidenceItem, ScanType, Severity

CheckStatus = Literal["pass", "warn", "fail"]
Outcome = Literal["completed", "partial", "failed"]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check that ran. `severity` and `fix` are None on a pass; `points` is what mending it would win."""

    id: str
    name: str
    title: str  # what was found, or its name on a pass
    status: CheckStatus
    severity: Severity | None
    declared_severity: Severity  # the check's own, which a finding may override
    message: str
    fix: str | None = None
    evidence: tuple[EvidenceItem, ...] = ()
    references: tuple[str, ...] = ()
    points: float = 0.0
    credit: float | None = None  # what it earns, 0 to 1, if not what its status does
    weighs: bool = True  # False: the score is as if there had been no such check
    covers_category: bool = False  # a fail that counts for what does not apply in its category, too


@dataclass(frozen=True, slots=True)
class CategoryResult:
    """A category with at least one check that ran; `score` is 0 to 100.

    `absent_weight` is what its other checks weigh by their severity: those that did not apply, or could not run.
    """

    id: str
    name: str
    weight: int
    checks: tuple[CheckResult, ...]
    score: int = 0
    absent_weight: int = 0


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
    is_of_origin: bool = False  # held by findings that are the same for all pages of the origin


@dataclass(frozen=True, slots=True)
class OmittedCheck:
    """A check that was left out of the plan, because only a browser could judge it and there was none."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class ScanError:
    """Why a scan failed; `code` is one of the API's codes."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class WaterfallRow:
    """A request. Milliseconds since the navigation began; `end_ms` is that of the load where it had not ended."""

    url: str
    kind: str  # document, or a resource's kind
    start_ms: int
    response_ms: int
    end_ms: int
    wire_bytes: int
    status: int | None
    is_blocking: bool
    is_failed: bool
    is_third_party: bool


@dataclass(frozen=True, slots=True)
class Waterfall:
    """The first requests of a load, its marks in milliseconds by name, and how many requests are not shown."""

    rows: tuple[WaterfallRow, ...]
    marks: tuple[tuple[str, int], ...]
    total_ms: int
    left_out: int


@dataclass(frozen=True, slots=True)
class Pictures:
    """For the eye: `page` is WebP, `film` the JPEGs of the load one behind another.

    `places` is JSON: whether crops are `of` the page or the screenshot, the `size` of that in CSS pixels, `crops` on it
    ([left, top, width, height] by check ID and number of the item of evidence), and `frames` (ms, marks, bytes).
    """

    page: bytes | None
    film: bytes | None
    places: Mapping[str, Any]


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
    browser: str | None = None  # the product that judged, such as Chromium 156.0
    omitted_checks: tuple[OmittedCheck, ...] = ()
    error: ScanError | None = None
    # What the score was worked out from (`scoring.basis`).
    scoring: Mapping[str, Any] | None = None
    # What the report page tells beside the checks: final_url, address, duration_s, …
    facts: Mapping[str, str | int | float] = field(default_factory=dict)
    # What the report page shows beside the checks (`scanner.exhibits.collection`).
    exhibits: Mapping[str, Any] = field(default_factory=dict)
    # What a browser saw: the first screen as WebP, and the load.
    screenshot: bytes | None = None
    pictures: Pictures | None = None
    waterfall: Waterfall | None = None

    @property
    def checks(self) -> tuple[CheckResult, ...]:
        """Every check that ran, in report order."""
        return tuple(check for category in self.categories for check in category.checks)


Phase = Literal["queued", "connecting", "collecting", "checking", "done"]


@dataclass(frozen=True, slots=True)
class Checked:
    """How many of a scan's checks have run, and how many are planned."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a visit is, and each of its scans. `percent` never goes back within a visit."""

    percent: int
    phase: Phase
    checks: Mapping[ScanType, Checked]


@dataclass(frozen=True, slots=True)
class Budget:
    """What a scan may use: seconds in all (the network has its own limits), and probes at once."""

    time_limit_s: float = 60.0
    workers: int = 8


class ScanFailed(Refusal):
    """Raised by an essential probe when there is no page to judge; the subclass's code names the reason."""

    status = 400
