"""Notice for scores that were judged without a browser."""

from __future__ import annotations

from website_scan.messages import counted
from website_scan.report_json import ExportJson

WORTH = {
    "performance": "The load was estimated from the page's files, not measured. With a browser the score can be lower "
    "or higher, most of all where scripts build the page.",
    "accessibility": "Whatever needs a rendered page, such as contrast, was not checked. With a browser the score can "
    "be lower or higher.",
    "seo": "Content that scripts add or change was not checked. With a browser the score can be lower or higher.",
}


def judged_without_browser(document: ExportJson) -> str:
    """Return the notice to show beside the score of a JSON export; empty if no check was left out.

    Older exports, which are kept as they were written, have no `omitted_checks`.
    """
    omitted = document.get("omitted_checks", ())
    if not omitted:
        return ""
    left_out = counted(len(omitted), "check was", "checks were")
    return f"Judged without a browser: {left_out} left out. {WORTH[document['type']]}"
