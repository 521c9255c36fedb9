"""Twenty pages whose first paint waits for different resources.

CPU work is a number of rounds, not of milliseconds, so that a slower processor takes longer for it.
"""

from __future__ import annotations

import struct
import zlib
from random import Random

from msgspec.structs import replace

from tests.targets.server import Answer

NAMES = (
    *("text", "sheets", "scripts", "images", "font", "background", "late-image", "app", "many-files", "other-host"),
    *("slow-server", "redirects", "large", "preload", "lazy", "shifts", "banner", "poster", "modules", "carousel"),
)

SHELLS = frozenset({"app"})  # These pages are blank without their scripts.
FONT = "/brand.woff2"  # The text of /font is invisible until this font has loaded or failed.

# One round takes about 5 ms on a current machine.
WORK = """
const work = (rounds) => {
  let sum = 0;
  for (let each = 0; each < rounds; each += 1) {
    const words = [];
    for (let at = 0; at < 9000; at += 1) words.push('w' + (at * 7919 % 1009) + sum % 3);
    words.sort();
    sum += words.join(' ').length;
  }
  return sum;
};
const later = (count, rounds) => { if (count) setTimeout(() => { work(rounds); later(count - 1, rounds); }, 1); };
"""


def load_pages(elsewhere: str) -> dict[str, Answer]:
    """Return the routes of all pages.

    `elsewhere` is the base URL of another site with the same routes.
    """
    dice = Random(13)
    words = _random_words(dice, 60)
    return {
        "/text": _page_answer(
            "", f"<h1>{_random_words(dice, 4)}</h1>" + "".join(f"<p>{_random_words(dice, 80)}" for _ in range(200))
        ),
        # The browser discovers a style sheet in the previous one.
        "/sheets": _page_answer('<link rel=stylesheet href="/a.css">', f"<h1>Sheets</h1><p>{words}"),
        "/a.css": _style_sheet(dice, 30_000, '@import "/b.css";'),
        "/b.css": _style_sheet(dice, 30_000, '@import "/c.css";'),
        "/c.css": _style_sheet(dice, 30_000),
        # The page is blank until three scripts have run, and more work follows later.
        "/scripts": _page_answer(
            "".join(f'<script src="/block-{at}.js"></script>' for at in range(3)),
            f"<h1>Scripts</h1><p>{words}<script>later(12, 6)</script>",
        ),
        # One test needs long tasks that block the main thread on every machine.
        "/long-tasks": _page_answer(
            "".join(f'<script src="/block-{at}.js"></script>' for at in range(3)),
            f"<h1>Scripts</h1><p>{words}<script>later(12, 30)</script>",
        ),
        **{f"/block-{at}.js": _script_answer(dice, 40_000, f"work({6 + at})", is_first=at == 0) for at in range(3)},
        # The hero image is in the markup, above other images.
        "/images": _page_answer(
            "",
            "<h1>Images</h1><img src=/hero.png width=400 height=300 alt=Hero>"
            + "".join(f"<img src=/small-{at}.png width=100 height=100 alt=Small>" for at in range(8)),
        ),
        "/hero.png": _noise_image(dice, 340, 300),
        **{f"/small-{at}.png": _noise_image(dice, 100, 100) for at in range(12)},
        # All text waits for a font that turns out to be invalid.
        "/font": _page_answer(
            f"<style>@font-face {{ font-family: Brand; src: url({FONT}); font-display: block }}"
            "body { font-family: Brand, serif }</style>",
            f"<h1>Font</h1><p>{words}",
        ),
        FONT: Answer(dice.randbytes(90_000), headers={"Content-Type": "font/woff2"}),
        # The largest image is a CSS background, next to many other images.
        "/background": _page_answer(
            '<link rel=stylesheet href="/background.css">',
            "<div class=hero><h1>Background</h1></div>"
            + "".join(f"<img src=/small-{at}.png width=100 height=100 alt=Small>" for at in range(12)),
        ),
        "/background.css": _style_sheet(
            dice, 10_000, ".hero { height: 400px; background: url(/hero.png) center / cover }"
        ),
        # A script inserts the hero image after some work.
        "/late-image": _page_answer(
            "", f"<script src=/late.js defer></script><h1>Late</h1><div id=place></div><p>{words[:100]}"
        ),
        "/late.js": _script_answer(
            dice,
            60_000,
            "work(12); place.innerHTML = '<img src=/hero.png width=400 height=300 alt=Hero>'; later(4, 4);",
        ),
        # The app shell is empty, and a bundle builds the page from data.
        "/app": _page_answer("", '<div id=root></div><script src="/bundle.js"></script>'),
        "/bundle.js": _script_answer(
            dice,
            150_000,
            "work(15); fetch('/data.json').then((answer) => answer.json()).then((data) => { work(10);"
            " root.innerHTML = '<h1>App</h1>' + data.map((each) => `<p>${each}</p>`).join(''); later(5, 5); });",
        ),
        "/data.json": Answer(
            "[" + ",".join(f'"{_random_words(dice, 30)}"' for _ in range(100)) + "]",
            headers={"Content-Type": "application/json"},
        ),
        "/many-files": _page_answer(
            "".join(f'<link rel=stylesheet href="/part-{at}.css">' for at in range(8))
            + "".join(f'<script src="/part-{at}.js" defer></script>' for at in range(15)),
            f"<h1>Many</h1><p>{words}"
            + "".join(f"<img src=/icon-{at}.png width=30 height=30 alt=Icon>" for at in range(40)),
        ),
        **{f"/part-{at}.css": _style_sheet(dice, 2_000) for at in range(8)},
        **{f"/part-{at}.js": _script_answer(dice, 3_000, "work(1)", is_first=at == 0) for at in range(15)},
        **{f"/icon-{at}.png": _noise_image(dice, 30, 30) for at in range(40)},
        # The render-blocking files and the script of a widget are on another host.
        "/other-host": _page_answer(
            f'<link rel=stylesheet href="{elsewhere}/c.css"><script src="{elsewhere}/block-0.js"></script>'
            f'<script async src="{elsewhere}/widget.js"></script>',
            f"<h1>Other host</h1><p>{words}",
        ),
        "/widget.js": _script_answer(dice, 80_000, "work(10)"),
        **_more_pages(dice),
    }


