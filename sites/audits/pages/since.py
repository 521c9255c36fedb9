"""The difference of an audit to the last one of the same page or site, in a sentence above its scores."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.urls import reverse

from accounts import access
from reports.page.since import when_before
from scans.models import Scan
from sites.audits.pages.findings import LABELS, Finding
from sites.models import Audit

# Audits of the organization among which the last one of the target is looked for, so that the query stays small.
LOOKED_AT = 500
COMPARED = [str(Audit.Status.COMPLETED), str(Audit.Status.PARTIAL)]

BEFORE = """
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
RULES = """
    SELECT page.audit_id, scan.type, scan.catalogue_version, coalesce(report.facts ->> 'browser', '') <> ''
    FROM sites_auditpage AS page
    JOIN scans_scan AS scan ON scan.audit_page_id = page.id
    LEFT JOIN reports_report AS report ON report.scan_id = scan.id
    WHERE page.audit_id = ANY(%(audits)s) AND page.position = 0
        AND scan.organization_id = %(organization)s AND scan.status = ANY(%(reported)s)
"""


class Rules(NamedTuple):
    """Rules that a scan was judged by."""

    catalogue_version: str
    in_browser: bool


@dataclass(frozen=True, slots=True)
class ScoreChange:
    label: str
    before: int
    after: int

    @property
    def is_better(self) -> bool:
        return self.after > self.before


@dataclass(frozen=True, slots=True)
class AuditSince:
    """Difference to the audit at `url`: scores that changed, and critical failures that are new.

    `not_compared` are types that were judged by other rules, or only one of the times in a browser; if that is true
    of all, `is_comparable` is False.
    """

    url: str
    when: str
    is_comparable: bool
    not_compared: tuple[str, ...]
    changes: tuple[ScoreChange, ...]
    new_critical: tuple[Finding, ...]


def audit_since(audit: Audit, critical: Sequence[Finding]) -> AuditSince | None:
    """Compare a finished audit of a page or a site; `critical` are its critical failures. Two queries at most."""
    found = _before(audit) if audit.status in COMPARED else None
    if found is None:
        return None
    before, had = found
    if not before.is_kept:
        return None
    rules = _rules(audit.organization_id, [before.id, audit.id])
    scores_before, scores = before.scores, audit.scores
    known, unknown, changes = set(), [], []
    for type in audit.types:
        was = scores_before[type]["score"] if type in scores_before else None
        now = scores[type]["score"]
        if was is None or now is None:
            continue
        if (these := rules[audit.id].get(type)) is not None and these == rules[before.id].get(type):
            known.add(LABELS[type])
            if was != now:
                changes.append(ScoreChange(str(LABELS[type]), was, now))
        else:
            unknown.append(str(LABELS[type]))
    return AuditSince(
        url=reverse("audit-page", args=[before.id]),
        when=when_before(before.created_at, audit.created_at),
        is_comparable=bool(known),
        not_compared=tuple(unknown),
        changes=tuple(changes),
        new_critical=tuple(each for each in critical if each.type in known and (each.type, each.check_id) not in had),
    )


def _before(audit: Audit) -> tuple[Audit, set[tuple[str, str]]] | None:
    """Return the last audit of the page, or of the site with the same limits, and its critical failures.

    A failure is a label of a type and the ID of a check. The audit has no columns but those that BEFORE selects.
    """
    if audit.kind == Audit.Kind.PAGES:
        return None  # lists with the same first page may be different ones
    found = access.fetch_rows(
        BEFORE,
        audit.organization_id,
        before=audit.created_at,
        most=LOOKED_AT,
        kind=audit.kind,
        url=audit.url,
        discover=audit.discover,
        include=audit.include,
        exclude=audit.exclude,
        max_pages=audit.max_pages,
        compared=COMPARED,
    )
    for id, types, status, totals, created_at, released_at, kept_days, failures in found:
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
    """Return by audit and type the rules of the first page's scan."""
    found: dict[str, dict[str, Rules]] = {each: {} for each in audit_ids}
    rows = access.fetch_rows(RULES, organization_id, audits=audit_ids, reported=[str(each) for each in Scan.REPORTED])
    for audit_id, type, version, in_browser in rows:
        found[audit_id][type] = Rules(version, in_browser)
    return found
