"""Link preview of an audit.

It has a title, an image with grades, and a sentence about the first fix.
"""

from __future__ import annotations

from django.urls import reverse

from infrastructure.web.cards.drawing import Card, CardGrade
from infrastructure.web.cards.previews import Preview, address_of, day_of, title_of
from infrastructure.web.cards.responses import digest_of
from sites.audits.muting import AuditMutes
from sites.audits.pages.findings import findings
from sites.audits.pages.page import LABELS
from sites.models import Audit
from website_scan.messages import counted


def card_of(audit: Audit) -> Card:
    """Return the preview card of an audit with its grades, or with its status if it has no grades yet."""
    host, path = address_of(audit.url)
    path = path if audit.kind == Audit.Kind.PAGE else ""
    grades = _grades(audit)
    if not grades:
        return Card(host, heading=_status(audit), path=path)
    heading, note = _scope(audit), day_of(audit.created_at)
    if len(grades) == 1:
        heading, note = f"{grades[0].label} report", f"{heading}, {note}".removesuffix(", ")
    return Card(host, heading=heading, path=path, note=note, grades=grades)


def card_address(audit: Audit, digest: str) -> str:
    return reverse("audit-card", args=[audit.id, digest])


def preview_of(audit: Audit) -> Preview:
    """Return the link preview of a running or finished audit."""
    grades = ", ".join(f"{grade.label} {grade.grade}" for grade in _grades(audit) if grade.grade)
    return Preview(title_of(f"{grades or _status(audit)}:", audit.url), card_address(audit, digest_of(card_of(audit))))


def preview_sentence(audit: Audit, mutes: AuditMutes) -> str:
    """Return a sentence about the first thing to fix, or about the status of the audit."""
    if not audit.is_final:
        return "This scan is in progress. Its results appear here."
    for finding in findings(audit, "", mutes).rows[:1]:
        where = f", on {finding.pages:,} of {finding.judged:,} pages" if finding.judged > 1 else ""
        return f"{'Critical' if finding.is_critical else 'Fix first'}: {finding.title}{where}."
    return audit.error_message or "Nothing to fix would raise the scores."


def _grades(audit: Audit) -> tuple[CardGrade, ...]:
    """Return the grades of a finished audit by scan type.

    Empty if the audit is running or has no grades.
    """
    scores = audit.scores if audit.is_final else {}
    if not any(score["grade"] for score in scores.values()):
        return ()
    return tuple(CardGrade(str(LABELS[type]), score["grade"] or "", score["score"]) for type, score in scores.items())


def _scope(audit: Audit) -> str:
    if audit.kind == Audit.Kind.PAGE:
        return "One page"
    if audit.kind == Audit.Kind.JOURNEY:
        return f"Journey, {counted(audit.pages_done, 'state')}"
    pages = counted(audit.pages_done, "page")
    return f"Whole site, {pages}" if audit.kind == Audit.Kind.SITE else pages


def _status(audit: Audit) -> str:
    if audit.is_dry_run:
        return "Dry run"
    if not audit.is_final:
        return "Scan in progress"
    return "Scan cancelled" if audit.status == Audit.Status.CANCELLED else "Scan failed"
