"""Site whose hosts check CORS origins in different ways.

Two compare only the end or the beginning. One correctly compares the domain.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from tests.targets.server import Answer, Request, Route, Site


def routes(site: Site) -> dict[str, Route]:
    def answer(request: Request) -> Answer:
        host = (request.header("Host") or "").partition(":")[0]
        origin = request.header("Origin") or ""
        asking = urlsplit(origin).hostname or ""
        is_allowed = {
            "end.tides.net": asking.endswith("tides.net"),
            "beginning.tides.net": asking.startswith("beginning.tides.net"),
            "subdomains.tides.net": asking == "tides.net" or asking.endswith(".tides.net"),
        }[host]
        cors = {"Access-Control-Allow-Origin": origin, "Access-Control-Allow-Credentials": "true"}
        return Answer("<!doctype html><title>Tides</title><h1>Tides</h1>", headers=cors if is_allowed else {})

    return {"/": answer}
