"""Cached HTML of the parts of a report's page that do not change.

They are nearly all of the page, and rendering them takes longer than everything else together. So a report that is read
again, or shared by a link, comes from the cache.
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
from reports.page.since import since
from scans.models import Scan
from website_scan.report.filters import Filter

# The templates of the parts, by name.
PARTS = {
    "preview": "reports/preview.html",
    "short": "report/short.html",
    "contents": "report/contents.html",
    "full": "report/full.html",
}
# The cache of each process; holds some hundred parts of long reports.
KEPT = KeptHtml(max_bytes=8_000_000, max_age_s=600)


def parts_of(
    values: Callable[[], Mapping[str, Any]],
    request: HttpRequest,
    context: Mapping[str, Any],
    chosen: Filter,
    *,
    key: Hashable,
) -> dict[str, SafeString]:
    """Return the parts by name. `values` returns the context for the parts only; it is called if one must be rendered.

    `key` must contain the report and all else that its parts depend on, so that no reader gets a part with data that
    they may not see. Pages with a search text are not cached, because texts rarely repeat.
    """
    once = functools.cache(values)

    @functools.cache
    def about() -> SafeString:
        return SafeString(render_to_string("reports/_about.html", {**context, **once()}))

    def made(name: str) -> SafeString:
        shown = {**context, **once()}
        around = {
            "path": request.path,
            # On a filtered page, links to findings go to the unfiltered page.
            "base": request.path if chosen.is_active else "",
            "can_filter": True,
            "about": about(),
            "screenshot": "",
            "screenshot_url": _screenshot_url(shown),
        }
        return SafeString(render_to_string(PARTS[name], {**shown, **around}))

    if chosen.q:
        return {name: made(name) for name in PARTS}
    return {name: KEPT.get((name, key, chosen, request.path), functools.partial(made, name)) for name in PARTS}


def _screenshot_url(shown: Mapping[str, Any]) -> str:
    return reverse("report-screenshot", args=[shown["scan"].id]) if shown["report"].has_screenshot else ""


class _Gone(Exception):
    """The previous report was deleted after the query that found it."""


def since_of(past: History, scan: Scan, *, key: Hashable) -> SafeString:
    """Return the difference to the last report for the verdict; empty without one. `key` as in `history_of`."""
    previous = past.previous
    if previous is None:
        return SafeString("")

    def made() -> SafeString:
        found = previous.changes()
        if found is None:
            raise _Gone
        values = {"since": since(found), "scan": scan, "before_url": previous.url}
        return SafeString(render_to_string("reports/_since.html", values).strip())

    try:
        return KEPT.get(("since", key, previous.report_id), made)
    except _Gone:
        return SafeString("")


def history_of(past: History, scan: Scan, *, key: Hashable) -> SafeString:
    """Return the HTML of the page's history, with the diff to the last report. `key` contains the report and mutes."""

    def changes() -> SafeString:
        if past.previous is None:
            return SafeString("")
        found = past.previous.changes()
        if found is None:
            raise _Gone
        values = {"before_url": past.previous.url, "after_url": "", "shows_places": False, "changes": found}
        return SafeString(render_to_string("reports/_diff.html", values))

    def made(changes: SafeString) -> SafeString:
        values = {"scan": scan, "history": past, "changes": changes}
        return SafeString(render_to_string("reports/_history.html", values))

    shown = (past.recent, past.previous and past.previous.report_id, past.newer_url)
    try:
        return KEPT.get(("history", key, shown), lambda: made(changes()))
    except _Gone:
        return made(SafeString(""))
