"""Findings of a site's pages, one for all pages that have it, as audits list them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypedDict

from msgspec import Struct

from website_scan.command.gate import SEVERITIES, CommandReport
from website_scan.command.reported_page import ReportedPage
from website_scan.report_json import ExportedFinding
from website_scan.wording import message_without_places


class SiteFinding(Struct, frozen=True):
    """Finding of one or several pages.

    `finding` is that of the `report` of the worst page. `duplicate` is a sentence if a report of another type has the
    same finding; otherwise empty.
    """

    report: CommandReport
    category: str
    finding: ExportedFinding
    pages: tuple[ReportedPage, ...]
    duplicate: str = ""


class SiteFindingJson(TypedDict):
    """Finding of a site in JSON, with the names of the API's findings of audits."""

    type: str
    check: str
    status: str
    severity: str
    outcome: str
    title: str
    message: str
    fix: str
    pages_affected: int
    pages: list[str]


def group_findings(reports: Sequence[CommandReport]) -> list[SiteFinding]:
    """Group the findings of all pages by type and check, without accepted ones.

    Failures come first, then the more severe ones, then those of more pages.
    """
    by_page: dict[ReportedPage, list[CommandReport]] = {}
    for report in reports:
        by_page.setdefault(report.page, []).append(report)
    grouped: dict[tuple[str, str], list[SiteFinding]] = {}
    for report in reports:
        duplicates = report.reported_elsewhere(by_page[report.page])
        for category, finding in report.findings():
            single = SiteFinding(report, category, finding, (report.page,), duplicates.get(finding["id"], ""))
            grouped.setdefault((report.type, finding["id"]), []).append(single)
    return sorted(map(_merge, grouped.values()), key=lambda one: (*_rank(one), -len(one.pages)))


def _merge(findings: Sequence[SiteFinding]) -> SiteFinding:
    worst = min(findings, key=_rank)
    pages = (worst.pages[0], *(finding.pages[0] for finding in findings if finding is not worst))
    # On a page where the other report has no such finding, this one is the only source.
    alone = next((finding for finding in findings if not finding.duplicate), None)
    shown = worst if alone is None or not worst.duplicate else alone
    return SiteFinding(shown.report, shown.category, shown.finding, pages, shown.duplicate)


def _rank(finding: SiteFinding) -> tuple[bool, int]:
    return finding.finding["status"] != "fail", SEVERITIES.index(finding.finding["severity"])


def findings_json(findings: Iterable[SiteFinding]) -> list[SiteFindingJson]:
    """Return grouped findings as JSON."""
    return [
        {
            "type": finding.report.type,
            "check": finding.finding["id"],
            "status": finding.finding["status"],
            "severity": finding.finding["severity"],
            "outcome": finding.finding["outcome"],
            "title": finding.finding["title"],
            "message": message_without_places(finding.finding),
            "fix": finding.finding["fix"],
            "pages_affected": len(finding.pages),
            "pages": list(map(str, finding.pages)),
        }
        for finding in findings
    ]
