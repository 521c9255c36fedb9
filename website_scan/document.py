"""Types of the documents: a report, its JSON export and what is stored beside it. Their keys stand here only.

`website_scan.report.documents` writes report and export. Both are JSON, which a report keeps for ever: a key that older
documents lack is NotRequired. An array of fixed length and mixed types is a tuple here; read from JSON, it is a list.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Literal, NotRequired, TypedDict, final

from website_scan.findings import EvidenceItem
from website_scan.json_types import (
    Component,
    Count,
    Grade,
    Published,
    ScanId,
    Score,
    SeverityName,
    Timestamp,
    TypeName,
    component,
    identifier,
    values,
)

# Documents of failed scans, which only the command writes, have other statuses than stored reports.
CHECK_STATUSES = ("pass", "fail", "warn")
FINDING_STATUSES = ("fail", "warn")
REPORT_STATUSES = ("completed", "partial")
FindingStatus = Annotated[str, values(FINDING_STATUSES)]
ReportStatus = Annotated[str, values(REPORT_STATUSES)]


class DocumentHead(TypedDict):
    """Head of a report and of an export. Score and grade are None if the scan failed."""

    id: ScanId
    type: TypeName
    url: str
    score: Annotated[Score | None, Published.NOT_NULL]
    grade: Annotated[Grade | None, Published.NOT_NULL]
    created_at: Timestamp
    completed_at: Timestamp


@component("ReportSummary")
class Summary(TypedDict):
    """Numbers of checks by status, and of failed or warned checks by severity."""

    total_checks: Count
    passed: Count
    failed: Count
    warnings: Count
    critical: Count
    high: Count
    medium: Count
    low: Count


# The report, as docs/api.md describes it.


@component("Check")
class ReportedCheck(TypedDict):
    """Check of a report. The severity is null on a pass; a few findings have no fix."""

    name: str
    status: Literal["pass", "fail", "warn"]
    severity: SeverityName | None
    message: str
    fix: NotRequired[str]


@component("Category")
class ReportedCategory(TypedDict):
    """Category of a report."""

    name: str
    score: Score
    checks: list[ReportedCheck]


@component("Report")
class ReportDocument(DocumentHead):
    """The report of a scan."""

    categories: list[ReportedCategory]
    summary: Summary


# The JSON export.


class AddedByExport(TypedDict):
    """Fields that an export adds to a check of the report. The last three: see `website_scan.result.CheckResult`."""

    id: str
    title: Annotated[str, "What was found; on a pass the check's name."]
    evidence: list[EvidenceItem]
    references: list[str]
    points: Annotated[float, "What the score would gain if this check passed."]
    later: Annotated[float, "What the score would gain if this check passed and no cap applied."]
    holds: Annotated[bool, "True if a cap that lowers the score counts this failure."]


class _FindingHead(TypedDict):
    name: str
    status: Literal["fail", "warn"]
    severity: SeverityName
    message: str
    fix: NotRequired[str]


class _PassHead(TypedDict):
    name: str
    status: Literal["pass"]
    severity: None
    message: str


@final
class ExportedFinding(_FindingHead, AddedByExport):
    """Check of an export that failed or warned."""

    why: Annotated[str, "Why a failed or warned check matters: the sentence with which `message` ends."]


@final
class ExportedPass(_PassHead, AddedByExport):
    """Check of an export that passed."""


ExportedCheck = Annotated[
    ExportedFinding | ExportedPass,
    Component("ExportedCheck", "A check of an export, with more fields than in the report."),
]


class ExportedCategory(TypedDict):
    """A category of an export."""

    name: str
    score: Score
    checks: list[ExportedCheck]


class ExportedSkippedCheck(TypedDict):
    """A check that could not run, with its ID."""

    name: str
    reason: str
    id: str


@component("OmittedCheck")
class ExportedOmittedCheck(TypedDict):
    """A check that was left out because it needs a browser and none was available."""

    id: str
    name: str


@component("RepeatedCheck")
class ExportedRepeatedCheck(TypedDict):
    """A check that found the same fact as another one, which tells it. It costs no points."""

    id: str
    name: str
    told_by: Annotated[str, "ID of the check whose finding includes this one."]
    reason: str


@component("Cap")
class ExportedCap(TypedDict):
    """A cap that lowered the score."""

    limit: Score
    reason: str


class ExportedError(TypedDict):
    code: str
    message: str


@component("ReportExport")
class ExportDocument(DocumentHead):
    """The JSON export: the report with all data stored beside it."""

    categories: list[ExportedCategory]
    summary: Summary
    report_id: Annotated[str, identifier("rpt")]
    status: Annotated[Literal["completed", "partial", "failed"], values(REPORT_STATUSES)]
    skipped_checks: list[ExportedSkippedCheck]
    # Older exports have no `browser`, `omitted_checks`, `repeated_checks` and `site_evidence_at`.
    browser: NotRequired[
        Annotated[
            str | None,
            "The browser that the page was judged in, such as Chromium 156.0; null without one.",
            Published.PRESENT,
        ]
    ]
    omitted_checks: NotRequired[Annotated[list[ExportedOmittedCheck], Published.PRESENT]]
    repeated_checks: NotRequired[Annotated[list[ExportedRepeatedCheck], Published.PRESENT]]
    caps: list[ExportedCap]
    held: Annotated[
        str, "What holds the score, and what it is after fixing the first of it; empty if no cap lowers it."
    ]
    catalogue_version: str
    site_evidence_at: NotRequired[
        Annotated[
            Timestamp | None,
            "When an earlier visit of the audit gathered the oldest evidence about the whole site; null if this scan "
            "gathered all of it.",
            Published.PRESENT,
        ]
    ]
    error: NotRequired[Annotated[ExportedError, Published.ABSENT]]  # of a failed scan


def read_export(text: str) -> ExportDocument:
    """Parse a stored JSON export."""
    document: ExportDocument = json.loads(text)
    return document


def checks_of(document: ExportDocument) -> Iterator[tuple[str, ExportedCheck]]:
    """Yield the checks that ran, with the name of their category."""
    for category in document["categories"]:
        for check in category["checks"]:
            yield category["name"], check


# An export reduced to what is compared, which monitors keep of each page.


@final
class ReducedPass(TypedDict):
    id: str
    status: Literal["pass"]


@final
class ReducedFinding(TypedDict):
    """Failed or warned check with the places of each fingerprint in words. `is_cut`: there may be more places."""

    id: str
    name: str
    title: str
    status: Literal["warn", "fail"]
    severity: str
    message: str
    points: float
    later: float
    holds: bool
    places: dict[str, list[str]]
    is_cut: bool


ReducedCheck = ReducedPass | ReducedFinding


class ReducedCategory(TypedDict):
    name: str
    checks: list[ReducedCheck]


class ReducedSilentCheck(TypedDict):
    """Check without a verdict."""

    id: str


class ReducedDocument(TypedDict):
    """Reduced export, with the page's HTTP status (`answer`) and the host and expiry of its certificate."""

    url: str
    catalogue_version: str
    browser: str | None
    categories: list[ReducedCategory]
    skipped_checks: list[ReducedSilentCheck]
    omitted_checks: list[ReducedSilentCheck]
    repeated_checks: NotRequired[list[ReducedSilentCheck]]  # older documents have none
    answer: int | None
    certificate: list[str] | None


