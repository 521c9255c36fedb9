"""Types for the JSON columns of monitors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, NotRequired, TypedDict, TypeVar

from scans.models import Scan
from scans.schemas import AuditId, ScanFailure
from website_scan.json_types import (
    Count,
    Grade,
    Keywords,
    Link,
    Score,
    SeverityName,
    Timestamp,
    TypeName,
    component,
    identifier,
)

Value = TypeVar("Value")

MonitorId = Annotated[str, identifier("mon")]
RunId = Annotated[str, identifier("run")]


class UnconfirmedChange(TypedDict):
    """Unconfirmed change of a check.

    It has a direction and the number of consecutive runs with the change.
    """

    direction: str
    runs: int


class UnconfirmedChanges(TypedDict, total=False):
    """Unconfirmed changes of a page for one scan type.

    A missing key means empty or 0.
    """

    checks: dict[str, UnconfirmedChange]  # Keys are check IDs.
    moved: dict[str, list[int]]  # Ages of the check's past changes, in runs, by check ID.
    other: int  # Number of consecutive runs without the browser that earlier runs used.
    down: int  # Number of consecutive runs in which the page was unreachable.
    is_down_told: bool  # True if users were notified that the page is unreachable.
    muted: dict[str, list[str]]  # Fingerprints of muted places, by check ID.


class Level(TypedDict):
    """Score history of a type under one catalogue version."""

    seen: list[int]
    waiting: list[int]
    reference: float | None


class ScoreMemory(TypedDict, total=False):
    """Score histories of a scan type.

    Keys of `bases` are values of `scores.Run.basis`. `is_below` is True while the score is below its limit.
    """

    bases: dict[str, Level]
    is_below: bool


class NotifiedCertificate(TypedDict):
    """Last notification about an expiring certificate.

    It has the certificate's expiry, and the alert setting in days at that time.
    """

    expires_at: str
    days: int


class Memory(TypedDict, total=False):
    """Data that a monitor stores for comparison in its next run."""

    scores: dict[str, ScoreMemory]  # Keys are scan types.
    pages: dict[str, int]  # Number of judged pages by scan type.
    certificates: dict[str, NotifiedCertificate]  # Keys are hosts.
    is_outage_told: bool  # True if users were notified of the current outage.
    is_step_failure: bool  # True if the current outage is a failing step of the journey on a site that responds.


class LastScore(TypedDict):
    score: int
    grade: str


class RunScore(TypedDict):
    """Score of a type in a run, and the score of the previous run."""

    before: Score | None
    score: Score
    grade: Grade


class ChangedScore(TypedDict):
    """Score of a type before and after a change."""

    before: Score | None
    after: Score
    grade: Grade


# Texts of pages and findings are truncated to limit the size of messages.
@component("ChangedPage")
class PageNews(TypedDict):
    """Page with a changed finding. `previous_report_url` is null if the previous report has expired."""

    url: str
    report_url: str
    previous_report_url: str | None
    places: list[str]
    state: NotRequired[Annotated[str, "Name of the state of a journey; absent for pages."]]


@component("ChangedFinding")
class FindingNews(TypedDict):
    """Finding that has changed, with its first pages.

    `said` describes the change as text.
    """

    type: TypeName
    check: str
    outcome: Annotated[str, "Stable name of what was found, within the check: `short`."]
    title: str
    severity: SeverityName
    pages_affected: Annotated[int, Keywords(minimum=1)]
    message: str
    fix: str
    said: str
    fingerprints: list[str]
    pages: list[PageNews]


@component("ReachablePage")
class ReachablePage(TypedDict):
    url: str
    state: NotRequired[Annotated[str, "Name of the state of a journey; absent for pages."]]


class UnreachablePage(ReachablePage):
    message: str


@component("Untold")
class OmittedChanges(TypedDict):
    """Numbers of changes that the lists omit."""

    new: Count
    fixed: Count
    worse: Count
    better: Count
    unreachable_pages: Count
    reachable_pages: Count


@component("Certificate")
class CertificateNews(TypedDict):
    """TLS certificate that expires soon."""

    host: str
    expires_at: str
    days_left: Count


# Keys of the lists of changes in `MonitorRun.news`.
Direction = Literal["new", "fixed", "worse", "better"]
NewsList = Literal["new", "fixed", "worse", "better", "unreachable_pages", "reachable_pages"]


class Changes(TypedDict, total=False):
    """Changes of findings and reachability that a monitor's run has detected."""

    new: list[FindingNews]
    fixed: list[FindingNews]
    worse: list[FindingNews]
    better: list[FindingNews]
    unreachable_pages: list[UnreachablePage]
    reachable_pages: list[ReachablePage]
    more: OmittedChanges


class ChangedScores(TypedDict, total=False):
    scores: dict[str, ChangedScore]


class News(ChangedScores, Changes, total=False):
    """Changes that a monitor's run has detected.

    The format is that of the event `monitor.changed`. Empty if nothing has changed.
    """

    certificate: CertificateNews | None
    reasons: list[str]


class EventRun(TypedDict):
    """Run of a monitor in the data of an event. The audit's ID and URL are null if the run has no audit."""

    id: RunId
    audit_id: AuditId | None
    audit_url: Link | None
    due_at: Timestamp


class RunData(TypedDict):
    run: EventRun


class ChangedData(RunData, News):
    """Data of the event `monitor.changed`, without the monitor's own fields."""


class FailedData(RunData):
    """Data of the event `monitor.failed`, without the monitor's own fields."""

    since: Timestamp
    error: ScanFailure


class RecoveredData(RunData):
    """Data of the event `monitor.recovered`, without the monitor's own fields.

    `changes` is None if nothing has changed.
    """

    down_since: Timestamp
    recovered_at: Timestamp
    changes: News | None


def by_type(values: Mapping[str, Value]) -> dict[str, Value]:
    """Return the values sorted in the standard order of scan types."""
    return {type: values[type] for type in Scan.Type.values if type in values}
