"""Shop for the sample reports.

Its page looks good but has common faults.
"""

from __future__ import annotations

import struct
import zlib

from tests.targets.server import Answer, Certificate, Site

PAGE = """<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>Home</title>
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <script src="/js/shop.js"></script>
    <link rel="stylesheet" href="/css/shop.css">
  </head>
  <body>
    <header><b>Kettle &amp; Leaf</b> <a href="/cart"><img src="/img/cart.png" width="24" height="24"></a></header>
    <div class="hero">
      <h1>Tea that takes its time</h1>
      <p class="soft">Loose leaf, picked in spring, at your door in two days.</p>
      <a class="call" href="/teas">See all teas</a>
    </div>
    <form action="/news"><input type="email" placeholder="Your e-mail"><button>Get the letter</button></form>
    <h3>New this week</h3>
    <ul>
      <li><img src="/img/green.png"><p>Sencha</p><p class="soft">from 9.50</p><a href="/teas/1">click here</a></li>
      <li><img src="/img/black.png"><p>Assam</p><p class="soft">from 7.20</p><a href="/teas/2">click here</a></li>
      <li>
        <img src="/img/white.png" alt="White tea in a glass"><p>Silver needle</p><p class="soft">from 14.00</p>
        <a href="/teas/3">click here</a>
      </li>
    </ul>
    <footer class="soft">Kettle &amp; Leaf, <a href="http://shop.example.com/legal">legal notes</a></footer>
    <script>document.querySelector("form").addEventListener("submit", (event) => event.preventDefault());</script>
  </body>
</html>
"""
STYLES = """
body { margin: 0; font: 16px/1.5 Georgia, serif; color: #2f3b33; background: #fbf8f1 }
header { display: flex; justify-content: space-between; padding: 16px 20px; background: #fff }
.hero { padding: 48px 20px; background: #dfe9d8; text-align: center }
h1 { margin: 0 0 8px; font-size: 34px; line-height: 1.15 }
.soft { color: #9aa598 }
.call { display: inline-block; margin-top: 16px; padding: 12px 24px; border-radius: 99px }
.call { background: #4d7c4a; color: #fff; text-decoration: none }
form { display: flex; gap: 8px; padding: 20px }
input { flex: 1; padding: 10px; border: 1px solid #cdd5c8 }
button { padding: 10px 14px; border: 0; background: #d9a441; color: #fff }
h3 { margin: 8px 20px }
ul { display: grid; gap: 16px; margin: 0; padding: 0 20px; list-style: none }
li { padding: 12px; background: #fff; font-size: 15px }
li img { width: 100%; height: 120px }
li p { margin: 4px 0 }
footer { padding: 24px 20px; font-size: 11px }
"""
# The script is worth compressing, and the page hardly uses it.
SCRIPT = "window.shop = { cart: [] };\n" + "".join(
    f"function step{n}() {{ return shop.cart.length + {n}; }}\n" for n in range(2500)
)


def shop_site() -> Site:
    html = {
        "Content-Type": "text/html; charset=utf-8",
        "Strict-Transport-Security": "max-age=300",
        "Content-Security-Policy": "default-src 'self'; script-src 'self' 'unsafe-inline'; object-src 'none'",
        "X-Content-Type-Options": "nosniff",
        "Set-Cookie": "session=4f1c2d9a7b; Path=/; SameSite=Lax",
        "Server": "nginx/1.18.0",
        "X-Powered-By": "PHP/7.4.33",
    }
    plain = Answer(
        "<!doctype html><html lang=en><title>Kettle &amp; Leaf</title><h1>Kettle &amp; Leaf</h1>", headers=html
    )
    pictures = {
        "/img/cart.png": png(24, 24, (77, 124, 74)),
        "/img/green.png": png(1600, 900, (132, 169, 107)),
        "/img/black.png": png(1600, 900, (122, 74, 50)),
        "/img/white.png": png(1600, 900, (214, 205, 176)),
    }
    return Site(
        {
            "/": Answer(PAGE, headers=html),
            **dict.fromkeys(("/cart", "/teas", "/teas/1", "/teas/2", "/teas/3"), plain),
            "/css/shop.css": Answer(STYLES, headers={"Content-Type": "text/css"}),
            "/js/shop.js": Answer(SCRIPT, headers={"Content-Type": "text/javascript"}),
            **{path: Answer(png, headers={"Content-Type": "image/png"}) for path, png in pictures.items()},
            "/robots.txt": Answer("User-agent: *\nDisallow: /cart\n", headers={"Content-Type": "text/plain"}),
        },
        certificate=Certificate.VALID,
    )


def png(width: int, height: int, colour: tuple[int, int, int]) -> bytes:
    """Return a striped, hardly compressed PNG like those in many shops."""
    shades = [bytes(max(0, part - 12 * (n % 5)) for part in colour) for n in range(width // 8 + 1)]
    line = b"\0" + b"".join(shades[x // 8] for x in range(width))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(line * height, 1)), (b"IEND", b""))
    body = b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + body
