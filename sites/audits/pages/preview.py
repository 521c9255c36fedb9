"""Preview of an audit's link: its title, its card, and a sentence about what to fix first."""

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
    """Return the card of an audit: its grades, or its status while there are none."""
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
    """Return the preview of an audit, running or final."""
    grades = ", ".join(f"{each.label} {each.grade}" for each in _grades(audit) if each.grade)
    return Preview(title_of(f"{grades or _status(audit)}:", audit.url), card_address(audit, digest_of(card_of(audit))))


def sentence_of(audit: Audit, mutes: AuditMutes) -> str:
    """Return what to fix first, or how far the audit is."""
    if not audit.is_final:
        return "This scan is in progress. Its results appear here."
    for found in findings(audit, "", mutes).rows[:1]:
        where = f", on {found.pages:,} of {found.judged:,} pages" if found.judged > 1 else ""
        return f"{'Critical' if found.is_critical else 'Fix first'}: {found.title}{where}."
    return audit.error_message or "Nothing to fix would raise the scores."


def _grades(audit: Audit) -> tuple[CardGrade, ...]:
    """Return the grades of a final audit by type; empty if it runs, or has none."""
    scores = audit.scores if audit.is_final else {}
    if not any(each["grade"] for each in scores.values()):
        return ()
    return tuple(CardGrade(str(LABELS[type]), each["grade"] or "", each["score"]) for type, each in scores.items())


def _scope(audit: Audit) -> str:
    if audit.kind == Audit.Kind.PAGE:
        return "One page"
    pages = counted(audit.pages_done, "page")
    return f"Whole site, {pages}" if audit.kind == Audit.Kind.SITE else pages


def _status(audit: Audit) -> str:
    if not audit.is_final:
        return "Scan in progress"
    return "Scan cancelled" if audit.status == Audit.Status.CANCELLED else "Scan failed"
