"""All routes of the router, and their paths with placeholders filled in."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from django.urls import URLResolver, get_resolver

PLACE = re.compile(r"<(?:\w+:)?(\w+)>")
# Paths for routes that are regular expressions, by a part of the expression.
EXPRESSIONS = {"v1|api": "/v1/nothing", "app_label": "/admin/accounts/", "url": "/admin/nothing"}
# Prefixes of the admin, to which Django adds routes with every model, and of the API, which accepts no session.
ADMIN, API = "admin/", ("v1/", "api/", "^(?:v1|api)")


def views(resolver: URLResolver | None = None, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield all routes as written in the URL configuration, including those of included configurations, and views."""
    for pattern in (resolver or get_resolver()).url_patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from views(pattern, route)
        else:
            yield route, pattern.callback


def routes() -> Iterator[str]:
    return (route for route, _ in views())


def address(route: str, ids: Mapping[str, Any]) -> str:
    """Return the route's path with these IDs, by the placeholder's name, such as `token`, or by `signup/token`, which
    applies only below that prefix.

    Raises KeyError for an unknown placeholder.
    """
    if "(?" in route:
        return next(path for mark, path in EXPRESSIONS.items() if mark in route)
    top = route.partition("/")[0]
    return "/" + PLACE.sub(lambda place: str(ids.get(f"{top}/{place[1]}") or ids[place[1]]), route)
