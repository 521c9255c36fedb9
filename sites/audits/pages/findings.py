"""View models for the findings on an audit's page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from urllib.parse import urlencode

from msgspec import Struct

from scans.models import Scan, path_of, report_path
from sites.audits.findings import ListedFinding, by_priority, critical_findings_by_priority, listed
from sites.audits.muting import ALL, AuditMutes, MutedOn
from sites.models import Audit, AuditFinding
from website_scan.findings import ScanType
from website_scan.messages import counted
from website_scan.repeats import REPEATS, CheckKey
from website_scan.report.fixes import Part, parts, snippet_codes
from website_scan.report.snippets import HowTo, how_to
from website_scan.report_json import StoredFix

MAX_PLACES = 5
MAX_MUTED_FINDINGS = 50
LABELS = dict(Scan.Type.choices)


def noun_of(audit: Audit) -> str:
    """Return what the audit's pages are called."""
    return "state" if audit.kind == Audit.Kind.JOURNEY else "page"


class Sample(NamedTuple):
    """Example page with a finding.

    `url` links to the finding in the page's report.
    """

    path: str
    url: str


class Place(NamedTuple):
    """Place of a finding as text, with the number of pages that have it."""

    text: str
    pages: int
    is_muted: bool


class FindingLink(Struct, frozen=True):
    """Link to a finding of another type that reports the same fact."""

    label: str
    url: str


class Finding(Struct, frozen=True):
    """View model for a failed or warned check of an audit.

    `points` is the gain in the type's score if the finding is fixed on all pages, `later` the gain if no cap applied.
    The list of all types contains `reported_under` instead of this finding, and this finding instead of those in
    `repeated_under`.
    """

    type: str
    title: str
    severity: str
    status: str
    message: str
    consequence: str
    fix: StoredFix
    pages: int
    critical_pages: int
    judged: int
    points: float
    later: float
    holds: bool
    places: tuple[Place, ...]
    places_total: int
    samples: tuple[Sample, ...]
    muted_on: MutedOn
    check_id: str
    anchor: str
    scan_id: str  # ID of the scan of the first sample page.
    noun: str  # What the audit's pages are called.
    reported_under: FindingLink | None
    repeated_under: tuple[FindingLink, ...]

    @property
    def fix_parts(self) -> tuple[Part, ...]:
        return parts(self.fix)

    @property
    def how_to(self) -> HowTo:
        """Return the fix snippets that do not depend on the server, because pages may have different servers."""
        return how_to(self.check_id, "", snippet_codes(self.fix), has_page=True)

    @property
    def is_critical(self) -> bool:
        return self.critical_pages > 0

    @property
    def more_pages(self) -> int:
        """Return the number of affected pages that are not among the sample pages."""
        return self.pages - len(self.samples)

    @property
    def more_places(self) -> int:
        return self.places_total - len(self.places)

    @property
    def spread(self) -> str:
        """Return the numbers of affected pages and places as text, such as "On 3 of 10 pages, 5 different places".

        Equal places of several pages count once, while the message counts those of one page.
        """
        pages = counted(self.pages, self.noun)
        if self.pages == self.judged:
            affected = f"the only {self.noun}" if self.pages == 1 else f"all {pages}"
        else:
            affected = f"{self.pages:,} of {self.judged:,} {self.noun}s"
        if len(self.places) == self.places_total == 1 < self.pages:
            return f"Fix once, {pages} better"
        return f"On {affected}" + (f", {self.places_total:,} different places" if self.places_total > 1 else "")


class FindingLists(Struct, frozen=True):
    """Findings on the page of an audit, sorted by priority.

    `rows` are not muted. `muted` are the first MAX_MUTED_FINDINGS findings that are muted on all pages.
    """

    rows: Sequence[Finding]
    muted: Sequence[Finding]
    muted_count: int

    @property
    def critical(self) -> list[Finding]:
        """Return the critical failures that are not muted."""
        return [finding for finding in self.rows if finding.is_critical]


def findings(audit: Audit, type: str, mutes: AuditMutes) -> FindingLists:
    """Return the findings of a scan type, or of all types if `type` is empty.

    There is at most one finding per check.
    """
    all_rows = by_priority(audit, audit.findings.all())
    rows = [row for row in all_rows if (row.type == type if type else not row.told_by)]
    listed_findings = listed(audit, rows, mutes, MAX_PLACES, with_samples=False)
    repeats = _reporting_checks(all_rows)
    muted = [finding for finding in listed_findings if finding.is_muted]
    return FindingLists(
        rows=[_view_model(audit, finding, repeats) for finding in listed_findings if not finding.is_muted],
        muted=[_view_model(audit, finding, repeats) for finding in muted[:MAX_MUTED_FINDINGS]],
        muted_count=len(muted),
    )


def critical(audit: Audit, mutes: AuditMutes) -> list[Finding]:
    """Return the unmuted critical failures of all types by priority.

    Their places are not loaded.
    """
    listed_findings = listed(audit, critical_findings_by_priority(audit), mutes, most_places=0)
    return [_view_model(audit, finding, {}) for finding in listed_findings if not finding.is_muted]


def _view_model(audit: Audit, finding: ListedFinding, repeats: Mapping[CheckKey, CheckKey]) -> Finding:
    row = finding.row
    key = CheckKey(ScanType(row.type), row.check_id)
    places = [place for place in finding.places if place.row.place]
    return Finding(
        type=LABELS[row.type],
        title=row.title,
        severity=row.severity,
        status=row.status,
        message=row.message,
        consequence=row.consequence,
        fix=row.how_to_fix,
        pages=row.pages_affected,
        critical_pages=row.critical_pages,
        judged=audit.pages_judged(row.type),
        points=finding.points,
        later=finding.later,
        holds=finding.holds,
        places=tuple(Place(place.row.place, place.row.pages_affected, place.muted_on.pages == ALL) for place in places),
        places_total=finding.places_total,
        samples=tuple(
            Sample(page.get("state") or path_of(page["url"]), f"{report_path(page['scan_id'])}#check-{row.check_id}")
            for page in row.samples
        ),
        muted_on=finding.muted_on,
        check_id=row.check_id,
        anchor=finding_anchor(key.type, key.id),
        scan_id=next((page["scan_id"] for page in row.samples), ""),
        noun=noun_of(audit),
        reported_under=_link_to_finding(repeats[key]) if key in repeats else None,
        repeated_under=tuple(_link_to_finding(repeat) for repeat, reporter in repeats.items() if reporter == key),
    )


def finding_anchor(type: str, check_id: str) -> str:
    return f"check-{type}-{check_id}"


def _link_to_finding(key: CheckKey) -> FindingLink:
    return FindingLink(LABELS[key.type], f"?{urlencode({'type': key.type})}#{finding_anchor(key.type, key.id)}")


def _reporting_checks(rows: Sequence[AuditFinding]) -> dict[CheckKey, CheckKey]:
    """Map findings to the finding of another scan type that reports the same fact on all pages."""
    types = {repeat.check: repeat.told_by.type for repeat in REPEATS}
    keys = {CheckKey(ScanType(row.type), row.check_id): row.told_by for row in rows if row.told_by}
    return {key: CheckKey(types[key], reporter) for key, reporter in keys.items() if key in types}
