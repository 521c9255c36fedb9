"""Pages that stay blank or incomplete in a browser.

Some sparse pages are correct.
"""

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


def html_answer(body: str, head: str = "", title: str = "", **headers: str) -> Answer:
    page_head = HEAD.replace("Acme: shoes, boots and sandals", title) if title else HEAD
    markup = f"<!doctype html><html lang=en><head>{page_head}{STYLE}{head}</head><body>{body}</body></html>"
    pairs = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(markup, headers={"Content-Type": "text/html; charset=utf-8"} | pairs)


def script_answer(source: str, status: int = 200) -> Answer:
    return Answer(source, status, headers={"Content-Type": "text/javascript"})


def png_answer(width: int, height: int) -> Answer:
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

# Every visitor sees a broken page, which is a critical finding.
FAULTY: Pages = {
    "a bundle that throws": {"/": html_answer(ROOT + BUNDLE), "/app.js": script_answer(THROWS)},
    "a bundle that is missing": {"/": html_answer(ROOT + BUNDLE), "/app.js": script_answer("", 404)},
    "a bundle answered by the app's page": {
        "/": html_answer(ROOT + "<script type=module src=/app.js></script>"),
        "/app.js": html_answer(ROOT),
    },
    "a policy that forbids the page's own scripts": {
        "/": html_answer(ROOT + BUNDLE, Content_Security_Policy="script-src 'none'"),
        "/app.js": script_answer(RENDERS),
    },
    "a rejected promise": {
        "/": html_answer(f"{ROOT}<script>fetch('/api').then((a) => a.json()).then(() => {{{RENDERS}}})</script>"),
        "/api": Answer("<h1>Nothing here", status=404),
    },
    "a spinner that never ends": {
        "/": html_answer(f"<div id=root><div class=spinner></div></div><script>{NEVER}</script>")
    },
    "a text about loading that never goes": {
        "/": html_answer(f"<div id=root><p>Loading…</p></div><script>{NEVER}</script>")
    },
    "a splash screen over the page": {
        "/": html_answer(
            "<div style='position:fixed;inset:0;background:#fff;z-index:9'><div class=spinner></div></div>"
            f"{SHOES}<script>{THROWS}</script>"
        )
    },
    "a skeleton that is never filled": {
        "/": html_answer(f"<div id=root><div class=skeleton>{'<div></div>' * 9}</div></div><script>{NEVER}</script>")
    },
    "boxes without content": {
        "/": html_answer(
            "<div style='height:56px;background:#36c'></div><div id=root></div>"
            f"<div style='height:80px;background:#ccc'></div><script>{THROWS}</script>"
        )
    },
    "an empty root with header and footer": {
        "/": html_answer(f"{HEADER}<main id=root></main>{FOOTER}<script>{NEVER}</script>")
    },
    "a header above a spinner": {
        "/": html_answer(f"{HEADER}<main id=root><div class=spinner></div></main><script>{NEVER}</script>")
    },
    "a body hidden until a script shows it": {
        "/": html_answer(f"{SHOES}{BUNDLE}", "<style>body{opacity:0}</style>"),
        "/app.js": script_answer("window.missing.call(); document.body.style.opacity = 1;"),
    },
    "a body that stays invisible": {"/": html_answer(SHOES, "<style>body{visibility:hidden}</style>")},
    "white on white": {"/": html_answer(SHOES, "<style>body{color:#fff}</style>")},
    "an empty body": {"/": html_answer("")},
    "an error of a framework": {
        "/": html_answer(
            "<div id=__next><h2>Application error: a client-side exception has occurred (see the browser console for "
            f"more information).</h2></div><script>{THROWS}</script>"
        )
    },
    "an error of a proxy": {
        "/": html_answer("<center><h1>502 Bad Gateway</h1></center><hr><center>nginx</center>", title="502 Bad Gateway")
    },
    "an error of a database": {
        "/": html_answer("<h1>Error establishing a database connection</h1>", title="Database Error")
    },
    "an error boundary": {
        "/": html_answer(
            f"<div id=root></div><script>try {{ {THROWS} }} catch {{ document.getElementById('root').innerHTML = "
            "'<h1>Oops! Something went wrong.</h1><p>Please try again later.</p>' }</script>"
        )
    },
}

