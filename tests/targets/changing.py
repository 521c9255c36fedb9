"""A page of a shop and a second page, whose faults, outages and harmless changes are set by data."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.targets.server import Answer, Request, Route, Site

PLAIN = {"Content-Type": "text/plain"}
IMAGE = bytes.fromhex("47494638396101000100800000000000ffffff21f90401000000002c00000000010001000002024401003b")


@dataclass(frozen=True)
class Revision:
    """State of the page. `build` is part of its file names, `nonce` of its policy and scripts."""

    build: int = 1
    nonce: int = 1
    goods: tuple[str, ...] = ("tea", "coffee", "cake")
    images_without_alt: tuple[str, ...] = ()
    has_title: bool = True
    has_description: bool = True
    is_hidden: bool = False
    allows_zoom: bool = True
    nosniff: bool = True
    cookie: str = "sid=%s; Path=/; HttpOnly; SameSite=Lax"
    status: int = 200  # 0: the connection is closed
    other_status: int = 200
    visitors: int = 17
    headers: Mapping[str, str] = field(default_factory=dict)


def changing_site() -> tuple[Site, list[Revision]]:
    """Return the site, not yet started, and its revisions; the site shows the last item."""
    revisions = [Revision()]
    site = Site()

    def page(request: Request) -> Answer | None:
        now = revisions[-1]
        if not now.status:
            request.connection.close()
            return None
        if now.status != 200:
            return Answer("<!doctype html><title>Away</title><h1>Away</h1>", now.status)
        return Answer(html(now), headers=_headers(now))

    def other(request: Request) -> Answer:
        now = revisions[-1]
        if now.other_status != 200:
            return Answer("<!doctype html><title>Away</title><h1>Away</h1>", now.other_status)
        return Answer(html(Revision(build=now.build, nonce=now.nonce, goods=("oil",))), headers=_headers(now))

    def asset(request: Request) -> Answer:
        kind = "text/css" if request.path.endswith(".css") else "text/javascript"
        body = "body{margin:0}" if kind == "text/css" else "document.title;"
        return Answer(body, headers={"Content-Type": kind, "Cache-Control": "public, max-age=31536000, immutable"})

    site.routes |= dict[str, Route](
        {"/": page, "/other": other, "/robots.txt": Answer("User-agent: *\n", headers=PLAIN)}
    )
    for name in "abcdef":
        site.routes[f"/{name}.gif"] = Answer(
            IMAGE, headers={"Content-Type": "image/gif", "Cache-Control": "max-age=31536000"}
        )
    for build in range(100):
        site.routes[f"/app.{digest(build)}.js"] = asset
        site.routes[f"/app.{digest(build)}.css"] = asset
    return site, revisions


def digest(number: int) -> str:
    """Return a hash such as a build tool puts into a file name."""
    return hashlib.sha256(f"build {number}".encode()).hexdigest()[:10]


def html(now: Revision) -> str:
    nonce = digest(1_000 + now.nonce)
    rows = "".join(f'<li><a href="/other?{each}">Our {each} of the season</a></li>' for each in now.goods)
    pictures = "".join(
        f'<img class="{each}" src="/{each}.gif" width="10" height="10">' for each in now.images_without_alt
    )
    head = "<title>A shop of good things</title>" if now.has_title else ""
    if now.has_description:
        head += '<meta name="description" content="Tea, coffee and cake from all over the world, sent to you at once.">'
    if now.is_hidden:
        head += '<meta name="robots" content="noindex">'
    zoom = "" if now.allows_zoom else ", user-scalable=no, maximum-scale=1"
    return f"""<!doctype html><html lang="en"><head><meta charset="utf-8">{head}
<meta name="viewport" content="width=device-width, initial-scale=1{zoom}">
<link rel="stylesheet" href="/app.{digest(now.build)}.css">
<script nonce="{nonce}">document.lang</script><script defer nonce="{nonce}" src="/app.{digest(now.build)}.js"></script>
</head><body><header><h1>A shop of good things</h1></header><main><ul>{rows}</ul>{pictures}
<p>{now.visitors} people are here at this moment, and they all like what they see.</p></main></body></html>"""


def _headers(now: Revision) -> dict[str, str]:
    nonce = digest(1_000 + now.nonce)
    policy = f"default-src 'self'; script-src 'nonce-{nonce}'; object-src 'none'; base-uri 'none'"
    headers = {
        "Content-Type": "text/html; charset=utf-8",
        "Content-Security-Policy": policy,
        "Set-Cookie": now.cookie % digest(2_000 + now.nonce + now.visitors),
    }
    if now.nosniff:
        headers["X-Content-Type-Options"] = "nosniff"
    return {**headers, **now.headers}
