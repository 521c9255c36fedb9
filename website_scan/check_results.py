"""Results of checks: what a check returned, joined with what its declaration says."""

from __future__ import annotations

from website_scan.catalogue import CatalogueError, Declaration
from website_scan.findings import LOW, Server, Severity
from website_scan.messages import plain
from website_scan.outcomes import CategoryFail, Fail, Fault, Note, Outcome, Pass, Review, Warn
from website_scan.places import Rows
from website_scan.result import CheckResult, HowToFix
from website_scan.values import Value, fields_of, filled, stored


def check_result(check: Declaration, finding: Pass | Warn | Review | Fail, server: Server | None) -> CheckResult:
    """Return the result of a check. Raises CatalogueError for what the check does not declare.

    `server` is the web server that answered, whose snippet a fix shows.
    """
    if isinstance(finding, Pass):
        _refuse_unused(check, finding, finding.summary)
        return CheckResult(
            id=check.id,
            name=check.name,
            title=check.name,
            status="pass",
            severity=None,
            declared_severity=check.severity,
            summary=plain(finding.message),
            values=stored(finding.values),
            details=Rows.of(finding.details),
            references=check.references,
            credit=finding.credit,
        )
    outcome = check.outcome(finding.outcome)
    _refuse_unidentified(check, finding)
    fix = finding.fix or check.own_fix
    _refuse_unused(check, finding, f"{finding.summary}{outcome.title}{fix.text}")
    needs_review = isinstance(finding, Review)
    return CheckResult(
        id=check.id,
        name=check.name,
        title=f"Check by hand: {check.name}" if needs_review else plain(filled(outcome.title, finding.values)).strip(),
        status="fail" if isinstance(finding, Fail) else "warn",
        severity=_severity(check, finding, outcome),
        declared_severity=check.severity,
        outcome=finding.outcome,
        summary=plain(finding.message),
        values=stored(finding.values),
        why=check.why,
        how_to_fix=HowToFix(
            plain(filled(fix.text, finding.values, _within_code)), tuple(fix.snippets_for(server).items())
        ),
        places=Rows.of(finding.places, finding.total),
        details=Rows.of(finding.details),
        references=check.references,
        credit=finding.credit,
        weighs=not isinstance(finding, Note | Review),
        needs_review=needs_review,
        covers_category=isinstance(finding, CategoryFail),
    )


def _within_code(value: Value) -> str:
    """Return the text of a value, which may stand between backticks: without any of its own, and never empty."""
    return value.text.replace("`", "'") or "…"


def _severity(check: Declaration, finding: Fault, outcome: Outcome) -> Severity:
    """Return the severity of a finding. A warning is never critical: the check of a critical fault warns with high."""
    if isinstance(finding, Review):
        return LOW
    severity = finding.severity or outcome.severities[0]
    if severity not in outcome.severities:
        raise CatalogueError(f"{check.id}.{finding.outcome} does not declare the severity {severity}")
    return Severity.HIGH if isinstance(finding, Warn) and severity is Severity.CRITICAL else severity


def _refuse_unidentified(check: Declaration, finding: Fault) -> None:
    """Refuse places that nothing tells apart: rows of such a kind are details."""
    for kind in {place.__class__ for place in finding.places}:
        if not kind.identity():
            raise CatalogueError(f"{check.id} returns a {kind.kind} as a place, which nothing identifies")


def _refuse_unused(check: Declaration, finding: Pass | Fault, templates: str) -> None:
    if unused := finding.values.keys() - fields_of(templates):
        raise CatalogueError(f"{check.id} uses no value {', '.join(sorted(unused))}")
