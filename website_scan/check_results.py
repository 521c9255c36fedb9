"""Convert a check's verdict into a `CheckResult` for the report."""

from __future__ import annotations

from website_scan.catalogue import CatalogueError, Declaration
from website_scan.findings import LOW, SEVERE, Server, Severity
from website_scan.messages import plain
from website_scan.outcomes import CategoryFail, Fail, Fault, Note, Outcome, Pass, Review, Warn
from website_scan.places import Rows
from website_scan.result import CheckResult, HowToFix
from website_scan.values import Value, filled, stored, template_fields


def check_result(check: Declaration, verdict: Pass | Warn | Review | Fail, server: Server | None) -> CheckResult:
    """Return the result of a check for the report.

    Raises CatalogueError if the verdict contradicts the declaration. `server` is the web server that answered; the fix
    has the snippet for it.
    """
    if isinstance(verdict, Pass):
        _refuse_unused_values(check, verdict, verdict.summary)
        return CheckResult(
            id=check.id,
            name=check.name,
            title=check.name,
            status="pass",
            severity=None,
            declared_severity=check.severity,
            summary=plain(verdict.message),
            values=stored(verdict.values),
            details=Rows.of(verdict.details),
            references=check.references,
            credit=verdict.credit,
        )
    outcome = check.outcome(verdict.outcome)
    _refuse_unidentified_places(check, verdict)
    fix = verdict.fix or check.own_fix
    _refuse_unused_values(check, verdict, f"{verdict.summary}{outcome.title}{fix.text}")
    needs_review = isinstance(verdict, Review)
    severity = _severity(check, verdict, outcome)
    return CheckResult(
        id=check.id,
        name=check.name,
        title=f"Check by hand: {check.name}" if needs_review else plain(filled(outcome.title, verdict.values)).strip(),
        status="fail" if isinstance(verdict, Fail) else "warn",
        severity=severity,
        declared_severity=check.severity,
        outcome=verdict.outcome,
        summary=plain(verdict.message),
        values=stored(verdict.values),
        why=check.why,
        consequence=outcome.consequence if severity in SEVERE else "",
        how_to_fix=HowToFix(
            plain(filled(fix.text, verdict.values, _code_text)), tuple(fix.snippets_for(server).items())
        ),
        places=Rows.of(verdict.places, verdict.total),
        details=Rows.of(verdict.details),
        references=check.references,
        credit=verdict.credit,
        weighs=not isinstance(verdict, Note | Review),
        needs_review=needs_review,
        covers_category=isinstance(verdict, CategoryFail),
    )


def _code_text(value: Value) -> str:
    """Return a value's text for Markdown code.

    The text has no backticks, and is never empty.
    """
    return value.text.replace("`", "'") or "…"


def _severity(check: Declaration, verdict: Fault, outcome: Outcome) -> Severity:
    """Return the severity of a finding.

    A warning has at most the severity high.
    """
    if isinstance(verdict, Review):
        return LOW
    severity = verdict.severity or outcome.severities[0]
    if severity not in outcome.severities:
        raise CatalogueError(f"{check.id}.{verdict.outcome} does not declare the severity {severity}")
    return Severity.HIGH if isinstance(verdict, Warn) and severity is Severity.CRITICAL else severity


def _refuse_unidentified_places(check: Declaration, verdict: Fault) -> None:
    """Raise CatalogueError for a place without identifying fields.

    It must be a detail of the finding instead.
    """
    for kind in {place.__class__ for place in verdict.places}:
        if not kind.identity():
            raise CatalogueError(f"{check.id} returns a {kind.kind} as a place, which nothing identifies")


def _refuse_unused_values(check: Declaration, verdict: Pass | Fault, templates: str) -> None:
    if unused := verdict.values.keys() - template_fields(templates):
        raise CatalogueError(f"{check.id} uses no value {', '.join(sorted(unused))}")
