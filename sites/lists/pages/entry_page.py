"""View model for the results of one site of a list over time."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from infrastructure.web import charts
from scans.models import Scan
from sites.lists.exports import status_of
from sites.lists.pages.table import MeanScore, TypeCell, reports_of
from sites.lists.snapshots import is_kept
from sites.models import ListEntry, ListResult

# Number of results on the page, newest first: those of more than a year of weekly runs.
MAX_RESULTS = 60
LABELS = dict(Scan.Type.choices)
STATUSES = {"partial": "Judged in part", "failed": "Not reached", "left_out": "Not judged"}


class TypeHistory(Struct, frozen=True):
    """Latest score of a scan type with a small chart of all scores.

    `spark` is None if there is only one score.
    """

    label: str
    score: int
    grade: str
    spark: charts.Spark | None


class ResultRow(Struct, frozen=True):
    """Result of a scan of the site.

    `snapshot_id` is empty for scans outside runs. `report` is empty if the report has expired.
    """

    result: ListResult
    cells: tuple[TypeCell, ...]
    status: str
    report: str
    snapshot_id: str


class EntryHistory(Struct, frozen=True):
    rows: Sequence[ResultRow]
    types: Sequence[TypeHistory]
    labels: Sequence[str]
    has_more: bool


def history_of(entry: ListEntry) -> EntryHistory:
    """Return the results of a site, newest first, in three queries."""
    results = entry.results.filter(ended_at__isnull=False).select_related("run")
    results = results.defer("findings", "facts", "seen", "statuses", "run__checks")
    shown = list(results.order_by("-ended_at", "-id")[: MAX_RESULTS + 1])
    newest, has_more = shown[:MAX_RESULTS], len(shown) > MAX_RESULTS
    types = [type for type in Scan.Type.values if any(result.score_of(type) is not None for result in newest)]
    reports = reports_of(entry.site_list.organization_id, [result.audit_id for result in newest])
    rows = [_row(result, types, reports.get(result.audit_id or "", "")) for result in newest]
    return EntryHistory(
        rows, [_type_history(type, newest) for type in types], [str(LABELS[type]) for type in types], has_more
    )


def _row(result: ListResult, types: Sequence[str], report: str) -> ResultRow:
    cells = tuple(
        TypeCell(
            type=type,
            label=str(LABELS[type]),
            score=result.score_of(type),
            grade=result.grade_of(type),
            change=None,
            url=f"{report}?type={type}" if report else "",
        )
        for type in types
    )
    snapshot_id = result.run.id if result.run is not None and is_kept(result.run) else ""
    return ResultRow(result, cells, STATUSES.get(status_of(result), ""), report, snapshot_id)


def _type_history(type: str, newest: Sequence[ListResult]) -> TypeHistory:
    pairs = [(result.score_of(type), result.grade_of(type)) for result in newest]
    scores = [(score, grade or "") for score, grade in pairs if score is not None]
    score, grade = scores[0]
    line = [MeanScore(each) for each, _ in scores]
    return TypeHistory(str(LABELS[type]), score, grade, charts.spark(line) if len(line) > 1 else None)
