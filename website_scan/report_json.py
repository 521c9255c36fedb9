"""JSON types for reports and their exports.

`website_scan.stored_data` has the types of all other stored data.

`website_scan.report.serialization` writes both. A report stays in the database for years: a key that older reports lack
is NotRequired. An array of fixed length and mixed types is a tuple here; parsed from JSON, the array is a list.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, NotRequired, TypedDict, final, get_args

from website_scan.json_types import (
    ChosenCategories,
    Component,
    Count,
    Fingerprint,
    Grade,
    JsonValue,
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
from website_scan.places import Format
from website_scan.values import StoredValue
from website_scan.viewing import COLOR_SCHEMES

FORMATS = get_args(Format)
# Only the command writes reports of failed scans, which have other statuses.
CHECK_STATUSES = ("pass", "fail", "warn")
FINDING_STATUSES = ("fail", "warn")
REPORT_STATUSES = ("completed", "partial")
FindingStatus = Annotated[str, values(FINDING_STATUSES)]
ReportStatus = Annotated[str, values(REPORT_STATUSES)]


class ReportHead(TypedDict):
    """Common fields of a report and of its JSON export.

    Score and grade are None if the scan failed. Older reports do not have the optional keys.
    """

    id: ScanId
    type: TypeName
    url: str
    final_url: NotRequired[Annotated[str | None, "Address of the page that was judged, after all redirects."]]
    needs_log_in: NotRequired[Annotated[bool, "True if the site answered with a log-in page, and that was judged."]]
    score: Annotated[Score | None, Published.NOT_NULL]
    grade: Annotated[Grade | None, Published.NOT_NULL]
    created_at: Timestamp
    completed_at: Timestamp
    chosen_categories: NotRequired[ChosenCategories]


@component("ReportSummary")
class Summary(TypedDict):
    """Number of checks by status, and number of findings by severity."""

    total_checks: Count
    passed: Count
    failed: Count
    warnings: Count
    critical: Count
    high: Count
    medium: Count
    low: Count


# The following types describe the report that the API returns (docs/api.md).


@component("Check")
class ReportedCheck(TypedDict):
    """Check in a report. The severity is null if the check passed. A few findings have no fix."""

    name: str
    status: Literal["pass", "fail", "warn"]
    severity: SeverityName | None
    message: str
    fix: NotRequired[str]


@component("Category")
class ReportedCategory(TypedDict):
    """Category of checks in a report."""

    name: str
    score: Score
    checks: list[ReportedCheck]


@component("Report")
class ReportJson(ReportHead):
    """The report of a scan."""

    categories: list[ReportedCategory]
    summary: Summary


# The following types describe the JSON export of a report.


@component("Column")
class StoredColumn(TypedDict):
    """Column of a table. Values of the format `code` are for copying, those of `mono` for exact reading."""

    name: str
    label: str
    format: Annotated[str, values(FORMATS)]
    unit: NotRequired[Annotated[str, "Unit of the numbers, such as bytes or ms."]]


@component("DetailTable")
class StoredTable(TypedDict):
    """Table of rows that explain one measured value or describe the whole page."""

    kind: Annotated[str, "What the rows are, such as redirect."]
    columns: list[StoredColumn]
    rows: Annotated[list[list[JsonValue]], "A value for each column; null where a row has none."]
    total: Annotated[Count, "Rows that the check found; the table has the first of them."]


@component("PlaceTable")
class StoredPlaces(StoredTable):
    """Table of places of one kind (elements, files, headers or cookies) where a check found a fault."""

    names: Annotated[list[str], "Names of the columns that name a place in words."]
    fingerprints: Annotated[list[Fingerprint], "The fingerprint of each row."]
    is_counted: Annotated[bool, "True if a further place with the same fingerprint is a new place."]


@component("Snippet")
class StoredSnippet(TypedDict):
    """Code to copy. The label is its web server or language."""

    label: str
    code: str


@component("HowToFix")
class StoredFix(TypedDict):
    """Fix of a finding: sentences with code in backticks, and code snippets."""

    text: str
    snippets: list[StoredSnippet]


class ExportFields(TypedDict):
    """Fields of a check in the JSON export that the report does not have."""

    id: str
    title: Annotated[str, "What was found; on a pass the check's name."]
    details: list[StoredTable]
    # `website_scan.report.exports` adds the rows as objects under this key for users.
    evidence: NotRequired[Annotated[list[dict[str, JsonValue]], Published.PRESENT]]
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
class ExportedFinding(_FindingHead, ExportFields):
    """Finding: a check of a JSON export that failed or warned."""

    outcome: Annotated[str, "Stable name of what is wrong, within the check: `short`."]
    summary: Annotated[str, "What was seen, without places and reason."]
    values: Annotated[dict[str, StoredValue], "The values in the summary."]
    places: list[StoredPlaces]
    includes: Annotated[list[str], "Titles of findings of other checks that are the same fault."]
    needs_review: Annotated[bool, "True if only a person can tell whether something is wrong."]
    how_to_fix: StoredFix
    why: Annotated[str, "Why a failed or warned check matters: the sentence with which `message` ends."]
    consequence: Annotated[
        str,
        "What can happen to the business or its visitors, in a sentence without technical terms; empty unless the "
        "severity is critical or high.",
    ]


@final
class ExportedPass(_PassHead, ExportFields):
    """Check of a JSON export that passed."""


ExportedCheck = Annotated[
    ExportedFinding | ExportedPass,
    Component("ExportedCheck", "A check of an export, with more fields than in the report."),
]


@component("PlugIn")
class ExportedPlugIn(TypedDict):
    name: str
    version: str


class ExportedCategory(TypedDict):
    """Category of checks in a JSON export."""

    name: str
    score: Score
    checks: list[ExportedCheck]
    plug_in: NotRequired[Annotated[ExportedPlugIn, "Plug-in that added the category."]]


class ExportedSkippedCheck(TypedDict):
    """Check that could not run, with the reason."""

    name: str
    reason: str
    code: Annotated[str, "Stable name of the reason, such as `out-of-time`."]
    id: str


@component("OmittedCheck")
class ExportedOmittedCheck(TypedDict):
    """Check that was omitted because it needs a browser, and none was available."""

    id: str
    name: str


@component("RepeatedCheck")
class ExportedRepeatedCheck(TypedDict):
    """Suppressed check. The check `told_by` reports the same fact, so this one costs no points."""

    id: str
    name: str
    told_by: Annotated[str, "ID of the check whose finding includes this one."]
    reason: str


@component("Cap")
class ExportedCap(TypedDict):
    """Cap that lowered the score."""

    limit: Score
    reason: str


class ExportedError(TypedDict):
    code: str
    message: str


@component("JourneyStateOfReport")
class ExportedState(TypedDict):
    """State of a journey that a report judges."""

    journey: Annotated[str, "Name of the journey."]
    name: Annotated[str, "Name of the state, which is unique in the journey."]
    step: Annotated[int, "Number of the step after which it was reached, from 1."]


@component("ReportExport")
class ExportJson(ReportHead):
    """JSON export: the report with IDs, places, fixes and references of its checks."""

    categories: list[ExportedCategory]
    summary: Summary
    report_id: Annotated[str, identifier("rpt")]
    status: Annotated[Literal["completed", "partial", "failed"], values(REPORT_STATUSES)]
    skipped_checks: list[ExportedSkippedCheck]
    # Older exports do not have the optional keys.
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
        str, "The findings that keep the score low, and the score after fixing them; empty if no cap lowers it."
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
    widths: NotRequired[
        Annotated[
            list[int],
            "Widths of the page in CSS pixels at which accessibility was judged; absent unless the scan was made with "
            "`widths` or `color_scheme`.",
        ]
    ]
    color_scheme: NotRequired[
        Annotated[
            Literal["light", "dark"],
            values(COLOR_SCHEMES),
            "Colour scheme that the browser preferred; absent unless the scan was made with `widths` or "
            "`color_scheme`.",
        ]
    ]
    state: NotRequired[Annotated[ExportedState, "State of a journey that was judged; absent for reports about a page."]]
    error: NotRequired[Annotated[ExportedError, Published.ABSENT]]


def checks_of(document: ExportJson) -> Iterator[tuple[str, ExportedCheck]]:
    """Yield the checks of a JSON export with their category names."""
    for category in document["categories"]:
        for check in category["checks"]:
            yield category["name"], check


# A monitor stores a reduced export for each page, to compare runs.


@final
class ReducedPass(TypedDict):
    id: str
    status: Literal["pass"]


@final
class ReducedFinding(TypedDict):
    """Finding with descriptions of its places by fingerprint.

    `is_cut` is True if the page may have more places.
    """

    id: str
    name: str
    title: str
    outcome: str
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


class ReducedUnjudgedCheck(TypedDict):
    """Check without a verdict in a reduced export: skipped, omitted or suppressed."""

    id: str


class ReducedJson(TypedDict):
    """JSON export reduced to what monitors compare.

    It has the HTTP status (`answer`) and the certificate of the page.
    """

    url: str
    catalogue_version: str
    browser: str | None
    categories: list[ReducedCategory]
    skipped_checks: list[ReducedUnjudgedCheck]
    omitted_checks: list[ReducedUnjudgedCheck]
    repeated_checks: NotRequired[list[ReducedUnjudgedCheck]]
    answer: int | None
    certificate: list[str] | None
    chosen_categories: NotRequired[list[str]]


ComparableJson = ExportJson | ReducedJson
ComparableCheck = ExportedCheck | ReducedCheck
ComparableFinding = ExportedFinding | ReducedFinding
