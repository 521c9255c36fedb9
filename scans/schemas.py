"""JSON of scans, usage and quota in the API."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, NotRequired, Protocol, TypedDict

from accounts.usage import Quota
from infrastructure.api.typed import in_order
from scans.models import Scan
from website_scan.json_types import (
    Count,
    Grade,
    Keywords,
    Link,
    ScanId,
    Score,
    Timestamp,
    TypeName,
    component,
    identifier,
    values,
)
from website_scan.requirements.model import RequirementsJson
from website_scan.security_categories import CATEGORY_KEYS
from website_scan.timestamps import timestamp
from website_scan.viewing import COLOR_SCHEMES, ColorScheme

PHASES = ("queued", "connecting", "collecting", "checking", "done")
AuditId = Annotated[str, identifier("aud")]
Widths = Annotated[list[int], "Widths in CSS pixels at which accessibility is judged, the main one first."]
ColorSchemeName = Annotated[ColorScheme, values(COLOR_SCHEMES), "Colour scheme that the browser prefers."]
CategoryNames = Annotated[
    list[Annotated[str, values(CATEGORY_KEYS)]],
    "Categories of security checks that are judged. Absent if all are.",
]
ScanStatus = Annotated[str, values(Scan.Status.choices)]


class ScanSummary(TypedDict):
    """Summary of a scan."""

    id: ScanId
    type: TypeName
    url: str
    status: ScanStatus
    score: Score | None
    grade: Grade | None
    created_at: Timestamp
    completed_at: Timestamp | None


class ScanProgress(TypedDict):
    """Progress of a scan."""

    percent: Score
    phase: Annotated[str, values(PHASES)]
    checks_done: Count
    checks_total: Count


class ScanFailure(TypedDict):
    """Error code and message of a failed scan."""

    code: str
    message: str


class SkippedCheck(TypedDict):
    """A check that could not run, with the reason."""

    name: str
    reason: str


class CredentialNames(TypedDict):
    """The names of the credentials that are sent to the target, without their values."""

    headers: list[str]
    basic_auth: bool
    cookies: list[str]


class ScanDetail(ScanSummary):
    """Response of POST /v1/scan and GET /v1/scan/:id. `request` is present only if the scan has credentials.

    `widths` and `color_scheme` are present only if the request had one of them, and `requirements` only if it had some.
    Scans of an audit have the requirements of the audit, and no such field. `categories` is present only if the scan is
    limited to some.
    """

    started_at: Timestamp | None
    report_url: Link
    progress: ScanProgress
    error: ScanFailure | None
    skipped_checks: list[SkippedCheck]
    request: NotRequired[CredentialNames]
    widths: NotRequired[Widths]
    color_scheme: NotRequired[ColorSchemeName]
    categories: NotRequired[CategoryNames]
    requirements: NotRequired[RequirementsJson]


@component("QuotaObject")
class QuotaJson(TypedDict):
    """The quota of the month."""

    used: Count
    limit: Count
    remaining: Count
    tier: str


class ListedScan(ScanSummary):
    """Scan in the list that GET /v1/scans returns."""

    audit: Annotated[AuditId | None, "The audit that it is of."]


class ScanList(TypedDict):
    """Response of GET /v1/scans."""

    scans: list[ListedScan]
    total: Count
    limit: Annotated[int, Keywords(minimum=1, maximum=100)]
    offset: Count
    quota: QuotaJson


class UsagePeriod(TypedDict):
    """The calendar month in UTC, from `start` (inclusive) to `end` (exclusive)."""

    start: Timestamp
    end: Timestamp


class ConcurrentUsage(TypedDict):
    """Scans that are queued or running."""

    running: Count
    limit: Count


class RateLimitUsage(TypedDict):
    """Current state of the request rate limit, as in the X-RateLimit headers."""

    limit: Count
    remaining: Count
    reset: Count
    window_seconds: Annotated[int, Keywords(minimum=1)]


class Usage(TypedDict):
    """Response of GET /v1/usage."""

    period: UsagePeriod
    quota: QuotaJson
    concurrent: ConcurrentUsage
    rate_limit: RateLimitUsage
    by_type: dict[str, Count]
    by_status: dict[str, Count]


class HasError(Protocol):
    """Protocol of a row that may have failed.

    The error code is empty or None if it has not.
    """

    @property
    def error_code(self) -> str | None: ...

    @property
    def error_message(self) -> str | None: ...


def scan_detail_of(scan: Scan) -> ScanDetail:
    scan_json: ScanDetail = {
        "id": scan.id,
        "type": scan.type,
        "url": scan.url,
        "status": scan.status,
        "score": scan.score,
        "grade": scan.grade,
        "created_at": timestamp(scan.created_at),
        "completed_at": timestamp_or_none(scan.completed_at),
        "started_at": timestamp_or_none(scan.started_at),
        "report_url": scan.report_url,
        "progress": {
            "percent": scan.percent,
            "phase": scan.phase,
            "checks_done": scan.checks_done,
            "checks_total": scan.checks_total,
        },
        "error": failure_of(scan),
        "skipped_checks": [{"name": check["name"], "reason": check["reason"]} for check in scan.skipped_checks],
    }
    if scan.credential_names is not None:
        scan_json["request"] = credential_names_of(scan.credential_names)
    if scan.viewing is not None:
        scan_json["widths"], scan_json["color_scheme"] = scan.viewing["widths"], scan.viewing["color_scheme"]
    if scan.categories is not None:
        scan_json["categories"] = scan.categories
    if scan.requirements is not None:
        scan_json["requirements"] = requirements_json_of(scan.requirements)
    return scan_json


def requirements_json_of(requirements: RequirementsJson) -> RequirementsJson:
    """Return stored own requirements with their fields in the order of the API."""
    return in_order(RequirementsJson, requirements)


def failure_of(row: HasError) -> ScanFailure | None:
    return {"code": row.error_code, "message": row.error_message or ""} if row.error_code else None


def credential_names_of(names: CredentialNames) -> CredentialNames:
    """Return the stored credential names in the API's order.

    PostgreSQL sorts the keys of jsonb by length.
    """
    return {"headers": names["headers"], "basic_auth": names["basic_auth"], "cookies": names["cookies"]}


def quota_of(quota: Quota) -> QuotaJson:
    return {"used": quota.used, "limit": quota.limit, "remaining": quota.remaining, "tier": quota.tier}


def timestamp_or_none(moment: datetime | None) -> str | None:
    return None if moment is None else timestamp(moment)
