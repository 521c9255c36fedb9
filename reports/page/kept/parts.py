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
from django.utils.safestring import SafeString

from config.web.kept_html import KeptHtml
from reports.page.filters import Filter
from reports.page.history import Previous

PARTS = ("short", "contents", "full")  # report/_short.html and so on
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

    def made(name: str) -> SafeString:
        around = {
            "path": request.path,
            # On a page with findings left out, links to findings go to the page with all of them.
            "base": request.path if chosen.is_active else "",
            "can_filter": True,
            "about": "report/_about.html",
        }
        return render_to_string(f"report/_{name}.html", {**context, **once(), **around})

    if chosen.q:
        return {name: made(name) for name in PARTS}
    return {name: KEPT.get((name, key, chosen, request.path), functools.partial(made, name)) for name in PARTS}


class _Gone(Exception):
    """The previous report has been deleted since it was found."""


def changes_of(previous: Previous, *, key: Hashable) -> SafeString:
    """What has changed since the previous report, empty if it has just gone; `key` names both and what is muted."""

    def made() -> SafeString:
        changes = previous.changes()
        if changes is None:
            raise _Gone
        values = {"before_url": previous.url, "after_url": "", "is_trend": True, "changes": changes}
        return render_to_string("report/_diff.html", values)

    try:
        return KEPT.get(("changes", key), made)
    except _Gone:
        return SafeString("")
