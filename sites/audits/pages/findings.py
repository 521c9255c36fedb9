"""View models of the findings on an audit's page: all of them, and the critical failures in the red box."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlencode

from scans.models import Scan, path_of, report_path
from sites.audits.findings import ListedFinding, by_priority, critical_in_order, listed
from sites.audits.muting import ALL, AuditMutes, MutedOn
from sites.models import Audit, AuditFinding
from website_scan.findings import ScanType
from website_scan.messages import counted
from website_scan.repeats import REPEATS, CheckKey
from website_scan.report.fixes import Part, codes_of, parts
from website_scan.report.snippets import HowTo, how_to
from website_scan.report_json import StoredFix

PLACES_SHOWN = 5
MUTED_SHOWN = 50
LABELS = dict(Scan.Type.choices)


class Sample(NamedTuple):
    """Page with a finding; `url` leads to the finding in the page's report."""

    path: str
    url: str


class Place(NamedTuple):
    """Place of a finding in words, with the number of pages that have it."""

    text: str
    pages: int
    is_muted: bool


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Finding of another type that is the same fact, and the query string and anchor that lead to it."""

    label: str
    url: str


@dataclass(frozen=True, slots=True)
class Finding:
    """Failed or warned check of an audit; `points` is the type's gain in score if all pages are fixed.

    `later` is the gain if no cap applied. The list of all types has `reported_under` in place of this finding, and this
    finding in place of those in `repeated_under`.
    """

    type: str
    title: str
    severity: str
    status: str
    message: str
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
    scan_id: str  # the scan of the first sample page
    reported_under: Elsewhere | None
    repeated_under: tuple[Elsewhere, ...]

    @property
    def fix_parts(self) -> tuple[Part, ...]:
        return parts(self.fix)

    @property
    def how_to(self) -> HowTo:
        """Snippets that depend on no server, because an audit may meet several."""
        return how_to(self.check_id, "", codes_of(self.fix), has_page=True)

    @property
    def is_critical(self) -> bool:
        return self.critical_pages > 0

    @property
    def more_pages(self) -> int:
        """Number of affected pages that are not among the samples."""
        return self.pages - len(self.samples)

    @property
    def more_places(self) -> int:
        return self.places_total - len(self.places)

    @property
    def spread(self) -> str:
        """Pages and places in words: a place that several pages share is fixed once."""
        pages = counted(self.pages, "page")
        if self.pages == self.judged:
            of_pages = "the only page" if self.pages == 1 else f"all {pages}"
        else:
            of_pages = f"{self.pages:,} of {self.judged:,} pages"
        if len(self.places) == self.places_total == 1 < self.pages:
            return f"Fix once, {pages} better"
        return f"On {of_pages}" + (f", {self.places_total:,} places" if self.places_total > 1 else "")


@dataclass(frozen=True, slots=True)
class FindingLists:
    """Findings by priority: those in force, and the first MUTED_SHOWN that are muted on all of their pages."""

    rows: Sequence[Finding]
    muted: Sequence[Finding]
    muted_count: int

    @property
    def critical(self) -> list[Finding]:
        """Return the critical failures among those in force."""
        return [each for each in self.rows if each.is_critical]


def findings(audit: Audit, type: str, mutes: AuditMutes) -> FindingLists:
    """Return the findings of a type, or of all types if empty. There are no more than checks."""
    every = by_priority(audit, audit.findings.all())
    shown = [row for row in every if (row.type == type if type else not row.told_by)]
    found = listed(audit, shown, mutes, PLACES_SHOWN, with_samples=False)
    repeats = _repeats(every)
    muted = [each for each in found if each.is_muted]
    return FindingLists(
        rows=[_finding(audit, each, repeats) for each in found if not each.is_muted],
        muted=[_finding(audit, each, repeats) for each in muted[:MUTED_SHOWN]],
        muted_count=len(muted),
    )


def critical(audit: Audit, mutes: AuditMutes) -> list[Finding]:
    """Return the critical failures of all types that are not muted, by priority, without their places."""
    found = listed(audit, critical_in_order(audit), mutes, most_places=0)
    return [_finding(audit, each, {}) for each in found if not each.is_muted]


def _finding(audit: Audit, found: ListedFinding, repeats: Mapping[CheckKey, CheckKey]) -> Finding:
    row = found.row
    key = CheckKey(ScanType(row.type), row.check_id)
    places = [each for each in found.places if each.row.place]
    return Finding(
        type=LABELS[row.type],
        title=row.title,
        severity=row.severity,
        status=row.status,
        message=row.message,
        fix=row.how_to_fix,
        pages=row.pages_affected,
        critical_pages=row.critical_pages,
        judged=audit.pages_judged(row.type),
        points=found.points,
        later=found.later,
        holds=found.holds,
        places=tuple(Place(each.row.place, each.row.pages_affected, each.muted_on.pages == ALL) for each in places),
        places_total=found.places_total,
        samples=tuple(
            Sample(path_of(each["url"]), f"{report_path(each['scan_id'])}#check-{row.check_id}") for each in row.samples
        ),
        muted_on=found.muted_on,
        check_id=row.check_id,
        anchor=_anchor(key),
        scan_id=next((each["scan_id"] for each in row.samples), ""),
        reported_under=_elsewhere(repeats[key]) if key in repeats else None,
        repeated_under=tuple(_elsewhere(each) for each, reporter in repeats.items() if reporter == key),
    )


def _anchor(key: CheckKey) -> str:
    return f"check-{key.type}-{key.id}"


def _elsewhere(key: CheckKey) -> Elsewhere:
    return Elsewhere(LABELS[key.type], f"?{urlencode({'type': key.type})}#{_anchor(key)}")


def _repeats(rows: Sequence[AuditFinding]) -> dict[CheckKey, CheckKey]:
    """Return the findings that another type tells on all of their pages, each with the finding that tells it."""
    types = {each.check: each.told_by.type for each in REPEATS}
    keys = {CheckKey(ScanType(row.type), row.check_id): row.told_by for row in rows if row.told_by}
    return {key: CheckKey(types[key], reporter) for key, reporter in keys.items() if key in types}
