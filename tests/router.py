"""Every address of the router, and what is put into its places."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from django.urls import URLResolver, get_resolver

PLACE = re.compile(r"<(?:\w+:)?(\w+)>")
# Regular expressions, by what they hold.
EXPRESSIONS = {"v1|api": "/v1/nothing", "app_label": "/admin/accounts/", "url": "/admin/nothing"}
# The admin's own, of which Django makes some anew with every model, and the API, which takes no session.
ADMIN, API = "admin/", ("v1/", "api/", "^(?:v1|api)")


def routes(resolver: URLResolver | None = None, prefix: str = "") -> Iterator[str]:
    """All routes as they are written in the URL configuration, those of included ones, too."""
    for pattern in (resolver or get_resolver()).url_patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from routes(pattern, route)
        else:
            yield route


def address(route: str, ids: Mapping[str, Any]) -> str:
    """The route's path with these IDs, as `token`, or as `signup/token` where the routes below one mean another.

    Raises KeyError for a place that nobody knows what to put into.
    """
    if "(?" in route:
        return next(path for mark, path in EXPRESSIONS.items() if mark in route)
    top = route.partition("/")[0]
    return "/" + PLACE.sub(lambda place: str(ids.get(f"{top}/{place[1]}") or ids[place[1]]), route)
