"""JSON schemas of audits, their pages and findings, and functions that create this JSON from models."""

from __future__ import annotations

from typing import Annotated, NotRequired, TypedDict

from scans.schemas import (
    AuditId,
    CategoryNames,
    ColorSchemeName,
    CredentialNames,
    ScanFailure,
    Widths,
    credential_names_of,
    failure_of,
    requirements_json_of,
    timestamp_or_none,
)
from sites.audits.findings import ListedFinding, ListedPlace
from sites.audits.muting import ALL, NONE, SOME, AuditMutes
from sites.audits.requests import DISCOVER
from sites.models import Audit, AuditPage
from sites.models.audit import PageError, PageResult, SamplePage, TypeScore
from webhooks.schemas import Event
from website_scan.json_types import (
    Count,
    Keywords,
    Link,
    ScanId,
    Score,
    SeverityName,
    Timestamp,
    TypeName,
    component,
    identifier,
    values,
)
from website_scan.report.muting import MuteJson, serialize_mute
from website_scan.report_json import CHECK_STATUSES
from website_scan.requirements.model import RequirementsJson
from website_scan.timestamps import timestamp

MAX_WORST_PAGES = 5
# The number is small, because a list has up to a thousand places and a URL may be several kilobytes long.
MAX_SAMPLE_PAGES_PER_PLACE = 3
MUTED_PAGES = (ALL, SOME, NONE)

AuditStatus = Annotated[str, values(Audit.Status.choices)]
DiscoverySource = Annotated[str, values(DISCOVER)]
MutedPages = Annotated[str, values(MUTED_PAGES)]
Positive = Annotated[int, Keywords(minimum=1)]
JourneyId = Annotated[str, identifier("jny")]


class AuditPagesCount(TypedDict):
    """Page counts of an audit."""

    found: Count
    planned: Count
    done: Count
    failed: Count


class AuditScansCount(TypedDict):
    """Numbers of scans that are planned and that have ended."""

    planned: Count
    done: Count


class WorstPage(TypedDict):
    """Page of an audit with one of the lowest scores."""

    url: str
    scan_id: ScanId
    score: Score
    state: NotRequired[Annotated[str, "Name of the state of a journey; absent for pages."]]


@component("AuditResult")
class TypeResult(TypeScore):
    """Score of one scan type in an audit, and the pages with the lowest scores."""

    worst_pages: list[WorstPage]


class AuditSummary(TypedDict):
    """Audit as an item of a list, without its options."""

    id: AuditId
    kind: Annotated[str, values(Audit.Kind.choices)]
    journey_id: NotRequired[Annotated[JourneyId, "Of a run of a journey that has not been deleted."]]
    is_dry_run: NotRequired[
        Annotated[bool, "True for a dry run of a journey, which judges nothing; absent for others."]
    ]
    target: str
    types: list[TypeName]
    status: AuditStatus
    created_at: Timestamp
    completed_at: Timestamp | None
    pages: AuditPagesCount
    scans: AuditScansCount
    results: dict[str, TypeScore]
    audit_url: Link
    error: ScanFailure | None


@component("Audit")
class AuditJson(AuditSummary):
    """Response of POST /v1/audits and GET /v1/audits/:id."""

    results: dict[str, TypeResult]  # type: ignore[misc]  # TypeResult extends TypeScore of the summary.
    discover: list[DiscoverySource]
    include: list[str]
    exclude: list[str]
    max_pages: Positive
    notes: list[str]
    request: NotRequired[CredentialNames]
    widths: NotRequired[Widths]
    color_scheme: NotRequired[ColorSchemeName]
    categories: NotRequired[CategoryNames]
    requirements: NotRequired[Annotated[RequirementsJson, "Absent for audits of a list, which has them."]]


@component("AuditPage")
class AuditPageJson(TypedDict):
    """Page of an audit, or state of a journey, with its ended scans by type."""

    url: str
    state: NotRequired[Annotated[str, "Name of the state of a journey, unique in its run; absent for pages."]]
    step: NotRequired[Annotated[Positive, "Number of the step after which the state was reached; absent for pages."]]
    status: Annotated[str, values(AuditPage.Status.choices)]
    error: Annotated[PageError | None, "Why a `failed` or `left_out` page has no score."]
    results: dict[str, PageResult]


@component("AuditPlace")
class AuditPlaceJson(TypedDict):
    """Place of a finding, such as an element, a header or a file."""

    fingerprint: Annotated[str, "The same in every audit."]
    place: Annotated[str, "Empty if the check has no place."]
    pages_affected: Positive
    sample_pages: list[SamplePage]
    muted: MutedPages


@component("AuditFinding")
class AuditFindingJson(TypedDict):
    """Failed or warned check of an audit, with its places and pages."""

    type: TypeName
    check: str
    status: Annotated[str, values(CHECK_STATUSES), "The worst of its pages."]
    severity: SeverityName
    outcome: Annotated[str, "Stable name of what was found, within the check: `short`. On the worst of its pages."]
    title: str
    message: str
    consequence: Annotated[
        str, "What can happen to the business or its visitors; empty unless the severity is critical or high."
    ]
    fix: str
    pages_affected: Positive
    critical_pages: Annotated[Count, "On how many of them it is a critical failure."]
    holds: Annotated[bool, "Whether a cap that lowers the score of a page counts it."]
    points: Annotated[float, "Points that the audit's score gains if it is fixed on all pages."]
    later: Annotated[float, "What the score would win if no cap applied."]
    told_by: Annotated[
        str | None, "The check of another type that reports the same fact; such findings are listed only with `type`."
    ]
    sample_pages: Annotated[list[SamplePage], "The first pages on which it is worst."]
    places: Annotated[list[AuditPlaceJson], "The most frequent ones."]
    places_total: Count
    muted: Annotated[MutedPages, "On how many of its pages it is muted now."]
    mutes: Annotated[list[MuteJson], "Mutes of the finding; empty for readers who only have the link."]


