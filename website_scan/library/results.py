"""Results of scans as immutable records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Literal

from msgspec import Struct

from website_scan.command.gate import CommandReport
from website_scan.json_types import JsonValue
from website_scan.library.errors import InvalidOption
from website_scan.library.options import TYPES, ScanType
from website_scan.priority import Priority, by_priority, priority
from website_scan.records import repr_without, values_without
from website_scan.report.places import count_places, stored_places
from website_scan.report.places import rows as rows_of_table
from website_scan.report_json import ExportedCategory, ExportedCheck, ExportedFinding, StoredTable

Severity = Literal["critical", "high", "medium", "low"]
FindingStatus = Literal["fail", "warn"]
ReportStatus = Literal["completed", "partial", "failed"]


class PlugIn(Struct, frozen=True):
    """Installed distribution that has added a check."""

    name: str
    version: str


class Value(Struct, frozen=True):
    """Value in the message of a finding. `kind` is what it is, such as "bytes"; `value` is in the unit of the kind."""

    kind: str
    value: object
    text: str


class Place(Struct, frozen=True):
    """Place of a finding, such as an element, a file or a header.

    `fingerprint` identifies it in later scans, `text` describes it, and `row` has its values by name. `kind` is what
    the row is, such as "element". For a finding about the whole page, all but the fingerprint are empty.
    """

    fingerprint: str
    text: str
    kind: str
    row: Mapping[str, JsonValue]


class Detail(Struct, frozen=True):
    """Row that explains a measured value or describes the whole page. `kind` is what it is, such as "redirect"."""

    kind: str
    row: Mapping[str, JsonValue]


class Snippet(Struct, frozen=True):
    """Code to copy. `label` is its web server or language, such as "nginx"."""

    label: str
    code: str


class Fix(Struct, frozen=True):
    """Fix of a finding: sentences with code in backticks, and code to copy."""

    text: str
    snippets: tuple[Snippet, ...] = ()


class Finding(Struct, frozen=True):
    """Check that failed or warned.

    `check` is the ID of the check, and `outcome` the name of what is wrong, within the check. `message` is complete;
    `summary` is what was seen, `why` the reason why it matters, and `consequence` what can happen, for people without
    technical knowledge. `points` is the gain of the score if the check passed; `later` the gain if no cap applied.
    `holds` is True if a cap that lowers the score counts this failure. `places_total` counts all places, of which
    `places` has the first ones. `includes` are titles of suppressed duplicates. `needs_review` is True if a person must
    decide whether something is wrong. `accepted` is the reason why the finding is accepted, and mostly empty: HTTPS,
    for example, is not expected of a server on this machine. `plug_in` is None for built-in checks.
    """

    type: ScanType
    category: str
    check: str
    name: str
    outcome: str
    status: FindingStatus
    severity: Severity
    title: str
    message: str
    summary: str
    why: str
    consequence: str
    values: Mapping[str, Value]
    places: tuple[Place, ...]
    places_total: int
    details: tuple[Detail, ...]
    fix: Fix
    references: tuple[str, ...]
    points: float
    later: float
    holds: bool = False
    includes: tuple[str, ...] = ()
    needs_review: bool = False
    accepted: str = ""
    plug_in: PlugIn | None = None


class PassedCheck(Struct, frozen=True):
    """Check that passed."""

    category: str
    check: str
    name: str
    message: str
    details: tuple[Detail, ...] = ()
    plug_in: PlugIn | None = None


class SkippedCheck(Struct, frozen=True):
    """Check that could not run. `code` is the stable name of the reason, such as "out-of-time"."""

    check: str
    name: str
    reason: str
    code: str


class OmittedCheck(Struct, frozen=True):
    """Check that needs a browser, which the scan did not have."""

    check: str
    name: str


class RepeatedCheck(Struct, frozen=True):
    """Check that costs no points, because the finding of `reported_by` reports the same fact."""

    check: str
    name: str
    reported_by: str
    reason: str


class Category(Struct, frozen=True):
    """Category of checks with its score, 0 to 100."""

    name: str
    score: int
    plug_in: PlugIn | None = None


class Cap(Struct, frozen=True):
    """Cap that lowered the score to at most `limit`."""

    limit: int
    reason: str


class Failure(Struct, frozen=True):
    """Reason why a scan failed. `code` is stable, such as "URL_NOT_REACHABLE"."""

    code: str
    message: str


class Report(Struct, frozen=True):
    """Result of a scan of one type. Findings and passed checks are in order of priority.

    If and only if the scan failed, `error` is not None, `status` is "failed", `score` and `grade` are None, and there
    are no checks. `final_url` is the page that was judged, after redirects; None if unknown. `needs_log_in` is True if
    the site answered with a log-in page, and that was judged. `notice` is a sentence about the whole page, such as that
    it is an error page. `accepted_score` is the score as if accepted checks had passed; None if none is accepted.
    `browser` is None for a scan without one. `catalogue_version` identifies the rules of the score.
    """

    type: ScanType
    url: str
    final_url: str | None
    status: ReportStatus
    score: int | None
    grade: str | None
    findings: tuple[Finding, ...]
    passed: tuple[PassedCheck, ...]
    skipped: tuple[SkippedCheck, ...]
    omitted: tuple[OmittedCheck, ...]
    repeated: tuple[RepeatedCheck, ...]
    categories: tuple[Category, ...]
    caps: tuple[Cap, ...]
    error: Failure | None
    needs_log_in: bool
    notice: str
    accepted_score: int | None
    browser: str | None
    catalogue_version: str
    started_at: datetime
    completed_at: datetime
    id: str
    _source: CommandReport

    def __repr__(self) -> str:
        return repr_without(self, "_source")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Report) and values_without(self, "_source") == values_without(other, "_source")

    def __hash__(self) -> int:
        return hash(values_without(self, "_source"))


class PageResult(Struct, frozen=True):
    """Reports of one page, in the order of the requested types.

    A page that a document of the command describes may be a state of a journey; `journey` and `state` are their names.
    """

    url: str
    reports: tuple[Report, ...]
    journey: str = ""
    state: str = ""

    def __getitem__(self, type: ScanType) -> Report:
        """Return the report of a scan type. Raises KeyError."""
        for report in self.reports:
            if report.type == type:
                return report
        raise KeyError(type)

    def __contains__(self, type: object) -> bool:
        return any(report.type == type for report in self.reports)

    def __iter__(self) -> Iterator[Report]:
        return iter(self.reports)

    @property
    def types(self) -> tuple[ScanType, ...]:
        """Types of the reports."""
        return tuple(report.type for report in self.reports)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Findings of all reports, in order of priority."""
        findings = (finding for report in self.reports for finding in report.findings)
        return tuple(sorted(findings, key=_priority))

    @property
    def error(self) -> Failure | None:
        """Error of the first report that failed. None if no scan failed."""
        return next((report.error for report in self.reports if report.error is not None), None)


