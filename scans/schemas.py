"""JSON of scans, usage and quota in the API."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, NotRequired, Protocol, TypedDict

from accounts.usage import Quota
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
from website_scan.timestamps import timestamp

PHASES = ("queued", "connecting", "collecting", "checking", "done")
AuditId = Annotated[str, identifier("aud")]
ScanStatus = Annotated[str, values(Scan.Status.choices)]


class ScanSummary(TypedDict):
    """A scan."""

    id: ScanId
    type: TypeName
    url: str
    status: ScanStatus
    score: Score | None
    grade: Grade | None
    created_at: Timestamp
    completed_at: Timestamp | None


class ScanProgress(TypedDict):
    """How far a scan is."""

    percent: Score
    phase: Annotated[str, values(PHASES)]
    checks_done: Count
    checks_total: Count


class ScanFailure(TypedDict):
    """Why a scan failed."""

    code: str
    message: str


class SkippedCheck(TypedDict):
    """A check that could not run."""

    name: str
    reason: str


class CredentialNames(TypedDict):
    """The credentials that are sent to the target: their names, never a value."""

    headers: list[str]
    basic_auth: bool
    cookies: list[str]


class ScanDetail(ScanSummary):
    """The answer of POST /v1/scan and GET /v1/scan/:id. `request` is there only where the scan was given one."""

    started_at: Timestamp | None
    report_url: Link
    progress: ScanProgress
    error: ScanFailure | None
    skipped_checks: list[SkippedCheck]
    request: NotRequired[CredentialNames]


@component("QuotaObject")
class QuotaJson(TypedDict):
    """The quota of the month."""

    used: Count
    limit: Count
    remaining: Count
    tier: str


class ListedScan(ScanSummary):
    """A scan in the list."""

    audit: Annotated[AuditId | None, "The audit that it is of."]


class ScanList(TypedDict):
    """The answer of GET /v1/scans."""

    scans: list[ListedScan]
    total: Count
    limit: Annotated[int, Keywords(minimum=1, maximum=100)]
    offset: Count
    quota: QuotaJson


class UsagePeriod(TypedDict):
    """The calendar month in UTC: `start` inclusive, `end` exclusive."""

    start: Timestamp
    end: Timestamp


class ConcurrentUsage(TypedDict):
    """Scans that are queued or running."""

    running: Count
    limit: Count


class RateLimitUsage(TypedDict):
    """The request rate, as the X-RateLimit headers say it."""

    limit: Count
    remaining: Count
    reset: Count
    window_seconds: Annotated[int, Keywords(minimum=1)]


class Usage(TypedDict):
    """The answer of GET /v1/usage."""

    period: UsagePeriod
    quota: QuotaJson
    concurrent: ConcurrentUsage
    rate_limit: RateLimitUsage
    by_type: dict[str, Count]
    by_status: dict[str, Count]


class HasError(Protocol):
    """Protocol of a row that may have failed. Its error code is empty or None if it has not."""

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
    return scan_json


def failure_of(row: HasError) -> ScanFailure | None:
    return {"code": row.error_code, "message": row.error_message or ""} if row.error_code else None


def credential_names_of(names: CredentialNames) -> CredentialNames:
    """Return stored names of credentials in the order of the API. PostgreSQL sorts the keys of jsonb by length."""
    return {"headers": names["headers"], "basic_auth": names["basic_auth"], "cookies": names["cookies"]}


def quota_of(quota: Quota) -> QuotaJson:
    return {"used": quota.used, "limit": quota.limit, "remaining": quota.remaining, "tier": quota.tier}


def timestamp_or_none(moment: datetime | None) -> str | None:
    return None if moment is None else timestamp(moment)
