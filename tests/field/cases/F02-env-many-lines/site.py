"""Site with two unusual .env files.

One contains a quoted key of several lines and is sent as HTML. The other contains names with colons.
"""

from __future__ import annotations

from msgspec.structs import replace

from tests.targets.server import Answer, Route, Site


def routes(site: Site) -> dict[str, Route]:
    lines, colons = site.routes["/lines.txt"], site.routes["/colons.txt"]
    assert isinstance(lines, Answer)
    return {
        "/": Answer("<!doctype html><title>Tides</title><h1>Tides</h1>"),
        "/.env": replace(lines, headers={"Content-Type": "text/html"}),
        "/.env.local": colons,
    }
