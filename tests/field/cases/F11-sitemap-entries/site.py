from __future__ import annotations

from tests.targets.server import Answer, Route, Site


def routes(site: Site) -> dict[str, Route]:
    return {"/": Answer('<!doctype html><html lang="en"><title>Tea by post</title><h1>Tea</h1><p>Thirty kinds of tea.')}