def _more_pages(dice: Random) -> dict[str, Answer]:
    words = _random_words(dice, 60)
    return {
        "/slow-server": replace(
            _page_answer('<link rel=stylesheet href="/plain.css">', f"<h1>Slow server</h1><p>{words}"), delay_s=0.7
        ),
        "/plain.css": _style_sheet(dice, 8_000),
        "/redirects": Answer.redirect("/moved"),
        "/moved": Answer.redirect("/arrived"),
        "/arrived": _page_answer('<link rel=stylesheet href="/plain.css">', f"<h1>Redirects</h1><p>{words}"),
        # Only the beginning of this large document is on the first screen.
        "/large": _page_answer(
            f"<style>{_style_sheet(dice, 60_000).body!s}</style>",
            f"<h1>Large</h1><p>{words}<table>"
            + "".join(f"<tr><td>{_random_words(dice, 6)}<td>{_random_words(dice, 6)}" for _ in range(2_500))
            + "</table>",
        ),
        "/preload": _page_answer(
            '<link rel=preload as=image href="/hero.png" fetchpriority=high>'
            '<link rel=stylesheet href="/background.css"><script src="/deferred.js" defer></script>',
            "<div class=hero><h1>Preload</h1></div>",
        ),
        "/deferred.js": _script_answer(dice, 40_000, f"{{ {WORK} work(7) }}", is_first=False),
        # The largest image loads lazily, below a small one.
        "/lazy": _page_answer(
            '<link rel=stylesheet href="/plain.css">',
            "<h1>Lazy</h1><img src=/small-0.png width=100 height=100 alt=Small>"
            "<img loading=lazy src=/hero.png width=400 height=300 alt=Hero><div style='height:6000px'></div>"
            + "".join(f"<img loading=lazy src=/small-{at}.png width=100 height=100 alt=Small>" for at in range(1, 9)),
        ),
        # Images without a size push the text down when they load.
        "/shifts": _page_answer(
            "",
            "<h1>Shifts</h1><img src=/wide.png alt=Wide><p>"
            + words
            + f"<img src=/small-1.png alt=Small><p>{words}<img src=/small-2.png alt=Small><p>{words}",
        ),
        "/wide.png": _noise_image(dice, 390, 140),
        # A script requests a banner and inserts it above the text.
        "/banner": _page_answer(
            '<script src="/banner.js" async></script>', f"<div id=place></div><h1>Banner</h1><p>{words}<p>{words}"
        ),
        "/banner.js": _script_answer(
            dice,
            20_000,
            "work(3); fetch('/offer.json').then((answer) => answer.json()).then((data) => { work(2);"
            " place.innerHTML = `<p style='height:160px;background:#357'>${data.text}</p>`; });",
        ),
        "/offer.json": Answer(f'{{"text": "{words}"}}', headers={"Content-Type": "application/json"}),
        "/poster": _page_answer(
            '<link rel=stylesheet href="/plain.css">',
            f"<h1>Poster</h1><video poster=/hero.png width=400 height=300 preload=none></video><p>{words[:100]}",
        ),
        # Modules run after parsing, like the deferred script.
        "/modules": _page_answer(
            '<link rel=stylesheet href="/plain.css"><script type=module src="/main.mjs"></script>'
            '<script defer src="/deferred.js"></script><script async src="/widget.js"></script>',
            f"<h1>Modules</h1><div id=root></div><p>{words[:50]}",
        ),
        "/main.mjs": _script_answer(
            dice,
            10_000,
            "import {text} from '/view.mjs'; work(6); root.innerHTML = `<p>${text}</p>`; later(3, 8);",
        ),
        "/view.mjs": _script_answer(
            dice, 40_000, f"import '/base.mjs'; export const text = '{_random_words(dice, 80)}';"
        ),
        "/base.mjs": _script_answer(dice, 30_000, "work(4);"),
        # Slides are stacked, and a script shows the next one after a second.
        "/carousel": _page_answer(
            "<style>.slides {position: relative; height: 300px} .slides img {position: absolute; opacity: 0}"
            ".slides img.shown {opacity: 1}</style>",
            "<h1>Carousel</h1><div class=slides>"
            + "".join(
                f"<img src=/slide-{at}.png width=400 height=300 alt=Slide{' class=shown' * (not at)}>"
                for at in range(3)
            )
            + f"</div><p>{words}<script src=/carousel.js defer></script>",
        ),
        **{f"/slide-{at}.png": _noise_image(dice, 220, 165) for at in range(3)},
        "/carousel.js": _script_answer(
            dice,
            40_000,
            "work(5); const slides = [...document.querySelectorAll('.slides img')]; let at = 0;"
            "const turn = () => { work(1); slides[at].className = ''; at = (at + 1) % 3;"
            " slides[at].className = 'shown'; }; setTimeout(turn, 1000);",
        ),
    }