def _priority(finding: Finding) -> Priority:
    return priority(
        status=finding.status,
        severity=finding.severity,
        holds=finding.holds,
        points=finding.points,
        later=finding.later,
    )


def page_results(reports: Iterable[CommandReport]) -> tuple[PageResult, ...]:
    """Return the reports by page, in order of their first report."""
    pages: dict[object, list[CommandReport]] = {}
    for report in reports:
        pages.setdefault(report.page, []).append(report)
    return tuple(
        PageResult(group[0].url, tuple(map(_report, group)), group[0].page.journey, group[0].page.state)
        for group in pages.values()
    )


def sources(results: PageResult | Iterable[PageResult]) -> list[CommandReport]:
    """Return the internal reports of results."""
    pages = [results] if isinstance(results, PageResult) else list(results)
    if not all(isinstance(page, PageResult) for page in pages):
        raise InvalidOption("results must be a PageResult, or several of them.")
    return [report._source for page in pages for report in page.reports]


def scan_type(name: str) -> ScanType:
    """Return a name as the type of a scan. Raises InvalidOption."""
    for known in TYPES:
        if known == name:
            return known
    raise InvalidOption(f"{name!r} is not a type of scan.")


def _report(source: CommandReport) -> Report:
    export = source.export
    type = scan_type(export["type"])
    plug_ins = {category["name"]: _plug_in(category) for category in export["categories"]}
    findings, passed = [], []
    for category, check in by_priority(export):
        if check["status"] == "pass":
            passed.append(
                PassedCheck(category, check["id"], check["name"], check["message"], _details(check), plug_ins[category])
            )
        else:
            findings.append(_finding(check, type, category, plug_ins[category], source.accepted.get(check["id"], "")))
    return Report(
        type=type,
        url=export["url"],
        final_url=export.get("final_url"),
        status=export["status"],
        score=export["score"],
        grade=export["grade"],
        findings=tuple(findings),
        passed=tuple(passed),
        skipped=tuple(
            SkippedCheck(check["id"], check["name"], check["reason"], check["code"])
            for check in export["skipped_checks"]
        ),
        omitted=tuple(OmittedCheck(check["id"], check["name"]) for check in export["omitted_checks"]),
        repeated=tuple(
            RepeatedCheck(check["id"], check["name"], check["told_by"], check["reason"])
            for check in export["repeated_checks"]
        ),
        categories=tuple(
            Category(category["name"], category["score"], plug_ins[category["name"]])
            for category in export["categories"]
        ),
        caps=tuple(Cap(cap["limit"], cap["reason"]) for cap in export["caps"]),
        error=Failure(source.error["code"], source.error["message"]) if source.error is not None else None,
        needs_log_in=source.needs_log_in,
        notice=source.notice,
        accepted_score=source.accepted_score,
        browser=export["browser"],
        catalogue_version=export["catalogue_version"],
        started_at=datetime.fromisoformat(export["created_at"]),
        completed_at=datetime.fromisoformat(export["completed_at"]),
        id=export["id"],
        _source=source,
    )


