"""The outcome of a scan: frozen dataclasses, nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from website_scan.errors import Refusal
from website_scan.findings import ScanType, Severity
from website_scan.places import NO_ROWS, Rows
from website_scan.stored_data import Facts, PicturePlaces, SiteFacts, StoredBasis, StoredExhibits
from website_scan.values import StoredValue

CheckStatus = Literal["pass", "warn", "fail"]
Outcome = Literal["completed", "partial", "failed"]


@dataclass(frozen=True, slots=True)
class HowToFix:
    """What to change: sentences with code in backticks, and snippets to copy by their label, such as "nginx"."""

    text: str
    snippets: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Result of a check that ran. `severity` and `how_to_fix` are None on a pass, `outcome` and `why` empty.

    `points` is what the score would gain if the check passed, `later` what it would gain if no cap applied. `holds` is
    True if a cap that lowers the score counts this failure.
    """

    id: str
    name: str
    title: str  # of the outcome, or the name of the check on a pass
    status: CheckStatus
    severity: Severity | None
    declared_severity: Severity  # the check's own, which an outcome may override
    summary: str  # what was seen, without places and reason
    outcome: str = ""  # the name of what is wrong, such as "short"
    values: Mapping[str, StoredValue] = field(default_factory=dict)  # of the summary
    why: str = ""  # why a warning or fail matters, in a sentence
    how_to_fix: HowToFix | None = None
    places: Rows = NO_ROWS  # where the fault is
    details: Rows = NO_ROWS  # what explains a figure, or describes the whole page
    includes: tuple[str, ...] = ()  # titles of the findings of other checks that report the same fault
    references: tuple[str, ...] = ()
    points: float = 0.0
    later: float = 0.0
    holds: bool = False
    credit: float | None = None  # the share it earns, 0 to 1; None: the share of its status
    weighs: bool = True  # False: the score is as if there had been no such check
    needs_review: bool = False  # only a person can tell whether something is wrong
    covers_category: bool = False  # a fail that also counts for the checks of its category that do not apply
    included_weight: int = 0  # weight, by severity, of the checks whose fault this finding includes


@dataclass(frozen=True, slots=True)
class CategoryResult:
    """A category with at least one check that ran; `score` is 0 to 100.

    `absent_weight` is the weight, by severity, of its planned checks that did not apply, could not run, or repeat
    another one without being part of its finding.
    """

    id: str
    name: str
    weight: int
    checks: tuple[CheckResult, ...]
    score: int = 0
    absent_weight: int = 0


@dataclass(frozen=True, slots=True)
class RepeatedCheck:
    """A check that found the same fact as the check `told_by`, whose finding has this `title`. It costs nothing."""

    id: str
    name: str
    told_by: str
    title: str


@dataclass(frozen=True, slots=True)
class SkippedCheck:
    """A planned check that could not run, and why: in words, and as the stable name of the reason."""

    id: str
    name: str
    reason: str
    code: str


@dataclass(frozen=True, slots=True)
class AppliedCap:
    """A cap that lowered the score: at most `limit`, because of `reason`."""

    limit: int
    reason: str
    is_of_origin: bool = False  # triggered by findings that are the same for all pages of the origin


@dataclass(frozen=True, slots=True)
class OmittedCheck:
    """A check that was not planned, because it needs a browser and there was none."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class ScanError:
    """Reason why a scan failed; `code` is one of the API's codes."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class WaterfallRow:
    """A request. Times are milliseconds since the navigation began; a request that had not ended has the load's end."""

    url: str
    kind: str  # document, or the kind of a resource
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
    """The first requests of a load, its marks by name in milliseconds, and the number of requests not shown."""

    rows: tuple[WaterfallRow, ...]
    marks: tuple[tuple[str, int], ...]
    total_ms: int
    left_out: int


@dataclass(frozen=True, slots=True)
class Pictures:
    """Pictures for the report: `page` is a WebP, `film` the concatenated JPEGs of the load."""

    page: bytes | None
    film: bytes | None
    places: PicturePlaces


@dataclass(frozen=True, slots=True)
class ScanResult:
    """Result of `scan()`. `score` and `grade` are None and `categories` is empty exactly when the scan failed."""

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
    browser: str | None = None  # the browser that loaded the page, such as Chromium 156.0
    omitted_checks: tuple[OmittedCheck, ...] = ()
    repeated_checks: tuple[RepeatedCheck, ...] = ()
    error: ScanError | None = None
    # Input of the score (`score_basis.basis`).
    scoring: StoredBasis | None = None
    # Facts that the report page states besides the checks.
    facts: Facts = field(default_factory=Facts)
    # Exhibits that the report page shows besides the checks (`website_scan.exhibits.collection`).
    exhibits: StoredExhibits = field(default_factory=StoredExhibits)
    site: SiteFacts = field(default_factory=SiteFacts)
    # From the browser: the first screen as WebP, and the load.
    screenshot: bytes | None = None
    pictures: Pictures | None = None
    waterfall: Waterfall | None = None

    @property
    def checks(self) -> tuple[CheckResult, ...]:
        """Return every check that ran, in report order."""
        return tuple(check for category in self.categories for check in category.checks)


Phase = Literal["queued", "connecting", "collecting", "checking", "done"]


@dataclass(frozen=True, slots=True)
class Checked:
    """Number of a scan's checks that have run, and number planned."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a visit and of each of its scans. `percent` never decreases within a visit."""

    percent: int
    phase: Phase
    checks: Mapping[ScanType, Checked]


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of a scan: seconds in total (the network has its own limits), and probes at the same time."""

    time_limit_s: float = 60.0
    workers: int = 8


class ScanFailed(Refusal):
    """Raised by an essential probe if there is no page to judge; the subclass's code names the reason."""

    status = 400
