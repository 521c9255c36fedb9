"""Types of the JSON that monitors store: doubts about a page, memory of scores, and the news of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, TypedDict, TypeVar

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


class Doubt(TypedDict):
    """Change of a check that awaits confirmation: its direction, and in how many runs in a row it occurred."""

    direction: str
    runs: int


class Doubts(TypedDict, total=False):
    """Changes of a page and type that await confirmation. Missing keys count as empty or 0."""

    checks: dict[str, Doubt]  # by check
    moved: dict[str, list[int]]  # by check: how many runs ago it appeared or disappeared
    other: int  # runs in a row without the browser that earlier runs had
    down: int  # runs in a row without an answer of the page
    is_down_told: bool  # whether users were notified that the page is down
    muted: dict[str, list[str]]  # by check: fingerprints of the muted places


class Level(TypedDict):
    """Scores of a type under one set of rules: recent scores, scores that await confirmation, and the reference."""

    seen: list[int]
    waiting: list[int]
    reference: float | None


class ScoreMemory(TypedDict, total=False):
    """Memory of a type's scores: levels by `scores.Run.basis`, and whether the score is below its limit."""

    bases: dict[str, Level]
    is_below: bool


class NotifiedCertificate(TypedDict):
    """Last notification of a certificate's expiry: the expiry, and the alert's number of days at that time."""

    expires_at: str
    days: int


class Memory(TypedDict, total=False):
    """Memory of a monitor for its next run."""

    scores: dict[str, ScoreMemory]  # by type
    pages: dict[str, int]  # by type: number of judged pages
    certificates: dict[str, NotifiedCertificate]  # by host
    is_outage_told: bool  # whether users were notified of the current outage


class LastScore(TypedDict):
    score: int
    grade: str


class RunScore(TypedDict):
    """Score of a type in a run, and the score before."""

    before: Score | None
    score: Score
    grade: Grade


class ChangedScore(TypedDict):
    """Score of a type before and after a change."""

    before: Score | None
    after: Score
    grade: Grade


# Texts of pages and findings are truncated.
@component("ChangedPage")
class PageNews(TypedDict):
    """Page with a change. `previous_report_url` is null if that report has expired."""

    url: str
    report_url: str
    previous_report_url: str | None
    places: list[str]


@component("ChangedFinding")
class FindingNews(TypedDict):
    """Changed finding with the first of its pages; `said` is the change in words."""

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
class ReachedPage(TypedDict):
    url: str


class UnreachablePage(ReachedPage):
    message: str


class Untold(TypedDict):
    """Numbers of changes that are left out of the lists."""

    new: Count
    fixed: Count
    worse: Count
    better: Count
    unreachable_pages: Count
    reachable_pages: Count


@component("Certificate")
class CertificateNews(TypedDict):
    """Certificate that expires soon."""

    host: str
    expires_at: str
    days_left: Count


# Keys of the lists of changes in the news of a run.
Direction = Literal["new", "fixed", "worse", "better"]
NewsList = Literal["new", "fixed", "worse", "better", "unreachable_pages", "reachable_pages"]


class Changes(TypedDict, total=False):
    """Changes that a run has found."""

    new: list[FindingNews]
    fixed: list[FindingNews]
    worse: list[FindingNews]
    better: list[FindingNews]
    unreachable_pages: list[UnreachablePage]
    reachable_pages: list[ReachedPage]
    more: Untold


class ChangedScores(TypedDict, total=False):
    scores: dict[str, ChangedScore]


class News(ChangedScores, Changes, total=False):
    """Changes that a run has found, in the order of the event `monitor.changed`; empty if there are none."""

    certificate: CertificateNews | None
    reasons: list[str]


class EventRun(TypedDict):
    """The run of a monitor; ID and address of its audit are null if it has none."""

    id: RunId
    audit_id: AuditId | None
    audit_url: Link | None
    due_at: Timestamp


class OfRun(TypedDict):
    run: EventRun


class ChangedData(OfRun, News):
    """Data of `monitor.changed` beside the monitor's own."""


class FailedData(OfRun):
    """Data of `monitor.failed` beside the monitor's own."""

    since: Timestamp
    error: ScanFailure


class RecoveredData(OfRun):
    """Data of `monitor.recovered` beside the monitor's own; `changes` is None if nothing has changed."""

    down_since: Timestamp
    recovered_at: Timestamp
    changes: News | None


def by_type(values: Mapping[str, Value]) -> dict[str, Value]:
    """Return values by scan type, in the order of the types."""
    return {type: values[type] for type in Scan.Type.values if type in values}
