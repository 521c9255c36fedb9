"""Types of the documents: a report, its JSON export and what is stored beside it. Their keys stand here only.

`website_scan.report.documents` writes report and export. Both are JSON, which a report keeps for ever: a key that older
documents lack is NotRequired. An array of fixed length and mixed types is a tuple here; read from JSON, it is a list.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Literal, NotRequired, TypedDict, final

from website_scan.findings import EvidenceItem


class DocumentHead(TypedDict):
    """Head of a report and of an export. Score and grade are None if the scan failed."""

    id: str  # of the scan
    type: str
    url: str
    score: int | None
    grade: str | None
    created_at: str
    completed_at: str


class Summary(TypedDict):
    """Numbers of checks by status, and of failed or warned checks by severity."""

    total_checks: int
    passed: int
    failed: int
    warnings: int
    critical: int
    high: int
    medium: int
    low: int


# The report, as docs/api.md describes it.


class Fix(TypedDict, total=False):
    """Fix of a finding; a few findings have none."""

    fix: str


class ReportedCheck(Fix):
    """Check of a report. The severity is None on a pass."""

    name: str
    status: Literal["pass", "warn", "fail"]
    severity: str | None
    message: str


class ReportedCategory(TypedDict):
    name: str
    score: int
    checks: list[ReportedCheck]


class ReportDocument(DocumentHead):
    """Report of a scan, as the API returns it."""

    categories: list[ReportedCategory]
    summary: Summary


# The JSON export.


class AddedByExport(TypedDict):
    """Fields that an export adds to a check of the report. The last three: see `website_scan.result.CheckResult`."""

    id: str
    title: str
    evidence: list[EvidenceItem]
    references: list[str]
    points: float
    later: float
    holds: bool


@final
class ExportedPass(AddedByExport):
    """Check of an export that passed."""

    name: str
    status: Literal["pass"]
    severity: None
    message: str


@final
class ExportedFinding(Fix, AddedByExport):
    """Check of an export that failed or warned. `why` is the sentence with which `message` ends."""

    name: str
    status: Literal["warn", "fail"]
    severity: str
    message: str
    why: str


ExportedCheck = ExportedPass | ExportedFinding


class ExportedCategory(TypedDict):
    name: str
    score: int
    checks: list[ExportedCheck]


class ExportedSkippedCheck(TypedDict):
    """Check that could not run, and why."""

    name: str
    reason: str
    id: str


class ExportedOmittedCheck(TypedDict):
    """Check that was left out, because it needs a browser and none was available."""

    id: str
    name: str


class ExportedRepeatedCheck(TypedDict):
    """Check that found the same fact as the check `told_by`, which tells it; `reason` says so in words."""

    id: str
    name: str
    told_by: str
    reason: str


class ExportedCap(TypedDict):
    limit: int
    reason: str


class ExportedError(TypedDict):
    code: str
    message: str


class ExportDocument(DocumentHead):
    """JSON export: the report with all that is stored beside it."""

    categories: list[ExportedCategory]
    summary: Summary
    report_id: str
    status: Literal["completed", "partial", "failed"]
    skipped_checks: list[ExportedSkippedCheck]
    browser: NotRequired[str | None]  # such as Chromium 156.0; older exports have none
    omitted_checks: NotRequired[list[ExportedOmittedCheck]]  # older exports have none
    repeated_checks: NotRequired[list[ExportedRepeatedCheck]]  # older exports have none
    caps: list[ExportedCap]
    held: str  # sentence on what holds the score, and the score after fixes; empty if no cap lowers it visibly
    catalogue_version: str
    site_evidence_at: NotRequired[str | None]  # older exports have none
    error: NotRequired[ExportedError]  # of a failed scan; only the command writes such documents


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


class StoredPictures(TypedDict):
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
