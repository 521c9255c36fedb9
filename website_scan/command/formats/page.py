"""Write all reports as a single HTML file.

It can be viewed without a server.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from jinja2 import FileSystemLoader
from markupsafe import Markup

from website_scan import __version__
from website_scan.command.gate import CommandReport, CommandResult
from website_scan.command.reported_page import ReportedPage, count_pages, short_name
from website_scan.command.site_findings import group_findings
from website_scan.findings import ScanType
from website_scan.report.illustrations import (
    NO_ILLUSTRATIONS,
    Illustrations,
    illustrations_in_file,
    picture_url,
)
from website_scan.report.levels import finding_level
from website_scan.report.linked_reports import OtherReport
from website_scan.report.mute_matching import MuteRule, Mutes, host_and_path
from website_scan.report.muting import Muting
from website_scan.report.references import safe_link
from website_scan.report.report_page import report_page
from website_scan.report.templating import STATIC, TEMPLATES, environment

STYLE_SHEETS = ("site.css", "report.css", "evidence.css")
# The file's Content-Security-Policy allows no scripts for the copy buttons.
HIDE_COPY_BUTTONS = "[data-copy] { display: none; }"
# These template variables leave out what needs the service.
TEMPLATE_DEFAULTS = {
    "base": "",
    "about": "",
    "can_filter": False,
    "muted_by": "your team",
    "muted_url": "",
    "screenshot_url": "",
}


def page(result: CommandResult) -> str:
    """Return an HTML document with the pages of all reports."""
    folder = STATIC / "css"
    templates = environment(loader=FileSystemLoader(TEMPLATES))
    reports = [_report_context(report, f"report-{number}", result) for number, report in enumerate(result.reports, 1)]
    context = {
        "reports": reports,
        "complaints": result.complaints,
        "title": _title(result),
        "site": result.site,
        "site_findings": _site_findings(result) if result.site else (),
        "site_pages": _site_pages(result, reports) if result.site else (),
        # Style sheets of this package contain no `</style>`.
        "styles": Markup(  # noqa: S704
            "\n".join([*((folder / name).read_text(encoding="utf-8") for name in STYLE_SHEETS), HIDE_COPY_BUTTONS])
        ),
        "version": __version__,
    }
    # A text file ends with a newline, which Jinja omits (POSIX, section 3.387).
    return templates.get_template("report/file.html").render(TEMPLATE_DEFAULTS | context).rstrip() + "\n"


def _title(result: CommandResult) -> str:
    names = {result.site.start} if result.site else {str(report.page) for report in result.reports}
    return f"Scan of {names.pop()}" if len(names) == 1 else "Scans of several pages"


def _site_findings(result: CommandResult) -> list[dict[str, object]]:
    """Return the findings of a site with links to the reports of their pages."""
    anchors = {(report.page, report.type): f"report-{number}" for number, report in enumerate(result.reports, 1)}
    pages = list(dict.fromkeys(report.page for report in result.reports))
    findings = group_findings([report for report in result.reports if report.error is None])
    return [
        {
            "level": finding_level(finding.finding).word,
            "severity": finding.finding["severity"],
            "label": ScanType(finding.report.type).label,
            "title": finding.finding["title"],
            "count": count_pages(finding.pages),
            "pages": [
                {"anchor": anchors[page, finding.report.type], "address": short_name(page, pages)}
                for page in finding.pages
            ],
        }
        for finding in findings
        if not finding.duplicate
    ]


def _site_pages(result: CommandResult, reports: Sequence[Mapping[str, object]]) -> list[dict[str, object]]:
    """Return the pages of a site with the contexts of their reports."""
    pages: dict[ReportedPage, list[Mapping[str, object]]] = {}
    for report, context in zip(result.reports, reports, strict=True):
        pages.setdefault(report.page, []).append(context)
    return [{"address": short_name(page, list(pages)), "reports": contexts} for page, contexts in pages.items()]


def _report_context(report: CommandReport, anchor: str, result: CommandResult) -> Mapping[str, object]:
    context: dict[str, object] = {
        "report": report,
        "anchor": anchor,
        "label": ScanType(report.type).label,
        "link": safe_link(report.url),
        "page": None,
    }
    if report.error is None:
        muting = Muting(_accepted_as_mutes(report), report.scoring, shows_rules=False, mute_url="")
        prefix = f"{anchor}-"
        context["page"] = report_page(
            report.export,
            report.facts,
            report.waterfall,
            muting,
            prefix,
            check_pages=result.check_pages,
            exhibits=report.exhibits,
            illustrations=_illustrations(report, prefix),
            others=[
                OtherReport(other.export, f"#report-{number}-check-")
                for number, other in enumerate(result.reports, 1)
                if other is not report and other.page == report.page and other.error is None
            ],
        )
    context["screenshot"] = picture_url(report.screenshot)
    return context


def _illustrations(report: CommandReport, prefix: str) -> Illustrations:
    if report.pictures is None:
        return NO_ILLUSTRATIONS
    return illustrations_in_file(
        report.pictures.places,
        screenshot=report.screenshot,
        page=report.pictures.page,
        film=report.pictures.film,
        prefix=prefix,
    )


def _accepted_as_mutes(report: CommandReport) -> Mutes:
    """Return a mute rule for each accepted check.

    The page then displays its finding as muted.
    """
    host, _ = host_and_path(report.url)
    now = datetime.now(UTC)
    return Mutes(
        MuteRule(
            id=check_id,
            check_id=check_id,
            host=host,
            path_prefix="",
            outcome="",
            fingerprint="",
            place="",
            reason=reason,
            by="",
            created_at=now,
            expires_at=now,
        )
        for check_id, reason in report.accepted.items()
    )
