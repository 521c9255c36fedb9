"""Records of the result of a scan."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from msgspec import Struct, field

from website_scan.errors import Refusal
from website_scan.findings import ScanType, Severity
from website_scan.places import NO_ROWS, Rows
from website_scan.security_categories import Categories
from website_scan.stored_data import Facts, PicturePlaces, SiteFacts, StoredBasis, StoredExhibits
from website_scan.values import StoredValue
from website_scan.viewing import Viewing

CheckStatus = Literal["pass", "warn", "fail"]
Outcome = Literal["completed", "partial", "failed"]


class HowToFix(Struct, frozen=True):
    """Fix of a finding.

    It is a text with code in backticks.

    `snippets` are pairs of label and code, such as ("nginx", …).
    """

    text: str
    snippets: tuple[tuple[str, str], ...] = ()


class CheckResult(Struct, frozen=True):
    """Result of a check.

    If it passed, `severity` and `how_to_fix` are None, `outcome`, `why` and `consequence` are empty.

    `points` is the gain of the score if the check passed, `later` the gain if no cap applied. `holds` is True if a cap
    that lowers the score counts this failure.

    `title` is the title of the outcome, or the name of the check if it passed. `declared_severity` is the severity of
    the check, which an outcome may override. `summary` is what the check observed, without places and reason; `values`
    are the values in this text. `outcome` is the name of the outcome, such as "short". `why` is a sentence on the harm.
    `consequence` says for site owners what can happen; empty unless the severity is critical or high.
    `details` explain a measured value or describe the whole page. `includes` are the titles of suppressed duplicates,
    and `included_weight` is their weight, by severity.

    `credit` is the share of its weight that the check earns, 0 to 1; None for the share of its status. A check that
    `weighs` affects the score. `needs_review` is True if a person must decide whether the page has a fault.
    `covers_category` is True if the failure also costs the weight of checks of the category that did not apply.
    """

    id: str
    name: str
    title: str
    status: CheckStatus
    severity: Severity | None
    declared_severity: Severity
    summary: str
    outcome: str = ""
    values: Mapping[str, StoredValue] = field(default_factory=dict)
    why: str = ""
    consequence: str = ""
    how_to_fix: HowToFix | None = None
    places: Rows = NO_ROWS
    details: Rows = NO_ROWS
    includes: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    points: float = 0.0
    later: float = 0.0
    holds: bool = False
    credit: float | None = None
    weighs: bool = True
    needs_review: bool = False
    covers_category: bool = False
    included_weight: int = 0


class PlugIn(Struct, frozen=True):
    """Installed distribution that has added checks to a scan."""

    name: str
    version: str


class CategoryResult(Struct, frozen=True):
    """Results of a category in which at least one check ran.

    `score` is 0 to 100. `absent_weight` is the weight, by severity, of its planned checks that did not apply, could not
    run, or were suppressed without adding to the weight of another finding. `plug_in` is None for checks of the
    catalogue.
    """

    id: str
    name: str
    weight: int
    checks: tuple[CheckResult, ...]
    score: int = 0
    absent_weight: int = 0
    plug_in: PlugIn | None = None


class RepeatedCheck(Struct, frozen=True):
    """Suppressed check.

    Another check's finding reports the same fact, so this one costs no points.

    `title` is the title of the finding of `told_by`.
    """

    id: str
    name: str
    told_by: str
    title: str


class SkippedCheck(Struct, frozen=True):
    """Check that could not run.

    `reason` is a sentence, `code` is the stable name of the reason.
    """

    id: str
    name: str
    reason: str
    code: str


class AppliedCap(Struct, frozen=True):
    """Cap that lowered the score to at most `limit`.

    `reason` says why.

    `applies_to_whole_origin` is True if all pages of the origin have the findings that cause the cap.
    """

    limit: int
    reason: str
    applies_to_whole_origin: bool = False


class OmittedCheck(Struct, frozen=True):
    """Check that was omitted because it needs a browser, and none was available."""

    id: str
    name: str


class ScanError(Struct, frozen=True):
    """Error of a failed scan.

    `code` is an error code of the API.
    """

    code: str
    message: str


class WaterfallRow(Struct, frozen=True):
    """Request of a page load.

    Times are milliseconds since navigation start; `kind` is "document" or a kind of file.

    An unfinished request ends at the end of the load.
    """

    url: str
    kind: str
    start_ms: int
    response_ms: int
    end_ms: int
    wire_bytes: int
    status: int | None
    is_blocking: bool
    is_failed: bool
    is_third_party: bool


class Waterfall(Struct, frozen=True):
    """First requests and metrics of a page load in milliseconds.

    `left_out` is the number of omitted requests.
    """

    rows: tuple[WaterfallRow, ...]
    marks: tuple[tuple[str, int], ...]
    total_ms: int
    left_out: int


class Pictures(Struct, frozen=True):
    """Screenshots for the report.

    `page` is a WebP image, `film` are concatenated JPEG images of the page load.
    """

    page: bytes | None
    film: bytes | None
    places: PicturePlaces


class StateOfJourney(Struct, frozen=True):
    """State of a journey that was judged. `name` is unique in the journey, and `step` counts from 1."""

    journey: str
    name: str
    step: int


class ScanResult(Struct, frozen=True):
    """Result of a scan.

    If and only if the scan failed, `score` and `grade` are None, and `categories` is empty.

    `browser` is the version of the browser that loaded the page, such as Chromium 156.0. `scoring` is the input of the
    score (`score_basis.basis`). `screenshot` is the first screen as WebP or JPEG. `viewing` is None if nobody has
    chosen one. `state` is None for a scan of a page. `chosen_categories` are the categories that a security scan was
    limited to, None for all.
    """

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
    browser: str | None = None
    omitted_checks: tuple[OmittedCheck, ...] = ()
    repeated_checks: tuple[RepeatedCheck, ...] = ()
    error: ScanError | None = None
    scoring: StoredBasis | None = None
    facts: Facts = field(default_factory=Facts)
    exhibits: StoredExhibits = field(default_factory=StoredExhibits)
    site: SiteFacts = field(default_factory=SiteFacts)
    screenshot: bytes | None = None
    pictures: Pictures | None = None
    waterfall: Waterfall | None = None
    viewing: Viewing | None = None
    state: StateOfJourney | None = None
    chosen_categories: Categories | None = None

    @property
    def checks(self) -> tuple[CheckResult, ...]:
        """Return the results of checks that ran, in the report's order."""
        return tuple(check for category in self.categories for check in category.checks)


Phase = Literal["queued", "connecting", "collecting", "checking", "done"]


class Checked(Struct, frozen=True):
    """Number of finished checks of a scan, and number of planned checks."""

    done: int
    total: int


class Progress(Struct, frozen=True):
    """Progress of a visit.

    It has the phase and the finished checks by scan type. `percent` never decreases.
    """

    percent: int
    phase: Phase
    checks: Mapping[ScanType, Checked]


class Budget(Struct, frozen=True):
    """Limits of a visit: total time in seconds, and number of concurrent probes."""

    time_limit_s: float = 60.0
    workers: int = 8


class ScanFailed(Refusal):
    """Raised when an essential probe fails, so that the scan fails.

    Subclasses have the error code of the reason.
    """

    status = 400