class AuditList(TypedDict):
    """Response of GET /v1/audits."""

    audits: list[AuditSummary]
    total: Count
    limit: Positive
    offset: Count


class AuditPageList(TypedDict):
    """Response of GET /v1/audits/:id/pages."""

    pages: list[AuditPageJson]
    total: Count
    limit: Positive
    offset: Count


class AuditFindingList(TypedDict):
    """Response of GET /v1/audits/:id/findings."""

    findings: list[AuditFindingJson]
    total: Count
    limit: Positive
    offset: Count


@component("AuditExport")
class AuditExportJson(TypedDict):
    """JSON export of an audit with all its findings and pages."""

    audit: AuditJson
    findings: list[AuditFindingJson]
    pages: list[AuditPageJson]


class AuditEventPages(TypedDict):
    """Page counts of a finished audit."""

    planned: Count
    done: Count
    failed: Count


class AuditEventData(TypedDict):
    """Finished audit in the data of a webhook event."""

    audit_id: AuditId
    target: str
    types: list[TypeName]
    status: AuditStatus
    pages: AuditEventPages
    results: dict[str, TypeScore]
    audit_url: Link
    error: NotRequired[Annotated[ScanFailure, "Of an audit that is `failed` or `partial`."]]


class AuditEvent(Event):
    data: AuditEventData


def audit_summary_of(audit: Audit) -> AuditSummary:
    summary: AuditSummary = {
        "id": audit.id,
        "kind": audit.kind,
        "target": audit.url,
        "types": audit.types,
        "status": audit.status,
        "created_at": timestamp(audit.created_at),
        "completed_at": timestamp_or_none(audit.completed_at),
        "pages": {
            "found": audit.pages_found,
            "planned": audit.pages_planned,
            "done": audit.pages_done,
            "failed": audit.pages_failed,
        },
        "scans": {"planned": audit.pages_planned * len(audit.types), "done": audit.scans_done},
        "results": audit.scores,
        "audit_url": audit.audit_url,
        "error": failure_of(audit),
    }
    if audit.journey_id is not None:
        summary["journey_id"] = audit.journey_id
    if audit.is_dry_run:
        summary["is_dry_run"] = True
    return summary


def audit_json_of(audit: Audit) -> AuditJson:
    worst_pages = _worst_pages(audit)
    response: AuditJson = {
        **audit_summary_of(audit),  # type: ignore[typeddict-item]  # The summary never has `request`.
        "results": {type: {**score, "worst_pages": worst_pages[type]} for type, score in audit.scores.items()},
        "discover": audit.discover,
        "include": audit.include,
        "exclude": audit.exclude,
        "max_pages": audit.max_pages,
        "notes": audit.notes,
    }
    if audit.credential_names is not None:
        response["request"] = credential_names_of(audit.credential_names)
    if audit.viewing is not None:
        response["widths"], response["color_scheme"] = audit.viewing["widths"], audit.viewing["color_scheme"]
    if audit.categories is not None:
        response["categories"] = audit.categories
    if audit.requirements is not None:
        response["requirements"] = requirements_json_of(audit.requirements)
    return response


def audit_page_of(page: AuditPage) -> AuditPageJson:
    response: AuditPageJson = {
        "url": page.url,
        "status": page.status,
        "error": page.error,
        "results": page.results,
    }
    if page.state:
        response["state"] = page.state
    if page.step is not None:
        response["step"] = page.step + 1
    return response


def audit_finding_of(listed: ListedFinding, mutes: AuditMutes) -> AuditFindingJson:
    row, muted_on = listed.row, listed.muted_on
    return {
        "type": row.type,
        "check": row.check_id,
        "status": row.status,
        "severity": row.severity,
        "outcome": row.outcome,
        "title": row.title,
        "message": row.message,
        "consequence": row.consequence,
        "fix": row.fix,
        "pages_affected": row.pages_affected,
        "critical_pages": row.critical_pages,
        "holds": listed.holds,
        "points": listed.points,
        "later": listed.later,
        "told_by": row.told_by or None,
        "sample_pages": row.samples,
        "places": [_place_of(place) for place in listed.places],
        "places_total": listed.places_total,
        "muted": muted_on.pages,
        "mutes": [serialize_mute(rule) for rule in muted_on.rules] if mutes.shows_rules else [],
    }


def _place_of(listed: ListedPlace) -> AuditPlaceJson:
    row = listed.row
    return {
        "fingerprint": row.fingerprint,
        "place": row.place,
        "pages_affected": row.pages_affected,
        "sample_pages": row.samples[:MAX_SAMPLE_PAGES_PER_PLACE],
        "muted": listed.muted_on.pages,
    }


def _worst_pages(audit: Audit) -> dict[str, list[WorstPage]]:
    """Return the pages with the lowest scores for each scan type, lowest first.

    Candidates are the pages with the lowest `worst_score`, which is a page's lowest score of all types.
    """
    judged_pages = AuditPage.objects.filter(audit=audit, worst_score__isnull=False).order_by("worst_score", "position")
    pages = list(judged_pages.only("url", "state", "results")[: MAX_WORST_PAGES * len(audit.types) * 5])
    worst_pages: dict[str, list[WorstPage]] = {}
    for scan_type in audit.types:
        scored_pages: list[WorstPage] = [
            {**page.sample(result["scan_id"]), "score": result["score"]}
            for page in pages
            if (result := page.results.get(scan_type)) is not None and result["score"] is not None
        ]
        worst_pages[scan_type] = sorted(scored_pages, key=lambda page: page["score"])[:MAX_WORST_PAGES]
    return worst_pages
