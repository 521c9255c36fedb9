"""A page with many faults, harmless edits, and edits that add a fault."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from tests.targets.server import Answer

Edit = Callable[[str], str]

PAGE = """<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <title>A bakery in the old town</title>
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <link rel="stylesheet" href="/app.3f2a1b9c.css?v=1">
    <script nonce="r4nd0m" src="/menu.3f2a1b9c.js?v=1"></script>
  </head>
  <body>
    <header><nav aria-label="Main"><ul><li><a href="/cart?from=1"></a></li><li><a href="/a">Offers</a></li></ul></nav>
    </header>
    <main>
      <h1>Fresh from the oven</h1>
      <section class="intro">
        <p style="color: #bbbbbb">We bake every morning.</p>
        <img src="/hero.3f2a1b9c.jpg?w=640" width="400" height="300">
        <a href="http://plain.example.net/?s=1" target="_blank">Our mill</a>
      </section>
      <section class="search">
        <input type="text" name="q" style="margin: 40px; height: 40px">
        <button class="go" type="button" style="margin: 40px; width: 40px; height: 40px"></button>
        <select class="size" id="radix-12" style="margin: 40px; height: 40px"><option>Small</option></select>
        <iframe src="/map?zoom=3" width="300" height="200"></iframe>
      </section>
      <ul class="products">
        <li><img src="/products/1.jpg" width="40" height="40"> Bread</li>
        <li><img src="/products/2.jpg" width="40" height="40"> Rolls</li>
        <li><img src="/products/3.jpg" width="40" height="40"> Cake</li>
      </ul>
    </main>
    <footer><img src="/logo.svg" width="40" height="40"> <p tabindex="5">Since 1901</p></footer>
  </body>
</html>
"""
HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": "script-src 'nonce-r4nd0m' 'unsafe-eval'",
    "X-Content-Type-Options": "nosniff",
    "Set-Cookie": "wp_session_3f2a1b9c7d=1; Path=/",
    "Server": "nginx/1.25.3",
}


def replacing_edit(old: str, new: str) -> Edit:
    """Return an edit that replaces a text.

    The page must contain the text.
    """

    def edit(page: str) -> str:
        assert old in page, old
        return page.replace(old, new)

    return edit


def reorder_list(page: str) -> str:
    first, *others = re.findall(r"<li><img.*</li>", page)
    return page.replace(first, "").replace(others[-1], others[-1] + first)


def reorder_attributes(page: str) -> str:
    def reversed_tag(tag: re.Match[str]) -> str:
        attributes = re.findall(r'[\w-]+="[^"]*"', tag[2])
        return f"<{tag[1]} {' '.join(reversed(attributes))}>"

    return re.sub(r'<(\w+)((?: [\w-]+="[^"]*")+)>', reversed_tag, page)


def add_class(page: str) -> str:
    page = re.sub(r'class="', 'class="added ', page)
    return re.sub(r"<(main|img|input|a|p|iframe|body|li|section)(?=[ >])(?![^>]*class=)", r'<\1 class="added"', page)


def minify(page: str) -> str:
    return re.sub(r">\s+<", "><", page)


HARMLESS: Mapping[str, Edit] = {
    "an ancestor was added": lambda page: replacing_edit("</main>", "</main></div>")(
        replacing_edit("<main>", '<div class="wrapper"><main>')(page)
    ),
    "an ancestor was moved": lambda page: re.sub(
        r'(?s)(<section class="intro">.*?</section>)(\s*)(<section class="search">.*?</section>)',
        r"<div><div>\3</div>\2\1</div>",
        page,
    ),
    "a new nonce": replacing_edit("r4nd0m", "0th3r"),
    "other digests": replacing_edit("3f2a1b9c", "0a9b8c7d"),
    "a reordered list": reorder_list,
    "reordered attributes": reorder_attributes,
    "an added class": add_class,
    "other queries": lambda page: re.sub(r"(?<=\?)\w+=\d+", "t=1700000001", page),
    "a new paragraph": replacing_edit("<h1>", "<p>Closed on Monday.</p><h1>"),
    "other entries of a list": lambda page: replacing_edit("/products/2.jpg", "/products/7.jpg")(
        replacing_edit("</ul>\n    </main>", '<li><img src="/products/9.jpg" alt="A pie"> Pie</li></ul>\n    </main>')(
            page
        )
    ),
    "one entry less": lambda page: re.sub(r"<li><img[^<]*products/3.*\n", "", page),
    "minified markup": minify,
    "another generated ID": replacing_edit("radix-12", "radix-40"),
}
FAULTS: Mapping[str, Edit] = {
    "a second image like the first": replacing_edit(
        "<h1>", '<img src="/hero.3f2a1b9c.jpg?w=640" width="4" height="3"><h1>'
    ),
    "ten more images like the first": replacing_edit(
        "<h1>", '<img src="/hero.3f2a1b9c.jpg" width="4" height="3">' * 10 + "<h1>"
    ),
    "another image": replacing_edit("<h1>", '<img src="/new.jpg" width="4" height="3"><h1>'),
    "one image mended, and another one broken": lambda page: replacing_edit(
        '<img src="/logo.svg"', '<img src="/hero.3f2a1b9c.jpg" alt="Bread"><img src="/flag.svg"'
    )(page),
    "an entry of a list with the same fault": replacing_edit(
        "</ul>\n    </main>", '<li><img src="/9.jpg"></li></ul>\n    </main>'
    ),
    "a second button without a name": replacing_edit("</section>", '<button type="button"></button></section>'),
    "a link without a name": replacing_edit("<h1>", '<a href="/account"></a><h1>'),
    "a field without a label": replacing_edit("<h1>", '<input name="mail"><h1>'),
    "another frame without a title": replacing_edit("<h1>", '<iframe src="/film"></iframe><h1>'),
    "no language": replacing_edit(' lang="en"', ""),
    "no title": lambda page: re.sub("<title>.*</title>", "", page),
    "an ID twice in a label": replacing_edit("<h1>", '<p aria-labelledby="gone" role="buton">A</p><h1>'),
}


def answer(page: str, **headers: str) -> Answer:
    nonce = re.search(r'nonce="(\w+)"', page)
    assert nonce is not None
    policy = HEADERS["Content-Security-Policy"].replace("r4nd0m", nonce[1])
    return Answer(page, headers=HEADERS | {"Content-Security-Policy": policy} | headers)
