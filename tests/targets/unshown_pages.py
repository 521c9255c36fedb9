"""Pages that a browser shows nothing of, or only a part, and sparse pages that are in order; each with its routes."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping

from tests.targets.server import Answer, Route

STYLE = (
    "<style>body{margin:0;font:16px sans-serif}"
    "@keyframes spin{to{transform:rotate(360deg)}}@keyframes pulse{50%{opacity:.4}}"
    ".spinner{width:48px;height:48px;margin:40vh auto;border:6px solid #ddd;border-top-color:#36c;border-radius:50%;"
    "animation:spin 1s linear infinite}"
    ".skeleton div{height:24px;margin:16px;background:#ddd;animation:pulse 2s infinite}"
    "</style>"
)
HEAD = (
    "<meta charset=utf-8><title>Acme: shoes, boots and sandals</title>"
    "<meta name=viewport content='width=device-width, initial-scale=1'>"
    "<meta name=description content='Shoes, boots and sandals for every weather, made by hand in small workshops.'>"
)
BUNDLE = "<script defer src=/app.js></script>"
ROOT = "<noscript>You need to enable JavaScript to run this app.</noscript><div id=root></div>"
HEADER = "<header><a href=/>Acme</a> <nav><a href=/shoes>Shoes</a> <a href=/boots>Boots</a></nav></header>"
FOOTER = "<footer><p>Acme Ltd, 1 High Street. <a href=/imprint>Imprint</a></p></footer>"
THROWS = "const root = document.getElementById('root'); const state = undefined; root.textContent = state.user.name;"
RENDERS = "document.getElementById('root').innerHTML = '<main><h1>Shoes</h1><p>Red shoes for the road.</p></main>';"
SHOES = "<main><h1>Shoes</h1><p>Red shoes for the road.</p></main>"
NEVER = "new Promise(() => 0).then(() => document.getElementById('root').textContent = 'Shoes');"
WALL = (
    "<h2>We value your privacy</h2><p>We and our 842 partners store cookies on your device and process personal data."
    "</p><button>Accept all</button> <button>Settings</button>"
)


def html(body: str, head: str = "", title: str = "", **headers: str) -> Answer:
    named = HEAD.replace("Acme: shoes, boots and sandals", title) if title else HEAD
    markup = f"<!doctype html><html lang=en><head>{named}{STYLE}{head}</head><body>{body}</body></html>"
    pairs = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(markup, headers={"Content-Type": "text/html; charset=utf-8"} | pairs)


def script(source: str, status: int = 200) -> Answer:
    return Answer(source, status, headers={"Content-Type": "text/javascript"})


def png(width: int, height: int) -> Answer:
    """Return a PNG whose upper half is red and whose lower half is blue."""
    rows = [b"\0" + (b"\xc8\x20\x20" if row < height / 2 else b"\x20\x20\xc8") * width for row in range(height)]
    parts = [
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(b"".join(rows))),
        (b"IEND", b""),
    ]
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
    return Answer(b"\x89PNG\r\n\x1a\n" + b"".join(chunks), headers={"Content-Type": "image/png"})


Pages = Mapping[str, Mapping[str, Route]]

# What every visitor sees is not the page: a critical finding.
FAULTY: Pages = {
    "a bundle that throws": {"/": html(ROOT + BUNDLE), "/app.js": script(THROWS)},
    "a bundle that is missing": {"/": html(ROOT + BUNDLE), "/app.js": script("", 404)},
    "a bundle answered by the app's page": {
        "/": html(ROOT + "<script type=module src=/app.js></script>"),
        "/app.js": html(ROOT),
    },
    "a policy that forbids the page's own scripts": {
        "/": html(ROOT + BUNDLE, Content_Security_Policy="script-src 'none'"),
        "/app.js": script(RENDERS),
    },
    "a rejected promise": {
        "/": html(f"{ROOT}<script>fetch('/api').then((a) => a.json()).then(() => {{{RENDERS}}})</script>"),
        "/api": Answer("<h1>Nothing here", status=404),
    },
    "a spinner that never ends": {"/": html(f"<div id=root><div class=spinner></div></div><script>{NEVER}</script>")},
    "a text about loading that never goes": {"/": html(f"<div id=root><p>Loading…</p></div><script>{NEVER}</script>")},
    "a splash screen over the page": {
        "/": html(
            "<div style='position:fixed;inset:0;background:#fff;z-index:9'><div class=spinner></div></div>"
            f"{SHOES}<script>{THROWS}</script>"
        )
    },
    "a skeleton that is never filled": {
        "/": html(f"<div id=root><div class=skeleton>{'<div></div>' * 9}</div></div><script>{NEVER}</script>")
    },
    "boxes without content": {
        "/": html(
            "<div style='height:56px;background:#36c'></div><div id=root></div>"
            f"<div style='height:80px;background:#ccc'></div><script>{THROWS}</script>"
        )
    },
    "an empty root with header and footer": {
        "/": html(f"{HEADER}<main id=root></main>{FOOTER}<script>{NEVER}</script>")
    },
    "a header above a spinner": {
        "/": html(f"{HEADER}<main id=root><div class=spinner></div></main><script>{NEVER}</script>")
    },
    "a body hidden until a script shows it": {
        "/": html(f"{SHOES}{BUNDLE}", "<style>body{opacity:0}</style>"),
        "/app.js": script("window.missing.call(); document.body.style.opacity = 1;"),
    },
    "a body that stays invisible": {"/": html(SHOES, "<style>body{visibility:hidden}</style>")},
    "white on white": {"/": html(SHOES, "<style>body{color:#fff}</style>")},
    "an empty body": {"/": html("")},
    "an error of a framework": {
        "/": html(
            "<div id=__next><h2>Application error: a client-side exception has occurred (see the browser console for "
            f"more information).</h2></div><script>{THROWS}</script>"
        )
    },
    "an error of a proxy": {
        "/": html("<center><h1>502 Bad Gateway</h1></center><hr><center>nginx</center>", title="502 Bad Gateway")
    },
    "an error of a database": {"/": html("<h1>Error establishing a database connection</h1>", title="Database Error")},
    "an error boundary": {
        "/": html(
            f"<div id=root></div><script>try {{ {THROWS} }} catch {{ document.getElementById('root').innerHTML = "
            "'<h1>Oops! Something went wrong.</h1><p>Please try again later.</p>' }</script>"
        )
    },
}

# Nobody saw the page, but visitors may: it is not judged.
UNJUDGED: Pages = {
    "a consent wall": {
        "/": html(f"<div id=root></div><div role=dialog aria-modal=true>{WALL}</div><script>{NEVER}</script>")
    },
    "a consent wall in front of everything": {
        "/": html(
            "<div id=root></div><div style='position:fixed;inset:0;background:#eee;padding:20px'>"
            f"{WALL}</div><script>{NEVER}</script>"
        )
    },
    "a bot challenge": {
        "/": html(
            "<h1>shop.example.com</h1><p>Checking your browser before accessing the site. This process is automatic."
            f"</p><div class=spinner></div><script>{NEVER}</script>",
            title="Just a moment...",
        )
    },
    "a challenge for people": {
        "/": html(
            f"<main><h2>Verify you are human</h2><p>Complete the challenge to go on.</p></main><script>{NEVER}</script>"
        )
    },
    "a loop of redirects": {"/": html("<p>Redirecting…</p><script>location.href = '/?' + Math.random()</script>")},
    "a page that needs WebGL": {
        "/": html(
            "<canvas style='width:100%;height:90vh'></canvas><script>const gl = document.querySelector('canvas')"
            ".getContext('webgl'); gl.clearColor(1, 0, 0, 1); gl.clear(gl.COLOR_BUFFER_BIT)</script>"
        )
    },
}

TILES = "for (let x = 0; x < 9; x += 1) { draw.fillStyle = ['#8b5', '#5ae'][x % 2]; draw.fillRect(x * 60, 0, 60, 600) }"
CANVAS = (
    "<canvas width=400 height=600></canvas>"
    f"<script>const draw = document.querySelector('canvas').getContext('2d'); {TILES}</script>"
)
LOG_IN = (
    "<form><h1>Log in</h1><label>E-mail <input type=email name=e></label><label>Password <input type=password name=p>"
    "</label><button>Log in</button></form>"
)
DRAWING = "<svg viewBox='0 0 9 9' width=380 height=380 role=img aria-label=Star><path fill=red d='M0 0h9v9z'/></svg>"
LATE = f"setTimeout(() => {{ {RENDERS} }}, 2000)"

HEALTHY: Pages = {
    "a log-in form": {"/": html(f"<main>{LOG_IN}</main>")},
    "a log-in form of a script": {
        "/": html(ROOT + BUNDLE),
        "/app.js": script(f"document.getElementById('root').innerHTML = {LOG_IN!r}; throw new Error('analytics')"),
    },
    "a map on a canvas": {
        "/": html(
            f"<div id=map class=map>{CANVAS}<button>+</button><a href=https://www.openstreetmap.org/>© OSM</a></div>"
        )
    },
    "a game on a canvas": {
        "/": html(
            "<canvas width=400 height=600></canvas>"
            "<script>const draw = document.querySelector('canvas').getContext('2d');"
            f"const step = () => {{ {TILES} requestAnimationFrame(step) }}; step()</script>",
            "<style>body{background:#000}</style>",
        )
    },
    "one image": {"/": html("<img src=/a.png alt='Two colours'>"), "/a.png": png(300, 200)},
    "a small image in the middle": {
        "/": html("<div style='text-align:center;margin-top:40vh'><img src=/a.png alt=Acme></div><script>0</script>"),
        "/a.png": png(60, 40),
    },
    "one video": {"/": html("<video controls src=/a.mp4 width=320 height=180></video>")},
    "one drawing": {"/": html(DRAWING)},
    "one line": {"/": Answer("It works!", headers={"Content-Type": "text/html"})},
    "coming soon": {
        "/": html("<header><h1>Coming soon</h1></header>", "<style>body{background:#123;color:#fff}</style>")
    },
    "a search box": {
        "/": html(
            "<header><form><input type=search name=q> <button>Search</button></form></header>"
            f"<main id=root></main>{BUNDLE}"
        ),
        "/app.js": script("0"),
    },
    "a frame": {
        "/": html("<iframe title=Map src=/map width=380 height=500></iframe>"),
        "/map": html("<h1>Our shops</h1><p>Berlin, Hamburg"),
    },
    "a dark page with few words": {"/": html("<p>hello.</p>", "<style>body{background:#111;color:#888}</style>")},
    "content that appears after two seconds": {"/": html(f"{ROOT}<script>{LATE}</script>")},
    "content that takes the place of a spinner": {
        "/": html(f"<div id=root><div class=spinner></div></div><script>{LATE}</script>")
    },
    "an honest notice of maintenance": {
        "/": html(
            "<main><h1>We will be back soon</h1><p>Our shop is down for maintenance until 9 am. Sorry!</p></main>"
        )
    },
    "a consent banner with content behind it": {
        "/": html(
            f"<div id=root>{SHOES}</div>"
            f"<div role=dialog style='position:fixed;bottom:0;background:#eee'>{WALL}</div><script>0</script>"
        )
    },
    "a component with a closed shadow tree": {
        "/": html(
            "<shop-app></shop-app><script>customElements.define('shop-app', class extends HTMLElement {"
            " connectedCallback() { this.attachShadow({mode: 'closed'}).innerHTML = "
            "'<h1>Shoes</h1><p>Red shoes for the road.' } })</script>"
        )
    },
    "a component with an open shadow tree": {
        "/": html(
            "<div id=root></div><script>document.getElementById('root').attachShadow({mode: 'open'}).innerHTML = "
            "'<h1>Shoes</h1>'</script>"
        )
    },
    "a tall empty start": {"/": html("<div style='height:1200px'></div><h1>Shoes</h1><p>Red shoes for the road.</p>")},
    "a picture as background": {
        "/": html("<main></main><script>0</script>", "<style>body{background:url(/a.png);height:100vh}</style>"),
        "/a.png": png(60, 40),
    },
    "a spinner beside the content": {"/": html(f"{SHOES}<div class=spinner></div><script>{NEVER}</script>")},
    "an article about errors": {
        "/": html(f"<main><h1>502 Bad Gateway</h1><p>{'A proxy got no valid answer from a server. ' * 12}</p></main>")
    },
    "an animated page without scripts": {"/": html("<div class=spinner></div>")},
    "a news page with a broken script": {"/": html(f"{HEADER}{SHOES}{FOOTER}<script>{THROWS}</script>")},
}
