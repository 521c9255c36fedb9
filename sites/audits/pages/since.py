"""Comparison of an audit with the previous one, as a sentence above the scores."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.urls import reverse

from accounts import access
from reports.page.since import previous_report_time
from scans.models import Scan
from sites.audits.pages.findings import LABELS, Finding
from sites.models import Audit

# The search for the previous audit is limited to the organization's latest audits, so that the query stays fast.
MAX_SEARCHED_AUDITS = 500
COMPARED_STATUSES = [str(Audit.Status.COMPLETED), str(Audit.Status.PARTIAL)]

PREVIOUS_AUDIT_SQL = """
    SELECT id, types, status, totals, created_at, released_at, kept_days, ARRAY(
        SELECT ARRAY[type, check_id] FROM sites_auditfinding WHERE audit_id = recent.id AND critical_pages > 0
    )
    FROM (
        SELECT * FROM sites_audit WHERE organization_id = %(organization)s AND created_at < %(before)s
        ORDER BY created_at DESC, id DESC LIMIT %(most)s
    ) AS recent
    WHERE kind = %(kind)s AND url = %(url)s AND discover = %(discover)s::varchar[] AND include = %(include)s::varchar[]
        AND exclude = %(exclude)s::varchar[] AND max_pages = %(max_pages)s AND status = ANY(%(compared)s)
    ORDER BY created_at DESC, id DESC LIMIT 1
"""
RULES_SQL = """
    SELECT page.audit_id, scan.type, scan.catalogue_version, coalesce(report.facts ->> 'browser', '') <> ''
    FROM sites_auditpage AS page
    JOIN scans_scan AS scan ON scan.audit_page_id = page.id
    LEFT JOIN reports_report AS report ON report.scan_id = scan.id
    WHERE page.audit_id = ANY(%(audits)s) AND page.position = 0
        AND scan.organization_id = %(organization)s AND scan.status = ANY(%(reported)s)
"""


class Rules(NamedTuple):
    """Conditions under which two scans are comparable."""

    catalogue_version: str
    used_browser: bool


@dataclass(frozen=True, slots=True)
class ScoreChange:
    label: str
    before: int
    after: int

    @property
    def is_better(self) -> bool:
        return self.after > self.before


@dataclass(frozen=True, slots=True)
class AuditComparison:
    """Changed scores and new critical failures since the previous audit at `url`.

    `not_compared` are types with another catalogue version, or of which only one scan used a browser. If that is true
    of all types, `is_comparable` is False.
    """

    url: str
    when: str
    is_comparable: bool
    not_compared: tuple[str, ...]
    changes: tuple[ScoreChange, ...]
    new_critical: tuple[Finding, ...]


def compare_with_previous_audit(audit: Audit, critical: Sequence[Finding]) -> AuditComparison | None:
    """Compare a finished audit with the previous one, in at most two queries.

    `critical` are the audit's critical failures. Return None if there is no previous audit to compare with.
    """
    previous = _previous_audit(audit) if audit.status in COMPARED_STATUSES else None
    if previous is None:
        return None
    before, failures_before = previous
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
            compared.add(LABELS[type])
            if old_score != new_score:
                changes.append(ScoreChange(str(LABELS[type]), old_score, new_score))
        else:
            not_compared.append(str(LABELS[type]))
    return AuditComparison(
        url=reverse("audit-page", args=[before.id]),
        when=previous_report_time(before.created_at, audit.created_at),
        is_comparable=bool(compared),
        not_compared=tuple(not_compared),
        changes=tuple(changes),
        new_critical=tuple(
            finding
            for finding in critical
            if finding.type in compared and (finding.type, finding.check_id) not in failures_before
        ),
    )


def _previous_audit(audit: Audit) -> tuple[Audit, set[tuple[str, str]]] | None:
    """Return the previous comparable audit and its critical failures.

    It has the same page, or the same site and options. A failure is a pair of type label and check ID. The audit has no
    columns but those that PREVIOUS_AUDIT_SQL selects.
    """
    if audit.kind == Audit.Kind.PAGES:
        # A list of pages is stored by its first page only, which different lists may share.
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
        compared=COMPARED_STATUSES,
    )
    for id, types, status, totals, created_at, released_at, kept_days, failures in rows:
        before = Audit(
            id=id,
            types=types,
            status=status,
            totals=json.loads(totals),
            created_at=created_at,
            released_at=released_at,
            kept_days=kept_days,
        )
        return before, {(LABELS[type], check_id) for type, check_id in failures}
    return None


def _rules(organization_id: int, audit_ids: Sequence[str]) -> dict[str, dict[str, Rules]]:
    """Return the `Rules` of each audit's first page, by audit ID and scan type."""
    rules: dict[str, dict[str, Rules]] = {audit_id: {} for audit_id in audit_ids}
    rows = access.fetch_rows(
        RULES_SQL, organization_id, audits=audit_ids, reported=[str(status) for status in Scan.REPORTED]
    )
    for audit_id, type, version, used_browser in rows:
        rules[audit_id][type] = Rules(version, used_browser)
    return rules