def _page_answer(head: str, body: str) -> Answer:
    return Answer(
        '<!doctype html><html lang=en><head><meta charset=utf-8><meta name=viewport content="width=device-width">'
        f"<title>A page</title><style>body {{ margin: 8px }} img {{ display: block }}</style>{head}</head>"
        f"<body>{body}</body></html>"
    )


def _style_sheet(dice: Random, size: int, rules: str = "") -> Answer:
    lines = [f".x{dice.randrange(10**9)} {{ color: #{dice.randrange(0x999999):06x} }}" for _ in range(size // 32)]
    return Answer("\n".join([rules, *lines]), headers={"Content-Type": "text/css"})


def _script_answer(dice: Random, size: int, code: str, *, is_first: bool = True) -> Answer:
    filler = "\n".join(f"// {dice.randrange(10**60)}" for _ in range(size // 64))
    return Answer(f"{WORK if is_first else ''}{code}\n{filler}", headers={"Content-Type": "text/javascript"})


def _random_words(dice: Random, count: int) -> str:
    return " ".join("".join(dice.choice("aeinorst") for _ in range(dice.randrange(3, 9))) for _ in range(count))


def _noise_image(dice: Random, width: int, height: int) -> Answer:
    """Return a PNG of random noise, which does not compress."""

    def png_chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    rows = b"".join(b"\0" + dice.randbytes(width * 3) for _ in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = png_chunk(b"IHDR", header) + png_chunk(b"IDAT", zlib.compress(rows)) + png_chunk(b"IEND", b"")
    return Answer(b"\x89PNG\r\n\x1a\n" + body, headers={"Content-Type": "image/png"})
