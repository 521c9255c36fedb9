"""Cached HTML for the parts of a report page that never change.

Rendering these parts takes longer than the rest of the request, so reports that are read repeatedly come from the
cache.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Mapping
from typing import Any

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString

from infrastructure.web.html_cache import HtmlCache
from infrastructure.web.time_zones import reader_zone
from reports.page.history import History
from reports.page.since import since
from scans.models import Scan
from website_scan.report.filters import Filter

# Maps each part of the report page to its template.
PARTS = {
    "preview": "reports/preview.html",
    "short": "report/short.html",
    "contents": "report/contents.html",
    "full": "report/full.html",
}
# The cache belongs to the process. It can hold some hundred parts of long reports.
CACHE = HtmlCache(max_bytes=8_000_000, max_age_s=600)


def cached_parts(
    values: Callable[[], Mapping[str, Any]],
    request: HttpRequest,
    context: Mapping[str, Any],
    page_filter: Filter,
    *,
    key: Hashable,
) -> dict[str, SafeString]:
    """Return a report page's parts as HTML by name.

    `values` is called only on a cache miss.

    `values` returns the context that only the parts need. `key` must contain the report and all else that its parts
    depend on, so that no reader gets a part with data that they may not see. Pages with a search text are not cached,
    because such texts rarely repeat.
    """
    part_values = functools.cache(values)

    @functools.cache
    def about() -> SafeString:
        return SafeString(render_to_string("reports/_about.html", {**context, **part_values()}))

    def render(name: str) -> SafeString:
        part_context = {**context, **part_values()}
        request_context = {
            "path": request.path,
            # Links to findings on a filtered page lead to the unfiltered page.
            "base": request.path if page_filter.is_active else "",
            "can_filter": True,
            "about": about(),
            "screenshot": "",
            "screenshot_url": _screenshot_url(part_context),
        }
        return SafeString(render_to_string(PARTS[name], {**part_context, **request_context}))

    if page_filter.q:
        return {name: render(name) for name in PARTS}
    return {
        name: CACHE.get((name, key, page_filter, request.path, reader_zone()), functools.partial(render, name))
        for name in PARTS
    }


def _screenshot_url(context: Mapping[str, Any]) -> str:
    if not context["report"].has_screenshot:
        return ""
    address = reverse("report-screenshot", args=[context["scan"].id])
    # The screenshot of a sample report is also a file of the static site, which is an HTML page without an extension.
    return f"{address}.webp" if context["is_sample"] else address


class _PreviousDeleted(Exception):
    """Raised when the previous report is deleted after the query that found its row."""


def comparison_html(past: History, scan: Scan, *, key: Hashable) -> SafeString:
    """Return the comparison with the previous report as HTML. Empty without one.

    `key` is as in `history_html`.
    """
    previous = past.previous
    if previous is None:
        return SafeString("")

    def render() -> SafeString:
        diff = previous.changes()
        if diff is None:
            raise _PreviousDeleted
        values = {"since": since(diff), "scan": scan, "before_url": previous.url}
        return SafeString(render_to_string("reports/_since.html", values).strip())

    try:
        return CACHE.get(("since", key, previous.report_id, reader_zone()), render)
    except _PreviousDeleted:
        return SafeString("")


def history_html(past: History, scan: Scan, *, key: Hashable) -> SafeString:
    """Return the report's history as HTML, with a diff to the previous report.

    `key` identifies the report and the mutes.
    """

    def changes() -> SafeString:
        if past.previous is None:
            return SafeString("")
        diff = past.previous.changes()
        if diff is None:
            raise _PreviousDeleted
        values = {"before_url": past.previous.url, "after_url": "", "shows_places": False, "changes": diff}
        return SafeString(render_to_string("reports/_diff.html", values))

    def render(changes: SafeString) -> SafeString:
        values = {"scan": scan, "history": past, "changes": changes}
        return SafeString(render_to_string("reports/_history.html", values))

    history_key = (past.recent, past.previous and past.previous.report_id, past.newer_url)
    try:
        return CACHE.get(("history", key, history_key, reader_zone()), lambda: render(changes()))
    except _PreviousDeleted:
        return render(SafeString(""))
