"""Write all reports as a single HTML file.

It can be viewed without a server.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from jinja2 import FileSystemLoader
from markupsafe import Markup

from website_scan import __version__
from website_scan.command.gate import CommandReport, CommandResult
from website_scan.findings import ScanType
from website_scan.report.illustrations import NO_ILLUSTRATIONS, Illustrations, data_url, illustrations_in_file
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
    urls = {report.url for report in result.reports}
    context = {
        "reports": [
            _report_context(report, f"report-{number}", result) for number, report in enumerate(result.reports, 1)
        ],
        "complaints": result.complaints,
        "title": f"Scan of {urls.pop()}" if len(urls) == 1 else "Scans of several pages",
        # Style sheets of this package contain no `</style>`.
        "styles": Markup(  # noqa: S704
            "\n".join([*((folder / name).read_text(encoding="utf-8") for name in STYLE_SHEETS), HIDE_COPY_BUTTONS])
        ),
        "version": __version__,
    }
    # A text file ends with a newline, which Jinja omits (POSIX, section 3.387).
    return templates.get_template("report/file.html").render(TEMPLATE_DEFAULTS | context).rstrip() + "\n"


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
                if other is not report and other.url == report.url and other.error is None
            ],
        )
    context["screenshot"] = data_url("image/webp", report.screenshot)
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
