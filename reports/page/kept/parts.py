"""The parts of a report's page that are the same each time it is read, as HTML.

They are nearly all of the page, and making them takes longer than everything else together; so who reads a report
again, and who follows the link of one that is shared, gets what was made before.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Mapping
from typing import Any

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString

from infrastructure.web.kept_html import KeptHtml
from reports.page.history import History
from scanner.report.filters import Filter
from scans.models import Scan

PARTS = ("short", "contents", "full")  # report/short.html and so on, of the scanner
# In each process; of long reports some hundred parts.
KEPT = KeptHtml(max_bytes=8_000_000, max_age_s=600)


def parts_of(
    values: Callable[[], Mapping[str, Any]],
    request: HttpRequest,
    context: Mapping[str, Any],
    chosen: Filter,
    *,
    key: Hashable,
) -> dict[str, SafeString]:
    """Each of the parts by its name; `values` are what only they show, asked for only if one has to be made.

    `key` names the report, and all that its parts show apart from it: a part must not reach another reader who may not
    see the same. What is searched for is anybody's guess, so such pages are not kept.
    """
    once = functools.cache(values)

    @functools.cache
    def about() -> SafeString:
        return render_to_string("report/_about.html", {**context, **once()})

    def made(name: str) -> SafeString:
        shown = {**context, **once()}
        around = {
            "path": request.path,
            # On a page with findings left out, links to findings go to the page with all of them.
            "base": request.path if chosen.is_active else "",
            "can_filter": True,
            "about": about(),
            "screenshot": "",
            "screenshot_url": _screenshot_url(shown),
        }
        return SafeString(render_to_string(f"report/{name}.html", {**shown, **around}, using="jinja2"))

    if chosen.q:
        return {name: made(name) for name in PARTS}
    return {name: KEPT.get((name, key, chosen, request.path), functools.partial(made, name)) for name in PARTS}


def _screenshot_url(shown: Mapping[str, Any]) -> str:
    return reverse("report-screenshot", args=[shown["scan"].id]) if shown["report"].has_screenshot else ""


class _Gone(Exception):
    """The previous report has been deleted since it was found."""


def history_of(past: History, scan: Scan, *, key: Hashable) -> SafeString:
    """The earlier scans of the page, and what has changed since the last; `key` names the report and what is muted."""

    def changes() -> SafeString:
        if past.previous is None:
            return SafeString("")
        found = past.previous.changes()
        if found is None:
            raise _Gone
        values = {"before_url": past.previous.url, "after_url": "", "is_trend": True, "changes": found}
        return render_to_string("report/_diff.html", values)

    def made(changes: SafeString) -> SafeString:
        return render_to_string("report/_history.html", {"scan": scan, "history": past, "changes": changes})

    shown = (past.recent, past.previous and past.previous.report_id, past.newer_url)
    try:
        return KEPT.get(("history", key, shown), lambda: made(changes()))
    except _Gone:
        return made(SafeString(""))
