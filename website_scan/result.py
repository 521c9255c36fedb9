"""Result of a scan, as frozen dataclasses."""

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
    """Result of a check that ran. On a pass, `severity` and `how_to_fix` are None, `outcome` and `why` are empty.

    `points` is the gain of the score if the check passed, `later` the gain if no cap applied. `holds` is True if a cap
    that lowers the score counts this failure.
    """

    id: str
    name: str
    title: str  # title of the outcome, or the name of the check on a pass
    status: CheckStatus
    severity: Severity | None
    declared_severity: Severity  # the check's severity, which an outcome may override
    summary: str  # what the check observed, without places and reason
    outcome: str = ""  # name of what is wrong, such as "short"
    values: Mapping[str, StoredValue] = field(default_factory=dict)  # values in the summary
    why: str = ""  # sentence on why a warning or fail matters
    how_to_fix: HowToFix | None = None
    places: Rows = NO_ROWS  # where the fault is
    details: Rows = NO_ROWS  # rows that explain a figure, or describe the whole page
    includes: tuple[str, ...] = ()  # titles of the findings of other checks that report the same fault
    references: tuple[str, ...] = ()
    points: float = 0.0
    later: float = 0.0
    holds: bool = False
    credit: float | None = None  # share of its weight that the check earns, 0 to 1; None: the share of its status
    weighs: bool = True  # False: the check does not affect the score
    needs_review: bool = False  # True: only a person can decide whether something is wrong
    covers_category: bool = False  # True: the fail also counts for the checks of its category that do not apply
    included_weight: int = 0  # weight, by severity, of suppressed checks whose fault this finding includes


@dataclass(frozen=True, slots=True)
class CategoryResult:
    """Category with at least one check that ran; `score` is 0 to 100.

    `absent_weight` is the weight, by severity, of its planned checks that did not apply, could not run, or were
    suppressed without adding to the weight of another finding.
    """

    id: str
    name: str
    weight: int
    checks: tuple[CheckResult, ...]
    score: int = 0
    absent_weight: int = 0


@dataclass(frozen=True, slots=True)
class RepeatedCheck:
    """Suppressed check, which costs no points: `told_by` reports the same fact in a finding with this `title`."""

    id: str
    name: str
    told_by: str
    title: str


@dataclass(frozen=True, slots=True)
class SkippedCheck:
    """Planned check that could not run; `reason` is a sentence, `code` the stable name of the reason."""

    id: str
    name: str
    reason: str
    code: str


@dataclass(frozen=True, slots=True)
class AppliedCap:
    """Cap that lowered the score to at most `limit`, because of `reason`."""

    limit: int
    reason: str
    is_of_origin: bool = False  # True: caused by findings that are the same for all pages of the origin


@dataclass(frozen=True, slots=True)
class OmittedCheck:
    """Check that was not planned, because it needs a browser and none was available."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class ScanError:
    """Reason why a scan failed; `code` is one of the API's codes."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class WaterfallRow:
    """Request of a load. Times are milliseconds since the navigation began; unfinished requests end with the load."""

    url: str
    kind: str  # "document", or the kind of a resource
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
    """First requests of a load, its marks by name in milliseconds, and the number of requests left out."""

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
    browser: str | None = None  # browser that loaded the page, such as Chromium 156.0
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
    # First screen as WebP.
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
    """Number of a scan's checks that have run, and the number planned."""

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
    """Limits of a scan: seconds in total (the network has its own limits), and concurrent probes."""

    time_limit_s: float = 60.0
    workers: int = 8


class ScanFailed(Refusal):
    """Refusal by an essential probe, because there is no page to judge; the subclass's code names the reason."""

    status = 400
