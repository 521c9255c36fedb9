"""Site with four hosts that expose parts of their Git repositories.

Each host exposes a single file.
"""

from __future__ import annotations

from tests.targets.server import Answer, Request, Route, Site

COMMIT = "51d0c2b7a9" * 4
BODIES = {
    ("branch.tides.net", "/.git/HEAD"): "ref: refs/heads/größe/#31+ö\n",
    ("index.tides.net", "/.git/index"): "DIRC\0\0\0\3\0\0\0\2" + "\0" * 144,
    ("log.tides.net", "/.git/logs/HEAD"): f"{'0' * 40} {COMMIT} Kim <kim@tides.net> 1751000000 +0200\tclone: from x\n",
    ("folder.tides.net", "/shop/.git/config"): "[core]\n\tbare = false\n",
}


def routes(site: Site) -> dict[str, Route]:
    def answer(request: Request) -> Answer:
        host = (request.header("Host") or "").partition(":")[0]
        if body := BODIES.get((host, request.path)):
            return Answer(body, headers={"Content-Type": "text/plain; charset=utf-8"})
        if "/." in request.path:
            return Answer("Forbidden", status=403)
        return Answer("<!doctype html><title>Tides</title><h1>Tides</h1>", status=200 if request.path != "/x" else 404)

    return {"*": answer}