# Visitors may see content that the browser does not, so these pages are not judged.
UNJUDGED: Pages = {
    "a consent wall": {
        "/": html_answer(f"<div id=root></div><div role=dialog aria-modal=true>{WALL}</div><script>{NEVER}</script>")
    },
    "a consent wall in front of everything": {
        "/": html_answer(
            "<div id=root></div><div style='position:fixed;inset:0;background:#eee;padding:20px'>"
            f"{WALL}</div><script>{NEVER}</script>"
        )
    },
    "a bot challenge": {
        "/": html_answer(
            "<h1>shop.example.com</h1><p>Checking your browser before accessing the site. This process is automatic."
            f"</p><div class=spinner></div><script>{NEVER}</script>",
            title="Just a moment...",
        )
    },
    "a challenge for people": {
        "/": html_answer(
            f"<main><h2>Verify you are human</h2><p>Complete the challenge to go on.</p></main><script>{NEVER}</script>"
        )
    },
    "a loop of redirects": {
        "/": html_answer("<p>Redirecting…</p><script>location.href = '/?' + Math.random()</script>")
    },
    "a page that needs WebGL": {
        "/": html_answer(
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
LOGIN_FORM = (
    "<form><h1>Log in</h1><label>E-mail <input type=email name=e></label><label>Password <input type=password name=p>"
    "</label><button>Log in</button></form>"
)
DRAWING = "<svg viewBox='0 0 9 9' width=380 height=380 role=img aria-label=Star><path fill=red d='M0 0h9v9z'/></svg>"
LATE = f"setTimeout(() => {{ {RENDERS} }}, 2000)"

HEALTHY: Pages = {
    "a log-in form": {"/": html_answer(f"<main>{LOGIN_FORM}</main>")},
    "a log-in form of a script": {
        "/": html_answer(ROOT + BUNDLE),
        "/app.js": script_answer(
            f"document.getElementById('root').innerHTML = {LOGIN_FORM!r}; throw new Error('analytics')"
        ),
    },
    "a map on a canvas": {
        "/": html_answer(
            f"<div id=map class=map>{CANVAS}<button>+</button><a href=https://www.openstreetmap.org/>© OSM</a></div>"
        )
    },
    "a game on a canvas": {
        "/": html_answer(
            "<canvas width=400 height=600></canvas>"
            "<script>const draw = document.querySelector('canvas').getContext('2d');"
            f"const step = () => {{ {TILES} requestAnimationFrame(step) }}; step()</script>",
            "<style>body{background:#000}</style>",
        )
    },
    "one image": {"/": html_answer("<img src=/a.png alt='Two colours'>"), "/a.png": png_answer(300, 200)},
    "a small image in the middle": {
        "/": html_answer(
            "<div style='text-align:center;margin-top:40vh'><img src=/a.png alt=Acme></div><script>0</script>"
        ),
        "/a.png": png_answer(60, 40),
    },
    "one video": {"/": html_answer("<video controls src=/a.mp4 width=320 height=180></video>")},
    "one drawing": {"/": html_answer(DRAWING)},
    "one line": {"/": Answer("It works!", headers={"Content-Type": "text/html"})},
    "coming soon": {
        "/": html_answer("<header><h1>Coming soon</h1></header>", "<style>body{background:#123;color:#fff}</style>")
    },
    "a search box": {
        "/": html_answer(
            "<header><form><input type=search name=q> <button>Search</button></form></header>"
            f"<main id=root></main>{BUNDLE}"
        ),
        "/app.js": script_answer("0"),
    },
    "a frame": {
        "/": html_answer("<iframe title=Map src=/map width=380 height=500></iframe>"),
        "/map": html_answer("<h1>Our shops</h1><p>Berlin, Hamburg"),
    },
    "a dark page with few words": {
        "/": html_answer("<p>hello.</p>", "<style>body{background:#111;color:#888}</style>")
    },
    "content that appears after two seconds": {"/": html_answer(f"{ROOT}<script>{LATE}</script>")},
    "content that takes the place of a spinner": {
        "/": html_answer(f"<div id=root><div class=spinner></div></div><script>{LATE}</script>")
    },
    "an honest notice of maintenance": {
        "/": html_answer(
            "<main><h1>We will be back soon</h1><p>Our shop is down for maintenance until 9 am. Sorry!</p></main>"
        )
    },
    "a consent banner with content behind it": {
        "/": html_answer(
            f"<div id=root>{SHOES}</div>"
            f"<div role=dialog style='position:fixed;bottom:0;background:#eee'>{WALL}</div><script>0</script>"
        )
    },
    "a component with a closed shadow tree": {
        "/": html_answer(
            "<shop-app></shop-app><script>customElements.define('shop-app', class extends HTMLElement {"
            " connectedCallback() { this.attachShadow({mode: 'closed'}).innerHTML = "
            "'<h1>Shoes</h1><p>Red shoes for the road.' } })</script>"
        )
    },
    "a component with an open shadow tree": {
        "/": html_answer(
            "<div id=root></div><script>document.getElementById('root').attachShadow({mode: 'open'}).innerHTML = "
            "'<h1>Shoes</h1>'</script>"
        )
    },
    "a tall empty start": {
        "/": html_answer("<div style='height:1200px'></div><h1>Shoes</h1><p>Red shoes for the road.</p>")
    },
    "a picture as background": {
        "/": html_answer("<main></main><script>0</script>", "<style>body{background:url(/a.png);height:100vh}</style>"),
        "/a.png": png_answer(60, 40),
    },
    "a spinner beside the content": {"/": html_answer(f"{SHOES}<div class=spinner></div><script>{NEVER}</script>")},
    "an article about errors": {
        "/": html_answer(
            f"<main><h1>502 Bad Gateway</h1><p>{'A proxy got no valid answer from a server. ' * 12}</p></main>"
        )
    },
    "an animated page without scripts": {"/": html_answer("<div class=spinner></div>")},
    "a news page with a broken script": {"/": html_answer(f"{HEADER}{SHOES}{FOOTER}<script>{THROWS}</script>")},
}
