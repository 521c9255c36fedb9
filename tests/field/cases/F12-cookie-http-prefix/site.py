"""Site that sets __Http- and __Host-Http- cookies.

Only some of them are HttpOnly.
"""

from __future__ import annotations

from tests.targets.server import Answer, Route, Site

COOKIES = {
    "/host": "__host-http-tides=high; Secure; Path=/; SameSite=Lax",
    "/http": "__Http-tides=high; Secure; SameSite=Lax",
    "/right": "__Http-tides=high; Secure; HttpOnly; SameSite=Lax",
}


def routes(site: Site) -> dict[str, Route]:
    return {
        path: Answer("<!doctype html><title>Tides</title>", headers={"Set-Cookie": cookie})
        for path, cookie in COOKIES.items()
    }