ComparableDocument = ExportDocument | ReducedDocument
ComparableCheck = ExportedCheck | ReducedCheck
ComparableFinding = ExportedFinding | ReducedFinding


# Stored beside the export, for the report's page.


class Facts(TypedDict, total=False):
    """Facts that the report page states besides the checks."""

    duration_s: float
    final_url: str
    status: int
    address: str
    redirects: int
    document_bytes: int
    server: str
    notice: str
    site_evidence_at: str
    checks_planned: int
    checks_known: int
    browser: str
    axe_core: str
    frames_not_judged: int
    console_errors: int


class SiteFacts(TypedDict, total=False):
    """Facts about a site that exports of lists have in columns; those without evidence are missing."""

    tls_versions: list[str]  # such as TLS 1.2, in ascending order
    http_version: str  # the newest of HTTP/1.1 and HTTP/2, negotiated by ALPN
    csp: bool
    generator: str
    title: str
    description: str
    language: str


# ID, status, severity, declared severity, credit, `weighs`, `covers_category` and `included_weight` of a
# `website_scan.result.CheckResult`.
StoredScoredCheck = tuple[str, Literal["pass", "warn", "fail"], str | None, str, float | None, bool, bool, int]
# Limit, count, severity and checks of a `website_scan.scoring.Cap`.
StoredCap = tuple[int, int, str | None, list[str]]


class StoredScoredCategory(TypedDict):
    weight: int
    absent_weight: int
    checks: list[StoredScoredCheck]


class StoredBasis(TypedDict):
    """Basis of a score: the input of the scoring that exports do not contain. `rules` is the scoring's version."""

    rules: int
    categories: list[StoredScoredCategory]
    caps: list[StoredCap]


class StoredRequest(TypedDict):
    """Request of a load; times are in milliseconds since the navigation began."""

    url: str
    kind: str
    start_ms: int
    response_ms: int
    end_ms: int
    wire_bytes: int
    status: int | None
    is_blocking: bool
    is_failed: bool
    is_third_party: NotRequired[bool]  # older reports have none


class StoredWaterfall(TypedDict):
    """First requests of a load, its marks by name in milliseconds, and the number of requests not shown."""

    rows: list[StoredRequest]
    marks: list[tuple[str, int]]
    total_ms: int
    left_out: int


class PicturePlaces(TypedDict):
    """Positions within a report's pictures.

    `of` says whether crops are of the page or the screenshot, `size` is its width and height in CSS pixels, `crops` are
    boxes on it (left, top, width, height) by check ID and number of the item of evidence. `frames` are the time in
    milliseconds, the marks and the size in bytes of each picture of the film.
    """

    of: Literal["page", "screenshot"]
    size: list[int] | None
    crops: dict[str, dict[str, list[int]]]
    frames: list[tuple[int, list[str], int]]


class StoredHop(TypedDict):
    """Address on the way to the page, with the status it answers."""

    url: str
    status: int


class StoredPolicy(TypedDict):
    """Content Security Policy; `way` is `header`, `meta` or `report only`."""

    way: str
    text: str


class StoredWeight(TypedDict):
    """Bytes on the wire and requests of a host and kind of file."""

    host: str
    kind: str
    wire_bytes: int
    requests: int
    is_third_party: bool


class StoredSearchResult(TypedDict):
    """Preview of the page as a search result; a missing value is empty."""

    title: str
    description: str
    url: str
    site: str


class StoredSharedLink(TypedDict):
    """Preview of a shared link to the page; a missing value is empty."""

    title: str
    description: str
    site: str
    url: str
    image: str
    card: str


class StoredExhibits(TypedDict, total=False):
    """Exhibits of a report; those that the scan type has no evidence for are missing."""

    redirects: list[StoredHop]  # the page's own address is the last
    headers: list[list[str]]  # name and value, in the order received
    policies: list[StoredPolicy]
    weights: list[StoredWeight]
    search_result: StoredSearchResult
    shared_link: StoredSharedLink
