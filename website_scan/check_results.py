"""Results of checks: what a check returned, joined with what its declaration says."""

from __future__ import annotations

from dataclasses import fields

from website_scan import wording
from website_scan.catalogue import CatalogueError, Declaration
from website_scan.findings import LOW, EvidenceItem, Server, Severity
from website_scan.fingerprints import EVIDENCE_ITEMS
from website_scan.messages import plain
from website_scan.outcomes import CategoryFail, Fail, Fix, Outcome, Pass, Review, Warn
from website_scan.places import Place
from website_scan.result import CheckResult
from website_scan.values import fields_of, filled, stored


def check_result(check: Declaration, finding: Pass | Warn | Review | Fail, server: Server | None) -> CheckResult:
    """Return the result of a check. Raises CatalogueError for what the check does not declare.

    `server` is the web server that answered, whose snippet a fix shows.
    """
    summary = plain(finding.message)
    places, details = _kept(finding.places), _kept(finding.details)
    if isinstance(finding, Pass):
        _refuse_unused(check, finding, finding.summary)
        return CheckResult(
            id=check.id,
            name=check.name,
            title=check.name,
            status="pass",
            severity=None,
            declared_severity=check.severity,
            message=summary,
            summary=summary,
            values=stored(finding.values),
            evidence=_rows(details),
            details=details,
            references=check.references,
            credit=finding.credit,
        )
    outcome = check.outcome(finding.outcome)
    fix = finding.fix or (Fix(check.fix) if isinstance(check.fix, str) else check.fix)
    _refuse_unused(check, finding, f"{finding.summary}{outcome.title}{fix.text}")
    is_review = isinstance(finding, Review)
    title = f"Check by hand: {check.name}" if is_review else plain(filled(outcome.title, finding.values))
    return CheckResult(
        id=check.id,
        name=check.name,
        title=title,
        status="fail" if isinstance(finding, Fail) else "warn",
        severity=_severity(check, finding, outcome),
        declared_severity=check.severity,
        message=wording.message(summary, places, why=check.why),
        why=check.why,
        outcome=finding.outcome,
        summary=summary,
        values=stored(finding.values),
        fix=plain(wording.fix_text(fix, finding.values, server)),
        evidence=_rows((*details, *places)),
        places=places,
        details=details,
        needs_review=is_review,
        references=check.references,
        credit=finding.credit,
        weighs=not is_review,
        covers_category=isinstance(finding, CategoryFail),
    )


def _kept(rows: tuple[Place, ...]) -> tuple[Place, ...]:
    return tuple(row.mapped(plain) for row in rows[:EVIDENCE_ITEMS])


def _rows(rows: tuple[Place, ...]) -> tuple[EvidenceItem, ...]:
    """Return the rows as evidence: all fields that have a value, by their names."""
    named = ({field.name: getattr(row, field.name) for field in fields(row)} for row in rows)  # type: ignore[arg-type]  # kinds are dataclasses
    return tuple({name: value for name, value in row.items() if value is not None} for row in named)


def _severity(check: Declaration, finding: Warn | Review | Fail, outcome: Outcome) -> Severity:
    """Return the severity of a finding. A warning is never critical: the check of a critical fault warns with high."""
    if isinstance(finding, Review):
        return LOW
    declared = outcome.severities or (check.severity,)
    severity = finding.severity or declared[0]
    if severity not in declared:
        raise CatalogueError(f"{check.id}.{finding.outcome} does not declare the severity {severity}")
    return Severity.HIGH if isinstance(finding, Warn) and severity is Severity.CRITICAL else severity


def _refuse_unused(check: Declaration, finding: Pass | Warn | Review | Fail, templates: str) -> None:
    if unused := finding.values.keys() - fields_of(templates):
        raise CatalogueError(f"{check.id} uses no value {', '.join(sorted(unused))}")
