"""Page with the results of a report or an audit by success criterion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import urlencode

from django.urls import reverse
from msgspec import Struct

from reports.conformance_files import FILES
from scans.check_catalogue import check_name
from scans.models import Scan
from website_scan.accessibility.standards import LEVELS, Standard, SuccessCriterion, success_criteria
from website_scan.report.conformance import (
    DEFAULT_LEVEL,
    DEFAULT_STANDARD,
    CheckOfCriterion,
    Conformance,
    CriterionResult,
    Result,
)
from website_scan.report.references import safe_link

TYPE = "accessibility"
# Width of the bar of results and of the gaps between its segments, in SVG user units.
BAR_WIDTH, BAR_GAP = 1_000, 4
LEVEL_LABELS: Mapping[str, str] = {"A": "A", "AA": "A and AA", "AAA": "A, AA and AAA"}


class ConformanceQuery(Struct, frozen=True):
    """Choices in the query string of a page with results by success criterion.

    `result` is None if criteria with all results are listed, and `file_format` is empty unless a file is requested.
    """

    standard: Standard
    level: str
    result: Result | None
    file_format: str

    @classmethod
    def parse(cls, query: Mapping[str, str]) -> ConformanceQuery:
        """Parse a query string. Unknown values are ignored."""
        standard, level, result = query.get("standard"), query.get("level", ""), query.get("result")
        return cls(
            standard=Standard(standard) if standard in list(Standard) else DEFAULT_STANDARD,
            level=level if level in LEVELS else DEFAULT_LEVEL,
            result=Result(result) if result in list(Result) else None,
            file_format=query.get("format", "") if query.get("format", "") in FILES else "",
        )

    def string(self, **changes: str) -> str:
        """Return the query string, with these parameters changed. Empty parameters are left out."""
        values = {
            "standard": self.standard.value,
            "level": self.level,
            "result": self.result.value if self.result else "",
        } | changes
        return "?" + urlencode({name: value for name, value in values.items() if value})


class PageLink(NamedTuple):
    """Page with a finding. `url` is the address of its report, or empty if the reader has none."""

    address: str
    url: str


class FindingRow(Struct, frozen=True):
    """Finding that concerns a criterion. `url` is the address of the finding in the report or audit."""

    title: str
    message: str
    url: str
    places: int
    pages_affected: int
    pages: Sequence[PageLink]

    @property
    def more_pages(self) -> int:
        """Number of affected pages that are not listed."""
        return self.pages_affected - len(self.pages)


class CriterionRow(Struct, frozen=True):
    """Result of a success criterion.

    `failed` and `undecided` are findings, `without_failure` and `could_not_run` names of checks.
    """

    criterion: SuccessCriterion
    clause: str
    result: Result
    failed: Sequence[FindingRow]
    undecided: Sequence[FindingRow]
    without_failure: Sequence[str]
    could_not_run: Sequence[str]


class ResultCount(NamedTuple):
    """Number of criteria with a result, and the address of the page that lists only them.

    `x` and `width` are the segment of the bar of results, in SVG user units.
    """

    result: Result | None
    label: str
    criteria: int
    url: str
    is_chosen: bool
    x: float = 0
    width: float = 0


class Download(NamedTuple):
    """Link to a file with the results."""

    label: str
    purpose: str
    url: str


class CriteriaChoices(Struct, frozen=True):
    """Choices on a page with results by success criterion.

    `level` is the highest level of the listed criteria. `counts` has the numbers of criteria by result, of all results
    first.
    """

    query: ConformanceQuery
    level: str
    counts: Sequence[ResultCount]
    downloads: Sequence[Download]

    @property
    def standards(self) -> list[tuple[str, str]]:
        return [(standard.value, standard.label) for standard in Standard]

    @property
    def levels(self) -> list[tuple[str, str]]:
        return list(LEVEL_LABELS.items())

    @property
    def standard_at_level(self) -> str:
        """The standard with the levels of the listed criteria."""
        return self.query.standard.at_level(self.level)

    @property
    def has_clauses(self) -> bool:
        """Return True if the standard numbers its clauses in another way than WCAG."""
        return self.query.standard is Standard.EN_301_549


class ConformancePage(CriteriaChoices, frozen=True):
    """Template context of a page with results by success criterion.

    `rows` are the criteria with the chosen result, and `is_single` is True if only one page was tested.
    """

    conformance: Conformance
    rows: Sequence[CriterionRow]
    is_single: bool


def conformance_url(scan: Scan) -> str:
    """Return the address of the page with a report's results by success criterion, empty for other types."""
    return reverse("report-conformance-page", args=[scan.id]) if scan.type == TYPE else ""


def conformance_page(
    conformance: Conformance,
    query: ConformanceQuery,
    *,
    finding_url: Callable[[str], str],
    report_url: Callable[[str, str], str] | None = None,
) -> ConformancePage:
    """Return the template context for these results.

    `finding_url` returns the address of a check's finding, and `report_url` that of a check's finding in the report of
    a page, or an empty string. Without `report_url`, the results are those of a single page.
    """

    def finding_row(finding: CheckOfCriterion) -> FindingRow:
        pages = finding["pages"] if report_url else ()
        return FindingRow(
            title=finding["title"],
            message=finding["message"],
            url=finding_url(finding["id"]),
            places=finding["places"],
            pages_affected=finding["pages_affected"],
            pages=[PageLink(page, _page_url(report_url, finding["id"], page)) for page in pages],
        )

    def criterion_row(row: CriterionResult) -> CriterionRow:
        return CriterionRow(
            criterion=success_criteria()[row["number"]],
            clause=row["clause"],
            result=Result(row["result"]),
            failed=[finding_row(finding) for finding in row["failed"]],
            undecided=[finding_row(finding) for finding in row["needs_review"]],
            without_failure=[check_name(id) for id in row["passed"]],
            could_not_run=[check_name(id) for id in row["could_not_run"]],
        )

    criteria = conformance["criteria"]
    return ConformancePage(
        query=query,
        level=conformance["level"],
        counts=result_counts([row["result"] for row in criteria], query),
        downloads=downloads(query, FILES),
        conformance=conformance,
        rows=[criterion_row(row) for row in criteria if query.result in (None, row["result"])],
        is_single=report_url is None,
    )


def result_counts(results: Sequence[str], query: ConformanceQuery, **parameters: str) -> list[ResultCount]:
    """Return the numbers of criteria by result. The URLs get the `parameters`, too."""
    all_url = query.string(result="", **parameters)
    counts = [ResultCount(None, "All criteria", len(results), all_url, query.result is None)]
    x = 0.0
    for result in Result:
        number, url = results.count(result), query.string(result=result.value, **parameters)
        width = BAR_WIDTH * number / (len(results) or 1)
        # Narrow gaps separate the segments.
        segment = max(width - BAR_GAP, BAR_GAP) if number else 0.0
        is_chosen = query.result is result
        counts.append(ResultCount(result, result.label, number, url, is_chosen, round(x, 1), round(segment, 1)))
        x += width
    return counts


def downloads(query: ConformanceQuery, names: Iterable[str], **parameters: str) -> list[Download]:
    """Return the links to files with all results, by the names of their formats. They get the `parameters`, too."""
    return [
        Download(FILES[name].label, FILES[name].purpose, query.string(result="", format=name, **parameters))
        for name in names
    ]


def _page_url(report_url: Callable[[str, str], str] | None, check_id: str, page: str) -> str:
    return (report_url(check_id, page) if report_url else "") or safe_link(page) or ""
