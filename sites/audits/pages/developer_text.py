"""Plain text about an audit, which its reader sends to a web developer by mail."""

from __future__ import annotations

from collections.abc import Mapping

from reports.models import Report
from sites.audits.findings import ListedFinding, in_order, listed
from sites.audits.muting import ALL, AuditMutes
from sites.audits.pages.page import LABELS
from sites.models import Audit
from sites.models.audit import name_of_page
from website_scan.findings import SEVERE
from website_scan.report.developer_text import MAX_PLACES, DeveloperFinding, DeveloperText
from website_scan.report.places import describe_places
from website_scan.report_json import checks_of

MAX_SAMPLES = 2


def developer_text_of(audit: Audit, mutes: AuditMutes, readers: str) -> str:
    """Return the text about an audit.

    `readers` is a sentence about who can open the audit's page.
    """
    rows = [row for row in in_order(audit) if row.severity in SEVERE]
    findings = [finding for finding in listed(audit, rows, mutes, MAX_PLACES) if not finding.is_muted]
    descriptions = _place_descriptions(audit)
    return DeveloperText(
        address=audit.url,
        day=audit.created_at.date(),
        grades={str(LABELS[type]): score["grade"] or "" for type, score in audit.scores.items()},
        findings=[_developer_finding(audit, finding, descriptions) for finding in findings],
        link=audit.audit_url,
        readers=readers,
    ).render()


def _place_descriptions(audit: Audit) -> Mapping[str, str]:
    """Return descriptions of places by fingerprint for the audit of a single page; empty for a site.

    A description also counts the other elements with the same fingerprint, such as "img.tea and 2 more of its kind".
    """
    if audit.kind != Audit.Kind.PAGE:
        return {}
    reports = Report.objects.filter(scan__audit_page__audit=audit).only("export")
    checks = [check for report in reports for _, check in checks_of(report.export_json) if check["status"] != "pass"]
    return {fingerprint: text for check in checks for fingerprint, text in describe_places(check).items()}


def _developer_finding(audit: Audit, finding: ListedFinding, descriptions: Mapping[str, str]) -> DeveloperFinding:
    row = finding.row
    places = [
        descriptions.get(place.row.fingerprint) or place.row.place
        for place in finding.places
        if place.row.place and place.muted_on.pages != ALL
    ]
    return DeveloperFinding(
        title=row.title,
        type=str(LABELS[row.type]),
        severity=row.severity,
        consequence=row.consequence,
        fix=row.how_to_fix,
        places=places,
        more_places=finding.places_total - len(finding.places),
        pages="" if audit.kind == Audit.Kind.PAGE else _pages_sentence(audit, finding),
    )


def _pages_sentence(audit: Audit, finding: ListedFinding) -> str:
    row, judged = finding.row, audit.pages_judged(finding.row.type)
    examples = " and ".join(map(name_of_page, row.samples[:MAX_SAMPLES]))
    return f"On {row.pages_affected:,} of {judged:,} pages, such as {examples}"
