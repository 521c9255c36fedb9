"""Site whose pages are at an IP address and at a host name.

Responses are with and without HSTS.
"""

from __future__ import annotations

from tests.targets.server import Answer, Route, Site

PAGE = "<!doctype html><title>Tides</title><h1>Tides</h1>"


def routes(site: Site) -> dict[str, Route]:
    policy = {"Strict-Transport-Security": "max-age=31536000; preload"}
    return {"/without": Answer(PAGE), "/with": Answer(PAGE, headers=policy)}
