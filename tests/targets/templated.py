"""Site with many pages from three templates.

Each template has three faults.

Each page has some 40 files and 1,000 elements, like pages of shops and magazines.
"""

from __future__ import annotations

import functools
import struct
import zlib
from collections.abc import Mapping
from random import Random

from tests.targets.many_pages import TEXT, XML, name, urlset
from tests.targets.server import Answer, Certificate, Site

SHEETS, SCRIPTS, IMAGES, PHOTOS_PER_PAGE = 4, 9, 24, 2
SECTIONS = 24
NAVIGATION, CROSS_LINKS = 12, 8
WORDS = ("bread", "rolls", "cake", "fresh", "from", "the", "oven", "every", "morning", "baker", "flour", "street")
KEEP = {"Cache-Control": "public, max-age=31536000, immutable"}

# Faulty markup of a template by the check that fails.
FAULTS: Mapping[str, Mapping[str, str]] = {
    "product": {
        "image-alt": '<img class="badge" src="/images/0.png" width="40" height="40">',
        "label": '<form action="/basket"><input class="amount" type="text" name="amount"></form>',
        "link-name": '<a class="zoom" href="/zoom"></a>',
    },
    "article": {
        "frame-title": '<iframe class="film" src="/film" width="300" height="200"></iframe>',
        "button-name": '<button class="next" type="button"></button>',
        "list": '<ul class="tags"><div>Baking</div></ul>',
    },
    "guide": {
        "select-name": '<select class="size"><option>Small</option><option>Large</option></select>',
        "aria-valid-attr-value": '<p class="step" aria-hidden="sometimes">A step</p>',
        "object-alt": '<object class="plan" data="/images/1.png" type="image/png"></object>',
    },
}
TEMPLATES = tuple(FAULTS)


def templated_site(pages: int, *, certificate: Certificate | None = None) -> Site:
    """Create a site with `pages` pages, all of which are in the sitemap."""
    site = Site(certificate=certificate)
    paths = page_paths(pages)
    site.routes |= _asset_routes()
    for number, path in enumerate(paths):
        site.routes[path] = Answer(_page_html(number, paths), headers={"Content-Type": "text/html; charset=utf-8"})
        for photo in range(PHOTOS_PER_PAGE):
            site.routes[f"/photos/{number}-{photo}.png"] = Answer(
                noise_png(Random(f"{number}-{photo}"), 16, 16), headers={"Content-Type": "image/png", **KEEP}
            )
    for path in ("/zoom", "/film", "/basket"):
        site.routes[path] = Answer(f'<!doctype html><html lang="en"><title>{path}</title><h1>{path}</h1></html>')
    base = site.url_as("localhost")
    site.routes["/robots.txt"] = Answer(f"User-agent: *\nAllow: /\nSitemap: {base}/sitemap.xml\n", headers=TEXT)
    site.routes["/sitemap.xml"] = Answer(urlset(*(f"{base}{path}" for path in paths)), headers=XML)
    return site


def page_paths(pages: int) -> list[str]:
    """Return the paths of all pages, front page first.

    The other pages use the templates in turn.
    """
    return ["/", *(f"/{template_name(number)}/{name(number)}" for number in range(1, pages))]


def template_name(number: int) -> str:
    """Return the template name of a page.

    The front page is number 0 and uses the first template.
    """
    return TEMPLATES[number % len(TEMPLATES)]


def _page_html(number: int, paths: list[str]) -> str:
    dice = Random(number)
    title = f"{' '.join(dice.sample(WORDS, 4)).capitalize()} {name(number)}"
    head = "".join(f'<link rel="stylesheet" href="/css/{at}.css">' for at in range(SHEETS))
    head += "".join(f'<script src="/js/{at}.js" defer></script>' for at in range(SCRIPTS))
    menu = "".join(f'<li><a href="{path}">Page {path}</a></li>' for path in paths[:NAVIGATION])
    sections = "".join(_page_section(at, dice) for at in range(SECTIONS))
    photos = "".join(
        f'<img src="/photos/{number}-{photo}.png" alt="Photo {photo}" width="100" height="100">'
        for photo in range(PHOTOS_PER_PAGE)
    )
    cross_links = "".join(
        f'<li><a href="{path}">More of {path}</a></li>' for path in dice.sample(paths, min(CROSS_LINKS, len(paths)))
    )
    faults = "".join(FAULTS[template_name(number)].values())
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="description" content="{title}: {_random_words(dice, 14)}.">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="canonical" href="{paths[number]}">'
        f'<meta property="og:image" content="/images/0.png">{head}</head><body><header><nav aria-label="Main">'
        f"<ul>{menu}</ul></nav></header><main><h1>{title}</h1>{photos}{faults}{sections}</main>"
        f'<footer><nav aria-label="More"><ul>{cross_links}</ul></nav></footer></body></html>'
    )


def _page_section(at: int, dice: Random) -> str:
    rows = "".join(
        f"<li><span class=c0-{row}>{_random_words(dice, 2)}</span> <em>{_random_words(dice, 1)}</em> "
        f"<b>{dice.randrange(100)}</b></li>"
        for row in range(9)
    )
    return (
        f'<section><h2>Offer {at}</h2><p class="c1-{at}">{_random_words(dice, 30)}</p>'
        f'<img src="/images/{at % IMAGES}.png" alt="Offer {at}" width="120" height="120" loading="lazy">'
        f"<ul>{rows}</ul></section>"
    )


def _random_words(dice: Random, count: int) -> str:
    return " ".join(dice.choice(WORDS) for _ in range(count))


@functools.cache
def _asset_routes() -> Mapping[str, Answer]:
    dice = Random(1)
    routes = {}
    for at in range(IMAGES):
        routes[f"/images/{at}.png"] = Answer(noise_png(dice, 64, 64), headers={"Content-Type": "image/png", **KEEP})
    for at in range(SCRIPTS):
        lines = [f"function f{line}(a) {{ return a * {line} + {dice.random()}; }}" for line in range(140)]
        code = "\n".join([*lines, "for (let i = 0; i < 20000; i += 1) f1(i);"])
        routes[f"/js/{at}.js"] = Answer(code, headers={"Content-Type": "text/javascript", **KEEP})
    for at in range(SHEETS):
        rules = "\n".join(
            f".c{at}-{rule} {{ color: #{dice.randrange(0x55):02x}2222; margin: 4px }}" for rule in range(180)
        )
        routes[f"/css/{at}.css"] = Answer(rules, headers={"Content-Type": "text/css", **KEEP})
    return routes


def noise_png(dice: Random, width: int, height: int) -> bytes:
    """Return a PNG of random noise, which does not compress."""

    def png_chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + dice.randbytes(width * 3) for _ in range(height))
    header = struct.pack(">II", width, height) + bytes([8, 2, 0, 0, 0])
    return (
        b"\x89PNG\r\n\x1a\n"
        + png_chunk(b"IHDR", header)
        + png_chunk(b"IDAT", zlib.compress(rows))
        + png_chunk(b"IEND", b"")
    )
