"""A page that needs credentials and then repeats all of them: in markup, headers, URLs, cookies and the console."""

from __future__ import annotations

import json
import secrets
from base64 import b64encode
from urllib.parse import quote

from tests.targets.server import Answer, Request, Site

OTHER = "127.0.0.2"


def core() -> str:
    """Return a random string to search for, whole or in parts. Letters and digits make a match by chance unlikely."""
    return f"q{secrets.token_hex(7)}"


class Canaries:
    """Secrets of all kinds. Their values contain characters at which masks and encodings break them."""

    def __init__(self) -> None:
        self.cores = [core() for _ in range(7)]
        a, b, c, d, e, f, g = self.cores
        self.key, self.cookie, self.username, self.password = f'{a},{b};"{c}"&<x>', f"{d}/{e}+x=", f"{f}", f"{g} ü%&;"
        self.request = {
            "headers": {"X-Key": self.key},
            "cookies": {"sid": self.cookie},
            "basic_auth": {"username": self.username, "password": self.password},
        }
        self.basic = b64encode(f"{self.username}:{self.password}".encode()).decode()

    def found_in(self, text: str | bytes, *, least: int = 8) -> list[str]:
        """Return the secrets found in the text, including their first or last `least` characters."""
        text = text.decode("latin-1") if isinstance(text, bytes) else text
        lower = text.lower()
        coded = [b64encode(each.encode()).decode()[:-4] for each in (self.key, self.cookie, self.password)]
        pieces = {piece for each in self.cores for piece in (each[:least], each[-least:])}
        return [each for each in (*pieces, *(each.lower() for each in (*coded, self.basic))) if each in lower]


def page_that_repeats_everything(given: Canaries, other: str) -> str:
    key, cookie, both = quote(given.key), quote(given.cookie), given.basic
    return f"""<!doctype html><html lang="en"><head>
<title>Key {given.key.replace("<x>", "&lt;x&gt;")} {given.cookie}</title>
<meta name="description" content="{given.password} {given.username} {both}">
<meta property="og:image" content="/og.png?key={key}"><meta property="og:url" content="/?sid={cookie}">
<link rel="canonical" href="/?token={key}"><link rel="alternate" hreflang="{given.username}" href="/de?key={key}">
<link rel="stylesheet" href="/s.css?key={key}&amp;sid={cookie}"><script src="/jquery-1.0.js?{both}"></script>
<link rel="stylesheet" href="{other}/s.css"><script src="{other}/x.js"></script>
<script type="application/ld+json">{{"@type": "Product", "sku": "{given.username}", "bad": {given.password} }}
</script></head>
<body id="{given.username}" onclick="{given.username}"><h1>{given.username}</h1>
<h4 id="{given.cookie}">{given.cookie}</h4>
<form action="http://{OTHER}/{key}" id="{given.username}">
<input name="password" type="password" value="{given.username}">
<input name="{given.username}" style="color:#eee;background:#fff" placeholder="{given.cookie}"></form>
<a href="http://{OTHER}:9/{key}" target="_blank">{given.username}</a> <a href="/gone?sid={cookie}">here</a>
<p style="color:#ddd;background:#fff">{given.password} {"x" * 100} {both} {given.cookie}</p>
<img src="/broken.png?auth={both}"><img src="{other}/image.png"><img src="/away">
<img src="/i.png?{key}" alt="{given.cookie}">
<iframe src="{other}/frame"></iframe><div role="{given.username}" aria-label="{given.cookie}" tabindex="5">x</div>
<!-- {given.key} --><script>
console.error({json.dumps(given.key)}, {json.dumps(given.cookie)});
document.cookie = "echo={given.username}";
navigator.sendBeacon("{other}/beacon", document.cookie.includes("sid=") ? document.cookie : "none");
fetch("{other}/fetch", {{mode: "no-cors", credentials: "include"}});
fetch("/away", {{mode: "no-cors"}});
fetch("/api?key={key}");
setTimeout(() => {{ throw new Error({json.dumps(given.password)}); }});
</script></body></html>"""


def site_that_repeats_everything(given: Canaries, site: Site, other: Site) -> None:
    page = page_that_repeats_everything(given, other.url)
    headers = [
        ("Set-Cookie", f"sid={given.cookie}; Path=/"),
        ("Set-Cookie", f"{given.username}={given.username}"),
        ("Content-Security-Policy", f"script-src 'nonce-{given.username}' 'unsafe-inline' {given.username}.example"),
        ("Server", f"nginx/1.0 {given.username}"),
        ("X-Powered-By", given.key),
        ("Access-Control-Allow-Origin", "*"),
        ("Content-Type", "text/html"),
    ]

    def answer(request: Request) -> Answer:
        if request.header("X-Key") != given.key or request.header("Authorization") != f"Basic {given.basic}":
            return Answer("Who are you?", status=401, headers={"WWW-Authenticate": "Basic"})
        return Answer(page.encode(), headers=headers)

    site.routes |= {
        "/": Answer.redirect(f"/in?sid={quote(given.cookie)}"),
        "/in": answer,
        "/away": Answer.redirect(f"{other.url}/redirected"),
        "/robots.txt": Answer(
            f"Disallow {given.key}\nSitemap: {given.username}", headers={"Content-Type": "text/plain"}
        ),
        "/s.css": Answer(
            f".{given.username} {{ color: red }}",
            headers={"Content-Type": "text/css", "Cache-Control": f"{given.username}"},
        ),
        "/jquery-1.0.js": Answer(f"/* {given.key} */" * 200, headers={"Content-Type": "text/javascript"}),
        "/i.png": answer,
    }
