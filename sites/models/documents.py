"""Types of what monitors store as JSON: doubts about a page, memory of scores, and the news of a run."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from website_scan.document import ExportedError
from website_scan.json_types import identifier

MonitorId = Annotated[str, identifier("mon")]


class Doubt(TypedDict):
    """Change of a check that awaits confirmation: its direction, and the runs in a row that showed it."""

    direction: str
    runs: int


class Doubts(TypedDict, total=False):
    """Changes of a page and type that await confirmation; missing keys count as empty or 0."""

    checks: dict[str, Doubt]  # by check
    moved: dict[str, list[int]]  # by check: how many runs ago it came or went
    other: int  # runs in a row without the browser that was there before
    down: int  # runs in a row without an answer
    is_down_told: bool  # whether a message said so
    muted: dict[str, list[str]]  # by check: the fingerprints that a mute hid


class Level(TypedDict):
    """Scores of a type under one set of rules: those seen, those that await confirmation, and the reference."""

    seen: list[int]
    waiting: list[int]
    reference: float | None


class ScoreMemory(TypedDict, total=False):
    """Memory of a type's scores: levels by `scores.Run.basis`, and whether the score is below its limit."""

    bases: dict[str, Level]
    is_below: bool


class ToldCertificate(TypedDict):
    """Notification of a certificate's expiry: the expiry, and how many days before it the alert was set to."""

    expires_at: str
    days: int


class Memory(TypedDict, total=False):
    """Memory of a monitor, for its next run."""

    scores: dict[str, ScoreMemory]  # by type
    pages: dict[str, int]  # by type: number of judged pages
    certificates: dict[str, ToldCertificate]  # by host
    is_outage_told: bool  # whether a message said that the present outage began


class LastScore(TypedDict):
    score: int
    grade: str


class RunScore(LastScore):
    before: int | None


class ChangedScore(TypedDict):
    before: int | None
    after: int
    grade: str


class PageNews(TypedDict):
    """Page with a change. Texts are cut; `previous_report_url` is None if that report has expired."""

    url: str
    report_url: str
    previous_report_url: str | None
    places: list[str]


class FindingNews(TypedDict):
    """Change of a finding, with the first of its pages; `said` is the change in words."""

    type: str
    check: str
    title: str
    severity: str
    pages_affected: int
    message: str
    fix: str
    said: str
    fingerprints: list[str]
    pages: list[PageNews]


class ReachedPage(TypedDict):
    url: str


class UnreachablePage(ReachedPage):
    message: str


class CertificateNews(TypedDict):
    host: str
    expires_at: str
    days_left: int


# Keys of the lists of changes in the news.
Direction = Literal["new", "fixed", "worse", "better"]
NewsList = Literal["new", "fixed", "worse", "better", "unreachable_pages", "reachable_pages"]


class Changes(TypedDict, total=False):
    """Changes that a run has found. `more` counts by key those that are left out."""

    new: list[FindingNews]
    fixed: list[FindingNews]
    worse: list[FindingNews]
    better: list[FindingNews]
    unreachable_pages: list[UnreachablePage]
    reachable_pages: list[ReachedPage]
    more: dict[str, int]


class News(Changes, total=False):
    """News of a run, empty if nothing has changed: `data` of the event `monitor.changed` (docs/monitors.md)."""

    scores: dict[str, ChangedScore]
    certificate: CertificateNews | None
    reasons: list[str]


class EventRun(TypedDict):
    """Run of an event; audit ID and address are None if it has no audit."""

    id: str
    audit_id: str | None
    audit_url: str | None
    due_at: str


class OfRun(TypedDict):
    run: EventRun


class ChangedData(News, OfRun):
    """Data of `monitor.changed` beside the monitor's own."""


class FailedData(OfRun):
    """Data of `monitor.failed` beside the monitor's own."""

    since: str
    error: ExportedError


class RecoveredData(OfRun):
    """Data of `monitor.recovered` beside the monitor's own; `changes` is None if nothing has changed."""

    down_since: str
    recovered_at: str
    changes: News | None
