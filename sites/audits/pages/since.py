"""Comparison of an audit with the previous one, as a sentence above the scores."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from django.urls import reverse
from msgspec import Struct

from accounts import access
from reports.page.since import NamedFindings, name_first, previous_report_time
from scans.models import Scan, report_path
from sites.audits.findings import in_order
from sites.audits.muting import ALL, AuditMutes
from sites.audits.pages.findings import LABELS, finding_anchor
from sites.models import Audit, AuditFinding

# The search for the previous audit is limited to the organization's latest audits, so that the query stays fast.
MAX_SEARCHED_AUDITS = 500
COMPARED_STATUSES = [str(Audit.Status.COMPLETED), str(Audit.Status.PARTIAL)]

PREVIOUS_AUDIT_SQL = """
    SELECT id, types, status, totals, created_at, released_at, kept_days, pages_failed, coalesce((
        SELECT jsonb_agg(jsonb_build_array(type, check_id, title) ORDER BY critical_pages = 0, points DESC, id)
        FROM sites_auditfinding WHERE audit_id = recent.id AND told_by = ''
    ), '[]')
    FROM (
        SELECT * FROM sites_audit WHERE organization_id = %(organization)s AND created_at < %(before)s
        ORDER BY created_at DESC, id DESC LIMIT %(most)s
    ) AS recent
    WHERE kind = %(kind)s AND url = %(url)s AND discover = %(discover)s::varchar[] AND include = %(include)s::varchar[]
        AND exclude = %(exclude)s::varchar[] AND max_pages = %(max_pages)s AND status = ANY(%(compared)s)
        AND journey_id IS NOT DISTINCT FROM %(journey)s AND categories IS NOT DISTINCT FROM %(categories)s::varchar[]
        AND run_of <> 'dry_run'
    ORDER BY created_at DESC, id DESC LIMIT 1
"""
RULES_SQL = """
    SELECT page.audit_id, scan.type, scan.catalogue_version, coalesce(report.facts ->> 'browser', '') <> ''
    FROM sites_auditpage AS page
    JOIN scans_scan AS scan ON scan.audit_page_id = page.id
    LEFT JOIN reports_report AS report ON report.scan_id = scan.id
    WHERE page.audit_id = ANY(%(audits)s) AND (page.position = 0 OR page.state <> '')
        AND scan.organization_id = %(organization)s AND scan.status = ANY(%(reported)s)
"""
# Selects the checks that could not run in at least one scan, which are neither fixed nor new.
SKIPPED_SQL = """
    SELECT DISTINCT scan.type, skipped ->> 'id'
    FROM sites_auditpage AS page
    JOIN scans_scan AS scan ON scan.audit_page_id = page.id
    CROSS JOIN LATERAL jsonb_array_elements(scan.skipped_checks) AS skipped
    WHERE page.audit_id = ANY(%(audits)s) AND scan.organization_id = %(organization)s AND scan.status = 'partial'
