"""Pages that try every way to make a client request another host."""

from __future__ import annotations

from collections.abc import Sequence

from tests.targets.server import Answer, Request, Route

PAGE = """<!doctype html><html lang="en"><head><title>A page that lures</title>
<link rel="stylesheet" href="{lure}/stylesheet"><link rel="stylesheet" href="/style.css">
<link rel="stylesheet" href="/hop/stylesheet">
<style>@import "{lure}/import"; p {{ background: url({lure}/background) }}</style>
<script src="{lure}/script"></script><script type="module" src="{lure}/module"></script>
<script src="/hop/script"></script>
<link rel="icon" href="{lure}/icon"><link rel="apple-touch-icon" href="{lure}/touch">
<link rel="manifest" href="{lure}/manifest">
<link rel="preload" as="script" href="{lure}/preload"><link rel="prefetch" href="{lure}/prefetch">
<link rel="preconnect" href="{lure}/preconnect"><link rel="dns-prefetch" href="{lure}/dns-prefetch">
<link rel="canonical" href="{lure}/canonical"><link rel="amphtml" href="{lure}/amp">
<link rel="alternate" hreflang="de" href="{lure}/de"><link rel="alternate" hreflang="en" href="{lure}/en">
<meta http-equiv="refresh" content="5; url={lure}/refresh">
<meta property="og:image" content="{lure}/og"><meta property="og:url" content="{lure}/og-url">
<meta name="twitter:image" content="{lure}/twitter">
<script type="application/ld+json">{{"@context": "https://schema.org", "@type": "Thing", "url": "{lure}/ld"}}</script>
</head><body><h1>A page that lures</h1>
<img src="{lure}/img" alt="a"><img srcset="{lure}/srcset 1x, {lure}/srcset2 2x" src="{lure}/covered" alt="b">
<img src="/hop/img" alt="i">
<picture><source srcset="{lure}/source"><img src="{lure}/picture" alt="c"></picture>
<img src="//{authority}/relative" alt="d"><img src="http://user:secret@{authority}/credentials" alt="e">
<iframe src="{lure}/iframe" title="f"></iframe><iframe src="/hop/iframe" title="g"></iframe>
<object data="{lure}/object"></object><embed src="{lure}/embed"><video src="{lure}/video" poster="{lure}/poster">
<track src="{lure}/track"></video><audio src="{lure}/audio"></audio><input type="image" src="{lure}/input" alt="h">
<a href="{lure}/link">A link</a><form action="{lure}/form"><button>Send</button></form>
<svg><image href="{lure}/svg"/><use href="{lure}/use#a"/></svg>
</body></html>"""
HEADERS = (
    ("Refresh", "5; url={lure}/refresh-header"),
    ("Link", "<{lure}/link-header>; rel=preload; as=style"),
    ("Content-Security-Policy", "report-uri {lure}/csp"),
    ("Reporting-Endpoints", 'default="{lure}/report"'),
    ("SourceMap", "{lure}/map"),
)
SHEET = """@import url("{lure}/import-in-sheet"); @import "/hop/import";
@font-face {{ font-family: a; src: url({lure}/font) }}"""
ROBOTS = (
    "User-agent: *\nAllow: /\nSitemap: {lure}/sitemap.xml\nSitemap: {site}/sitemap.xml\nSitemap: {site}/hop/sitemap\n"
)
SITEMAPS = (
    '<?xml version="1.0"?><!DOCTYPE s SYSTEM "{lure}/dtd"><sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    "<sitemap><loc>{lure}/child.xml</loc></sitemap></sitemapindex>"
)
# Files that scans request even if the page does not mention them.
ALWAYS_REQUESTED = (
    "/robots.txt", "/sitemap.xml", "/favicon.ico", "/.well-known/security.txt", "/security.txt", "/style.css",
)  # fmt: skip


def lure_routes(site: str, lure: str) -> dict[str, Route]:
    """Return the routes of a site that points elsewhere.

    Content, headers and redirects all point to another host.

    `site` is its origin, `lure` the authority (`host:port`) that all lures lead to.
    """
    values = {"lure": f"http://{lure}", "authority": lure, "site": site}

    def make_answer(template: str, kind: str, headers: Sequence[tuple[str, str]] = ()) -> Answer:
        filled = [(name, value.format(**values).encode().decode("latin-1")) for name, value in headers]
        return Answer(template.format(**values), headers=[("Content-Type", kind), *filled])

    def redirect_to_lure(request: Request) -> Answer:
        return Answer.redirect(f"{values['lure']}{request.path}".encode().decode("latin-1"))

    redirects = {
        f"/hop/{name}": redirect_to_lure for name in ("stylesheet", "script", "img", "iframe", "import", "sitemap")
    }
    return {
        "*": make_answer(PAGE, "text/html; charset=utf-8", HEADERS),
        "/style.css": make_answer(SHEET, "text/css"),
        "/robots.txt": make_answer(ROBOTS, "text/plain"),
        "/sitemap.xml": make_answer(SITEMAPS, "application/xml"),
        "/.well-known/security.txt": make_answer("Contact: {lure}/contact\nPolicy: {lure}/policy\n", "text/plain"),
        **redirects,
    }


def redirecting_files(lure: str) -> dict[str, Route]:
    """Return routes for a harmless page.

    Its other files redirect to the host `lure`.
    """
    page = Answer(
        '<!doctype html><html lang="en"><title>A page</title><h1>A page</h1>'
        '<link rel="stylesheet" href="/style.css"><link rel="icon" href="/favicon.ico">'
    )

    def redirect_to_lure(request: Request) -> Answer:
        return Answer.redirect(f"http://{lure}/away{request.path}".encode().decode("latin-1"))

    return {"/": page, "*": page, **dict.fromkeys(ALWAYS_REQUESTED, redirect_to_lure)}


# A scan without a browser requests these paths on the other host.
LIVE = {
    "/stylesheet", "/import", "/import-in-sheet", "/background", "/font", "/script", "/module", "/preload", "/icon",
    "/touch", "/img", "/relative", "/srcset2", "/source", "/input", "/svg", "/poster", "/canonical", "/hop/stylesheet",
    "/hop/script", "/hop/img", "/hop/import", "/away/robots.txt", "/away/favicon.ico", "/away/style.css",
}  # fmt: skip
