"""The difference of an audit to the last one of the same page or site, in a sentence above its scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Func, JSONField, OuterRef
from django.urls import reverse

from accounts import access
from dashboard.audit_findings import LABELS, Finding
from reports.page.since import when_before
from scans.models import Scan
from sites.models import Audit, AuditFinding

# Audits of the organization among which the last one of the target is looked for, so that the query stays small.
LOOKED_AT = 500


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
    before = _before(audit) if audit.status in (Audit.Status.COMPLETED, Audit.Status.PARTIAL) else None
    if before is None or not before.is_kept:
        return None
    rules = _rules([before, audit])
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
    had = {(LABELS[type], check_id) for type, check_id in before.failures}  # type: ignore[attr-defined]  # annotated
    return AuditSince(
        url=reverse("audit-page", args=[before.id]),
        when=when_before(before.created_at, audit.created_at),
        is_comparable=bool(known),
        not_compared=tuple(unknown),
        changes=tuple(changes),
        new_critical=tuple(each for each in critical if each.type in known and (each.type, each.check_id) not in had),
    )


def _before(audit: Audit) -> Audit | None:
    """Return the last audit of the page, or of the site with the same limits, and its critical `failures`."""
    if audit.kind == Audit.Kind.PAGES:
        return None  # lists with the same first page may be different ones
    rows = access.rows(Audit, audit.organization_id)
    recent = rows.filter(created_at__lt=audit.created_at).order_by("-created_at", "-id")[:LOOKED_AT]
    same = rows.filter(
        id__in=recent.values("id"),
        kind=audit.kind,
        url=audit.url,
        discover=audit.discover,
        include=audit.include,
        exclude=audit.exclude,
        max_pages=audit.max_pages,
        status__in=(Audit.Status.COMPLETED, Audit.Status.PARTIAL),
    )
    failures = AuditFinding.objects.filter(audit=OuterRef("pk"), critical_pages__gt=0)
    keys = failures.values_list(Func("type", "check_id", function="jsonb_build_array", output_field=JSONField()))
    needed = same.only("organization", "types", "status", "totals", "created_at", "released_at", "kept_days")
    return needed.annotate(failures=ArraySubquery(keys)).order_by("-created_at", "-id").first()


def _rules(audits: Sequence[Audit]) -> dict[str, dict[str, Rules]]:
    """Return by audit and type the rules of the first page's scan."""
    rows = access.rows(Scan, audits[0].organization_id)
    first = rows.filter(audit_page__audit__in=audits, audit_page__position=0, status__in=Scan.REPORTED)
    columns = ("audit_page__audit", "type", "catalogue_version", "report__facts__browser")
    found: dict[str, dict[str, Rules]] = {each.id: {} for each in audits}
    for audit, type, version, browser in first.values_list(*columns):
        found[audit][type] = Rules(version, bool(browser))
    return found
