"""Notice about the scores of scans without a browser."""

from __future__ import annotations

from website_scan.messages import counted
from website_scan.report_json import ExportJson

MEANING_WITHOUT_BROWSER = {
    "performance": "The load was estimated from the page's files, not measured. With a browser the score can be lower "
    "or higher, most of all where scripts build the page.",
    "accessibility": "Whatever needs a rendered page, such as contrast, was not checked. With a browser the score can "
    "be lower or higher.",
    "seo": "Content that scripts add or change was not checked. With a browser the score can be lower or higher.",
}


def notice_without_browser(export: ExportJson) -> str:
    """Return the notice next to the score of a JSON export.

    Empty if no check was omitted.

    Older exports have no `omitted_checks`.
    """
    omitted = export.get("omitted_checks", ())
    if not omitted:
        return ""
    omitted_count = counted(len(omitted), "check was", "checks were")
    return f"Judged without a browser: {omitted_count} left out. {MEANING_WITHOUT_BROWSER[export['type']]}"
