from __future__ import annotations

from tests.targets.server import Answer, Route, Site


def routes(site: Site) -> dict[str, Route]:
    return {"/": Answer("<!doctype html><title>Boats</title><h1>Boats</h1>")}
