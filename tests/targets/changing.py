"""Shop with two pages.

A revision determines their faults, outages and harmless changes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from msgspec import Struct, field

from tests.targets.server import Answer, Request, Route, Site

PLAIN = {"Content-Type": "text/plain"}
IMAGE = bytes.fromhex("47494638396101000100800000000000ffffff21f90401000000002c00000000010001000002024401003b")


class Revision(Struct, frozen=True):
    """State of the page.

    `build` determines its file names, and `nonce` its policy and scripts.
    """

    build: int = 1
    nonce: int = 1
    goods: tuple[str, ...] = ("tea", "coffee", "cake")
    images_without_alt: tuple[str, ...] = ()
    has_title: bool = True
    has_description: bool = True
    is_noindex: bool = False
    allows_zoom: bool = True
    nosniff: bool = True
    cookie: str = "sid=%s; Path=/; HttpOnly; SameSite=Lax"
    status: int = 200  # If the status is 0, the site closes the connection.
    other_page_status: int = 200
    visitors: int = 17
    headers: Mapping[str, str] = field(default_factory=dict)


def changing_site() -> tuple[Site, list[Revision]]:
    """Create the site without starting it.

    Return it with its revisions, the last of which it serves.
    """
    revisions = [Revision()]
    site = Site()

    def serve_page(request: Request) -> Answer | None:
        revision = revisions[-1]
        if not revision.status:
            request.connection.close()
            return None
        if revision.status != 200:
            return Answer("<!doctype html><title>Away</title><h1>Away</h1>", revision.status)
        return Answer(html(revision), headers=_response_headers(revision))

    def serve_other_page(request: Request) -> Answer:
        revision = revisions[-1]
        if revision.other_page_status != 200:
            return Answer("<!doctype html><title>Away</title><h1>Away</h1>", revision.other_page_status)
        return Answer(
            html(Revision(build=revision.build, nonce=revision.nonce, goods=("oil",))),
            headers=_response_headers(revision),
        )

    def serve_asset(request: Request) -> Answer:
        kind = "text/css" if request.path.endswith(".css") else "text/javascript"
        body = "body{margin:0}" if kind == "text/css" else "document.title;"
        return Answer(body, headers={"Content-Type": kind, "Cache-Control": "public, max-age=31536000, immutable"})

    site.routes |= dict[str, Route](
        {"/": serve_page, "/other": serve_other_page, "/robots.txt": Answer("User-agent: *\n", headers=PLAIN)}
    )
    for name in "abcdef":
        site.routes[f"/{name}.gif"] = Answer(
            IMAGE, headers={"Content-Type": "image/gif", "Cache-Control": "max-age=31536000"}
        )
    for build in range(100):
        site.routes[f"/app.{digest(build)}.js"] = serve_asset
        site.routes[f"/app.{digest(build)}.css"] = serve_asset
    return site, revisions


def digest(number: int) -> str:
    """Return a hash like those in file names of build tools."""
    return hashlib.sha256(f"build {number}".encode()).hexdigest()[:10]


def html(page: Revision) -> str:
    nonce = digest(1_000 + page.nonce)
    rows = "".join(f'<li><a href="/other?{product}">Our {product} of the season</a></li>' for product in page.goods)
    pictures = "".join(
        f'<img class="{name}" src="/{name}.gif" width="10" height="10">' for name in page.images_without_alt
    )
    head = "<title>A shop of good things</title>" if page.has_title else ""
    if page.has_description:
        head += '<meta name="description" content="Tea, coffee and cake from all over the world, sent to you at once.">'
    if page.is_noindex:
        head += '<meta name="robots" content="noindex">'
    zoom = "" if page.allows_zoom else ", user-scalable=no, maximum-scale=1"
    return f"""<!doctype html><html lang="en"><head><meta charset="utf-8">{head}
<meta name="viewport" content="width=device-width, initial-scale=1{zoom}">
<link rel="stylesheet" href="/app.{digest(page.build)}.css">
<script nonce="{nonce}">document.lang</script><script defer nonce="{nonce}" src="/app.{digest(page.build)}.js"></script>
</head><body><header><h1>A shop of good things</h1></header><main><ul>{rows}</ul>{pictures}
<p>{page.visitors} people are here at this moment, and they all like what they see.</p></main></body></html>"""


def _response_headers(revision: Revision) -> dict[str, str]:
    nonce = digest(1_000 + revision.nonce)
    policy = f"default-src 'self'; script-src 'nonce-{nonce}'; object-src 'none'; base-uri 'none'"
    headers = {
        "Content-Type": "text/html; charset=utf-8",
        "Content-Security-Policy": policy,
        "Set-Cookie": revision.cookie % digest(2_000 + revision.nonce + revision.visitors),
    }
    if revision.nosniff:
        headers["X-Content-Type-Options"] = "nosniff"
    return {**headers, **revision.headers}
