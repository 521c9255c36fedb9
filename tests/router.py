"""List all routes of the URL configuration with example IDs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from django.urls import URLResolver, get_resolver

PLACEHOLDER = re.compile(r"<(?:\w+:)?(\w+)>")
# Sample paths for routes that are regular expressions, by a part of the expression.
EXPRESSIONS = {"v1|api": "/v1/nothing", "app_label": "/admin/accounts/", "url": "/admin/nothing"}
# Prefixes of the admin, where Django adds routes, and of the API, which accepts no sessions.
ADMIN, API = "admin/", ("v1/", "api/", "^(?:v1|api)")


def views(resolver: URLResolver | None = None, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield all routes with their views.

    Routes are written as in the URL configuration. Nested configurations are included.
    """
    for pattern in (resolver or get_resolver()).url_patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from views(pattern, route)
        else:
            yield route, pattern.callback


def routes() -> Iterator[str]:
    return (route for route, _ in views())


def address(route: str, ids: Mapping[str, Any]) -> str:
    """Return the route's path with these IDs.

    Raises KeyError for an unknown placeholder.

    `ids` are by the name of the placeholder, such as `token`, or by prefix and name, such as `signup/token`.
    """
    if "(?" in route:
        return next(path for part, path in EXPRESSIONS.items() if part in route)
    top = route.partition("/")[0]
    return "/" + PLACEHOLDER.sub(lambda match: str(ids.get(f"{top}/{match[1]}") or ids[match[1]]), route)