def _plug_in(category: ExportedCategory) -> PlugIn | None:
    plug_in = category.get("plug_in")
    return PlugIn(plug_in["name"], plug_in["version"]) if plug_in else None


def _finding(check: ExportedFinding, type: ScanType, category: str, plug_in: PlugIn | None, accepted: str) -> Finding:
    how = check["how_to_fix"]
    return Finding(
        type=type,
        category=category,
        check=check["id"],
        name=check["name"],
        outcome=check["outcome"],
        status=check["status"],
        severity=_severity(check["severity"]),
        title=check["title"],
        message=check["message"],
        summary=check["summary"],
        why=check["why"],
        consequence=check["consequence"],
        values={name: Value(value["kind"], value["value"], value["text"]) for name, value in check["values"].items()},
        places=tuple(_places(check)),
        places_total=count_places(check),
        details=_details(check),
        fix=Fix(how["text"], tuple(Snippet(snippet["label"], snippet["code"]) for snippet in how["snippets"])),
        references=tuple(check["references"]),
        points=check["points"],
        later=check["later"],
        holds=check["holds"],
        includes=tuple(check["includes"]),
        needs_review=check["needs_review"],
        accepted=accepted,
        plug_in=plug_in,
    )


def _severity(name: str) -> Severity:
    severities: Sequence[Severity] = ("critical", "high", "medium", "low")
    return next(severity for severity in severities if severity == name)


def _places(check: ExportedFinding) -> Iterator[Place]:
    kinds = [table["kind"] for table in check["places"] for _ in table["rows"]] or [""]
    for kind, place in zip(kinds, stored_places(check), strict=True):
        yield Place(place.fingerprint, place.text, kind, _without_nulls(place.row))


def _details(check: ExportedCheck) -> tuple[Detail, ...]:
    tables: Sequence[StoredTable] = check["details"]
    return tuple(Detail(table["kind"], _without_nulls(row)) for table in tables for row in rows_of_table(table))


def _without_nulls(row: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    return {name: value for name, value in row.items() if value is not None}