"""

# Titles of an audit's findings by scan type and check ID.
FindingTitles: TypeAlias = Mapping[tuple[str, str], str]


class Rules(NamedTuple):
    """Conditions under which two scans are comparable."""

    catalogue_version: str
    used_browser: bool


class ScoreChange(Struct, frozen=True):
    label: str
    before: int
    after: int

    @property
    def is_better(self) -> bool:
        return self.after > self.before


class NamedFinding(Struct, frozen=True):
    """Title of a finding, and the link to it, which is empty for a fixed finding."""

    title: str
    url: str


class AuditComparison(Struct, frozen=True):
    """Changed scores and fixed, remaining and new findings since the previous audit at `url`.

    `not_compared` are types with another catalogue version, or of which only one scan used a browser. If that is true
    of all types, `is_comparable` is False.
    """

    url: str
    when: str
    is_comparable: bool
    not_compared: tuple[str, ...]
    changes: tuple[ScoreChange, ...]
    groups: tuple[NamedFindings[NamedFinding], ...]
    before_id: str
    # New findings by scan type and check ID.
    new: Mapping[tuple[str, str], NamedFinding]


def compare_with_previous_audit(audit: Audit, mutes: AuditMutes) -> AuditComparison | None:
    """Compare a finished audit with the previous one, in a few queries.

    Return None if there is no previous audit to compare with. Findings that are muted on all pages are left out.
    """
    previous = _previous_audit(audit) if audit.status in COMPARED_STATUSES else None
    if previous is None:
        return None
    before, findings_before = previous
    if not before.is_kept:
        return None
    rules = _rules(audit.organization_id, [before.id, audit.id])
    scores_before, scores = before.scores, audit.scores
    compared, not_compared, changes = set(), [], []
    for type in audit.types:
        old_score = scores_before[type]["score"] if type in scores_before else None
        new_score = scores[type]["score"]
        if old_score is None or new_score is None:
            continue
        if (type_rules := rules[audit.id].get(type)) is not None and type_rules == rules[before.id].get(type):
            compared.add(type)
            if old_score != new_score:
                changes.append(ScoreChange(str(LABELS[type]), old_score, new_score))
        else:
            not_compared.append(str(LABELS[type]))
    groups, new = _groups(audit, before, findings_before, compared, mutes) if compared else ((), {})
    return AuditComparison(
        url=reverse("audit-page", args=[before.id]),
        when=previous_report_time(before.created_at, audit.created_at),
        is_comparable=bool(compared),
        not_compared=tuple(not_compared),
        changes=tuple(changes),
        groups=groups,
        before_id=before.id,
        new=new,
    )


def _groups(
    audit: Audit, before: Audit, findings_before: FindingTitles, types: Collection[str], mutes: AuditMutes
) -> tuple[tuple[NamedFindings[NamedFinding], ...], Mapping[tuple[str, str], NamedFinding]]:
    """Return the fixed, remaining and new findings of the compared types, without empty groups, and all new ones.

    A title that several types report is named once. If more pages than before could not be scanned, no finding counts
    as fixed.
    """
    rows = [row for row in in_order(audit) if row.type in types]
    muted = mutes.of(rows)
    now = {(row.type, row.check_id) for row in rows}
    not_judged: set[tuple[str, ...]] = set()
    if Audit.Status.PARTIAL in (audit.status, before.status):
        not_judged = set(access.fetch_rows(SKIPPED_SQL, audit.organization_id, audits=[audit.id, before.id]))
    titles_now = {row.title for row in rows}
    fixed = {
        title: NamedFinding(title, "")
        for (type, check_id), title in findings_before.items()
        if type in types and (type, check_id) not in now | not_judged and audit.pages_failed <= before.pages_failed
        # A problem is not fixed while another type still reports it.
        if title not in titles_now
    }
    left: dict[str, NamedFinding] = {}
    new: dict[str, NamedFinding] = {}
    new_by_check: dict[tuple[str, str], NamedFinding] = {}
    for row in rows:
        if muted[row.id].pages == ALL:
            continue
        group = left if (row.type, row.check_id) in findings_before else new
        if group is left or (row.type, row.check_id) not in not_judged:
            finding = group.setdefault(row.title, NamedFinding(row.title, _finding_url(audit, row)))
            if group is new:
                new_by_check[row.type, row.check_id] = finding
    only_left = [finding for title, finding in left.items() if title not in new]
    groups = name_first({"Fixed": [*fixed.values()], "Left": only_left, "New": [*new.values()]})
    return groups, new_by_check


def _finding_url(audit: Audit, row: AuditFinding) -> str:
    """Return the link to a finding: in the report of the only page, or on the page of the site's audit."""
    if audit.kind == Audit.Kind.PAGE and row.samples:
        return f"{report_path(row.samples[0]['scan_id'])}#check-{row.check_id}"
    return f"{reverse('audit-page', args=[audit.id])}#{finding_anchor(row.type, row.check_id)}"


def _previous_audit(audit: Audit) -> tuple[Audit, FindingTitles] | None:
    """Return the previous comparable audit and the titles of its findings, most critical first.

    It has the same page, or the same site and options. The audit has no columns but those that PREVIOUS_AUDIT_SQL
    selects.
    """
    if audit.kind == Audit.Kind.PAGES:
        # A list of pages is stored by its first page only, which different lists may share.
        return None
    if audit.kind == Audit.Kind.JOURNEY and audit.journey_id is None:
        # The journey was deleted, so nothing shows which audits were its runs.
        return None
    rows = access.fetch_rows(
        PREVIOUS_AUDIT_SQL,
        audit.organization_id,
        before=audit.created_at,
        most=MAX_SEARCHED_AUDITS,
        kind=audit.kind,
        url=audit.url,
        discover=audit.discover,
        include=audit.include,
        exclude=audit.exclude,
        max_pages=audit.max_pages,
        journey=audit.journey_id,
        categories=audit.categories,
        compared=COMPARED_STATUSES,
    )
    for id, types, status, totals, created_at, released_at, kept_days, pages_failed, findings in rows:
        before = Audit(
            id=id,
            types=types,
            status=status,
            totals=json.loads(totals),
            created_at=created_at,
            released_at=released_at,
            kept_days=kept_days,
            pages_failed=pages_failed,
        )
        return before, {(type, check_id): title for type, check_id, title in json.loads(findings)}
    return None


def _rules(organization_id: int, audit_ids: Sequence[str]) -> dict[str, dict[str, Rules]]:
    """Return the `Rules` of each audit's first page, or of the states of a journey, by audit ID and scan type."""
    rules: dict[str, dict[str, Rules]] = {audit_id: {} for audit_id in audit_ids}
    rows = access.fetch_rows(
        RULES_SQL, organization_id, audits=audit_ids, reported=[str(status) for status in Scan.REPORTED]
    )
    for audit_id, type, version, used_browser in rows:
        rules[audit_id][type] = Rules(version, used_browser)
    return rules
