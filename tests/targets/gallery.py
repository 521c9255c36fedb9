"""Sites for the sample reports, except the shop."""

from __future__ import annotations

import gzip
from collections.abc import Mapping

from tests.targets.exposed_files import files
from tests.targets.many_pages import urlset
from tests.targets.server import Answer, Certificate, Request, Route, Site
from tests.targets.shop import png, shop_site

LIBRARY = """<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>Harbour Library: books, music and quiet rooms in Seaport</title>
    <meta name="description" content="The public library of Seaport: opening hours, the catalogue, rooms to work in, and readings for children every Saturday.">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <link rel="canonical" href="https://library.example.com/">
    <link rel="icon" href="/icon.png" type="image/png">
    <link rel="stylesheet" href="/library.css">
    <meta property="og:title" content="Harbour Library">
    <meta property="og:type" content="website">
    <meta property="og:url" content="https://library.example.com/">
    <meta property="og:image" content="https://library.example.com/reading-room.png">
    <meta property="og:description" content="Opening hours, catalogue and readings of the public library of Seaport.">
    <script type="application/ld+json">{"@context": "https://schema.org", "@type": "Library", "name": "Harbour Library", "url": "https://library.example.com/", "telephone": "+1 555 0100", "address": {"@type": "PostalAddress", "streetAddress": "1 Quay", "addressLocality": "Seaport"}}</script>
  </head>
  <body>
    <a class="skip" href="#content">Skip to the content</a>
    <header>
      <p class="name">Harbour Library</p>
      <nav aria-label="Main"><a href="/visit">Visit us</a> <a href="/catalogue">Catalogue</a> <a href="/children">For children</a></nav>
    </header>
    <main id="content">
      <h1>Books, music and quiet rooms by the harbour</h1>
      <p>Everybody may come in, sit down and read. To take something home you need a card, which costs nothing for people who live in Seaport. Ask for it at the desk, and bring a letter with your address.</p>
      <img src="/reading-room.png" width="800" height="320" alt="The reading room: long tables under green lamps, and the harbour behind the windows">
      <h2>Open today</h2>
      <p>Monday to Friday from 9 to 19, on Saturday from 10 to 16. The rooms on the upper floor close half an hour earlier. On holidays the box beside the door takes your books back.</p>
      <h2>Find a book</h2>
      <form action="/catalogue" method="get" role="search">
        <label for="q">Title, author or subject</label>
        <input id="q" name="q" type="search" autocomplete="off">
        <button>Search the catalogue</button>
      </form>
      <h2>This week</h2>
      <ul>
        <li><a href="/children">Stories for children from three years on, Saturday at 11</a></li>
        <li><a href="/visit">A tour of the cellar with the old maps, Thursday at 18</a></li>
      </ul>
    </main>
    <footer><p>Harbour Library, 1 Quay, Seaport. <a href="/contact">Write to us</a> or <a href="/privacy">read how we treat your data</a>.</p></footer>
  </body>
</html>
"""  # noqa: E501
LIBRARY_STYLES = """
body { margin: 0; font: 18px/1.6 Georgia, serif; color: #1c2733; background: #fdfcf8 }
header, footer { padding: 16px 24px; background: #12324a; color: #fff }
header a, footer a { display: inline-block; min-height: 32px; margin-right: 16px; color: #fff }
.name { margin: 0; font-size: 22px; font-weight: 700 }
main { max-width: 800px; margin: 0 auto; padding: 24px }
img { display: block; width: 100%; height: auto; border-radius: 8px }
h1 { font-size: 34px; line-height: 1.2 } h2 { margin-top: 32px }
label { display: block }
input { box-sizing: border-box; width: 100%; min-height: 48px; border: 1px solid #5d6d7c; font: inherit }
button { min-height: 48px; margin-top: 12px; padding: 0 24px; border: 0; background: #12324a; color: #fff; }
button { font: inherit }
main a { color: #0a4f82 } li { padding: 6px 0 }
.skip { position: absolute; left: -999px } .skip:focus { left: 8px; background: #fff }
"""
LIBRARY_HEADERS = {
    "Strict-Transport-Security": "max-age=63072000; includeSubDomains; preload",
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri "
    "'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "strict-origin-when-cross-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
COUNCIL = """<html>
<head>
<title>Untitled Document</title>
<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-1">
<meta name="keywords" content="parish, council, village, minutes, hall">
<script src="/jquery-1.4.2.min.js"></script>
<style>
body { margin: 0; background: #e8e8d8; font: 11px Verdana, sans-serif; color: #999 }
a { color: #7a9acc; text-decoration: none } td { padding: 6px }
.news { color: #c00; font-weight: bold } blink { color: #f60 }
</style>
</head>
<body onload="document.title='Welcome'">
<table width="960" border="0" bgcolor="#ffffff" align="center">
<tr><td colspan="2" bgcolor="#5b7a3d"><img src="/banner.png"><font size="5" color="#ffffff">Little Barrow Parish Council</font></td></tr>
<tr><td width="180" valign="top" bgcolor="#f4f4ea">
<a href="/minutes.html"><img src="/button1.png"></a><br><a href="/hall.html"><img src="/button2.png"></a><br>
<a href="/news.html">click here</a><br><a href="/links.html">more</a><br><a href="#">top</a>
</td><td valign="top">
<font class="news">NEWS: the bridge is CLOSED until further notice!!!</font>
<p>Welcome to our home page. This page is best viewed with 1024 x 768.
<p>The next meeting of the council is on the second Tuesday of the month in the village hall. <a href="/minutes.html">click here</a> for the minutes.
<form action="/cgi-bin/mail.pl" method="post">
<input type="text" name="name" value="Your name"><br><input type="text" name="mail" value="Your e-mail"><br>
<textarea name="text" rows="4" cols="40">Your message</textarea><br><input type="image" src="/send.png">
</form>
<iframe src="/counter.html" width="120" height="40"></iframe>
</td></tr>
</table>
</body>
</html>
"""  # noqa: E501
JQUERY = "/*!\n * jQuery JavaScript Library v1.4.2\n * http://jquery.com/\n */\nwindow.jQuery = function () {};\n"
BLOG = """<!doctype html>
<html lang="en-US">
<head>
<meta charset="UTF-8">
<meta name="viewport" content="width=device-width, initial-scale=1, maximum-scale=1, user-scalable=no">
<title>Two Wheels North &#8211; Just another travel blog</title>
<meta name="generator" content="WordPress 6.4.2">
<link rel="stylesheet" href="/wp-includes/style.min.css?ver=6.4.2">
<link rel="stylesheet" href="/wp-content/themes/wander/style.css?ver=1.0">
<script src="/wp-includes/js/jquery/jquery.min.js?ver=3.7.1"></script>
<script src="/wp-content/plugins/slides/slides.js?ver=2.1"></script>
<link rel="alternate" type="application/rss+xml" href="/feed/">
</head>
<body class="home blog">
<div id="masthead"><a href="/"><img src="/wp-content/uploads/logo.png" width="120" height="40"></a>
<div class="menu"><a href="/about/">About</a><a href="/gear/">Gear</a><a href="/?s="><i class="icon-search"></i></a></div></div>
<div class="post"><h2><a href="/day-12/">Day 12: rain, rain, and a bakery</a></h2>
<img src="/wp-content/uploads/bakery.png" class="alignnone"><p>We had been told that the road along the fjord is flat. It is not. After forty kilometres of rain a light in a window turned out to be the best bakery so far, and we stayed until they closed.</p>
<a class="more" href="/day-12/">Read more</a></div>
<div class="post"><h2><a href="/day-11/">Day 11: the ferry that did not come</a></h2>
<img src="/wp-content/uploads/ferry.png" class="alignnone"><p>There are two timetables, and we had the one of last year. So we learned how to play cards from three fishermen, who won.</p>
<a class="more" href="/day-11/">Read more</a></div>
<div class="widget"><h4>Subscribe</h4><input type="email" placeholder="E-mail"><button><i class="icon-mail"></i></button></div>
<div class="footer">&copy; Two Wheels North. Proudly powered by WordPress.</div>
<script>jQuery(function () { console.log("slides ready"); });</script>
</body>
</html>
"""  # noqa: E501
BLOG_STYLES = """
body { margin: 0; font: 16px/1.5 sans-serif; color: #777; background: #fff }
#masthead { display: flex; justify-content: space-between; padding: 16px; background: #f2f5f3 }
.menu a { margin-left: 12px; color: #9ab }
.post { max-width: 640px; margin: 24px auto; padding: 0 16px }
.post img { width: 100% } h2 a { color: #2c5d63 } .more { color: #8ab6b0; font-size: 13px }
.widget { padding: 16px; background: #f2f5f3 } .footer { padding: 16px; font-size: 12px; color: #bbb }
.icon-search, .icon-mail { display: inline-block; width: 16px; height: 16px; background: #9ab }
"""
BLOG_HEADERS = {
    "Content-Type": "text/html; charset=UTF-8",
    "Server": "Apache/2.4.52 (Ubuntu)",
    "X-Powered-By": "PHP/8.1.2",
    "Link": '<https://localhost/wp-json/>; rel="https://api.w.org/"',
}
MONTH = "public, max-age=2592000, immutable"


def library_site() -> Site:
    """Create a library's site with hardly any faults."""
    page = _compressed_route(LIBRARY, {"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-cache"})
    routes: dict[str, Route] = {
        "/": page,
        **dict.fromkeys(("/visit", "/catalogue", "/children", "/contact", "/privacy"), page),
        "/library.css": _compressed_route(LIBRARY_STYLES, {"Content-Type": "text/css", "Cache-Control": MONTH}),
        "/reading-room.png": _image_answer(800, 320, (52, 92, 84), MONTH, LIBRARY_HEADERS),
        "/icon.png": _image_answer(48, 48, (18, 50, 74), MONTH, LIBRARY_HEADERS),
        "/robots.txt": _compressed_route(
            "User-agent: *\nAllow: /\nSitemap: https://library.example.com/sitemap.xml\n",
            {"Content-Type": "text/plain"},
        ),
        "/sitemap.xml": _compressed_route(urlset("https://library.example.com/"), {"Content-Type": "application/xml"}),
        "/.well-known/security.txt": Answer(
            "Contact: mailto:security@library.example.com\nExpires: 2027-09-01T00:00:00Z\n",
            headers={"Content-Type": "text/plain; charset=utf-8"},
        ),
    }
    return Site(routes, certificate=Certificate.VALID)


def council_site() -> Site:
    """Create a council's site with an outdated page."""
    html = {"Content-Type": "text/html", "Server": "Apache/2.2.15 (CentOS)", "X-Powered-By": "PHP/5.3.3"}
    pictures = {name: _image_answer(120, 40, (91, 122, 61)) for name in ("/button1.png", "/button2.png", "/send.png")}
    plain = Answer("<html><title>Untitled Document</title><body>Nothing yet", headers=html)
    return Site(
        {
            "/": Answer(COUNCIL, headers={**html, "Set-Cookie": "PHPSESSID=8a7f3c2d1e; path=/"}),
            "/banner.png": _image_answer(960, 120, (91, 122, 61)),
            "/jquery-1.4.2.min.js": Answer(JQUERY, headers={"Content-Type": "text/javascript"}),
            **pictures,
            **dict.fromkeys(("/minutes.html", "/hall.html", "/news.html", "/counter.html"), plain),
        }
    )


def blog_site() -> Site:
    """Create a blog with the default settings of its software."""
    script = "/*! jQuery v3.7.1 */ window.jQuery = function (ready) { ready(); };\n" + "/* plugin */\n" * 3000
    return Site(
        {
            "/": Answer(BLOG, headers=BLOG_HEADERS),
            **dict.fromkeys(("/about/", "/gear/", "/day-11/", "/day-12/"), Answer(BLOG, headers=BLOG_HEADERS)),
            "/wp-includes/style.min.css": Answer(BLOG_STYLES * 8, headers={"Content-Type": "text/css"}),
            "/wp-content/themes/wander/style.css": Answer(BLOG_STYLES, headers={"Content-Type": "text/css"}),
            "/wp-includes/js/jquery/jquery.min.js": Answer(script, headers={"Content-Type": "text/javascript"}),
            "/wp-content/plugins/slides/slides.js": Answer(script, headers={"Content-Type": "text/javascript"}),
            "/wp-content/uploads/logo.png": _image_answer(240, 80, (44, 93, 99)),
            "/wp-content/uploads/bakery.png": _image_answer(1600, 900, (178, 134, 92)),
            "/wp-content/uploads/ferry.png": _image_answer(1600, 900, (96, 130, 158)),
            "/robots.txt": Answer("User-agent: *\nDisallow: /wp-admin/\n", headers={"Content-Type": "text/plain"}),
            "/feed/": Answer("<rss version='2.0'><channel></channel></rss>", headers={"Content-Type": "text/xml"}),
        },
        certificate=Certificate.VALID,
    )


def leak_site() -> Site:
    """Create the shop with files that a careless deployment made public."""
    site = shop_site()
    exposed = files()
    for check in ("exposed-git", "exposed-env", "exposed-sql-dump"):
        for path, body in exposed[check].items():
            site.routes[path] = Answer(body, headers={"Content-Type": "text/plain"})
    return site


def _compressed_route(text: str, headers: Mapping[str, str]) -> Route:
    sent_headers = {**LIBRARY_HEADERS, **headers, "Vary": "Accept-Encoding"}

    def serve_page(request: Request) -> Answer:
        # The URLs in the page must have the host of the request.
        body = text.replace("library.example.com", request.header("Host") or "")
        if "gzip" in (request.header("Accept-Encoding") or ""):
            return Answer(gzip.compress(body.encode(), mtime=0), headers={**sent_headers, "Content-Encoding": "gzip"})
        return Answer(body, headers=sent_headers)

    return serve_page


def _image_answer(
    width: int, height: int, colour: tuple[int, int, int], cache: str = "", others: Mapping[str, str] | None = None
) -> Answer:
    headers = {**(others or {}), "Content-Type": "image/png"} | ({"Cache-Control": cache} if cache else {})
    return Answer(png(width, height, colour), headers=headers)
