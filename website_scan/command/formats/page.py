"""HTML: the pages of all reports in one file, without a server."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from jinja2 import FileSystemLoader
from markupsafe import Markup

from website_scan import __version__
from website_scan.command.judged import Judged, Outcome
from website_scan.findings import ScanType
from website_scan.report.illustrations import NO_ILLUSTRATIONS, Illustrations, data_url, illustrations_in_file
from website_scan.report.linked_reports import OtherReport
from website_scan.report.mute_matching import MuteRule, Mutes, host_and_path
from website_scan.report.muting import Muting
from website_scan.report.references import safe_link
from website_scan.report.report_page import report_page
from website_scan.report.templating import STATIC, TEMPLATES, environment

STYLE_SHEETS = ("site.css", "report.css", "evidence.css")
# Rule that hides the copy buttons: the file's Content-Security-Policy allows no scripts, so they would not work.
WITHOUT_SCRIPTS = "[data-copy] { display: none; }"
# Template variables for parts of the service's pages that the file leaves out.
NO_SERVICE = {
    "base": "",
    "about": "",
    "can_filter": False,
    "muted_by": "your team",
    "muted_url": "",
    "screenshot_url": "",
}


def page(outcome: Outcome) -> str:
    """Return one HTML document with all reports."""
    folder = STATIC / "css"
    templates = environment(loader=FileSystemLoader(TEMPLATES))
    urls = {judged.url for judged in outcome.reports}
    context = {
        "reports": [
            _context_of(judged, f"report-{number}", outcome) for number, judged in enumerate(outcome.reports, 1)
        ],
        "complaints": outcome.complaints,
        "title": f"Scan of {urls.pop()}" if len(urls) == 1 else "Scans of several pages",
        # Style sheets of this package, which contain no `</style>`.
        "styles": Markup(  # noqa: S704
            "\n".join([*((folder / name).read_text(encoding="utf-8") for name in STYLE_SHEETS), WITHOUT_SCRIPTS])
        ),
        "version": __version__,
    }
    return templates.get_template("report/file.html").render(NO_SERVICE | context)


def _context_of(judged: Judged, anchor: str, outcome: Outcome) -> Mapping[str, object]:
    context: dict[str, object] = {
        "judged": judged,
        "anchor": anchor,
        "label": ScanType(judged.type).label,
        "link": safe_link(judged.url),
        "page": None,
    }
    if judged.error is None:
        muting = Muting(_accepted(judged), judged.scoring, shows_rules=False, mute_url="")
        prefix = f"{anchor}-"
        context["page"] = report_page(
            judged.export,
            judged.facts,
            judged.waterfall,
            muting,
            prefix,
            check_pages=outcome.check_pages,
            exhibits=judged.exhibits,
            illustrations=_illustrations(judged, prefix),
            others=[
                OtherReport(report.export, f"#report-{number}-check-")
                for number, report in enumerate(outcome.reports, 1)
                if report is not judged and report.url == judged.url and report.error is None
            ],
        )
    context["screenshot"] = data_url("image/webp", judged.screenshot)
    return context


def _illustrations(judged: Judged, prefix: str) -> Illustrations:
    if judged.pictures is None:
        return NO_ILLUSTRATIONS
    return illustrations_in_file(
        judged.pictures.places,
        screenshot=judged.screenshot,
        page=judged.pictures.page,
        film=judged.pictures.film,
        prefix=prefix,
    )


def _accepted(judged: Judged) -> Mutes:
    """Return the accepted checks as mutes, so that the page displays them as muted findings."""
    host, _ = host_and_path(judged.url)
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
        for check_id, reason in judged.accepted.items()
    )
