from __future__ import annotations

import re
from collections.abc import Mapping
from html import unescape

from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.names import shown_text
from website_scan.browser.evidence import BrowserLoad
from website_scan.catalogue import probe
from website_scan.page.evidence import Document, Page
from website_scan.page.markup import http_address
from website_scan.performance.evidence import Styles
from website_scan.performance.vitals import Markup, Vitals, vitals
from website_scan.urls import Url

# With other values text is shown at once, or almost (CSS Fonts, "font-display"); browsers treat `auto` as `block`.
HOLDING = frozenset({"", "auto", "block"})
BODY = re.compile(r"<body[\s>]", re.IGNORECASE)
TAG = re.compile(r"<(?:link|script|img|source|video|iframe|input)\b[^<>]{1,8000}>", re.IGNORECASE)
ADDRESS = re.compile(
    r"""\b(?:src|href|poster|srcset|imagesrcset)\s{0,9}=\s{0,9}(?:"([^"]{1,2000})"|'([^']{1,2000})'|([^\s"'>]{1,2000}))""",
    re.IGNORECASE,
)
LAZY = re.compile(r"\bloading\s{0,9}=\s{0,9}[\"']?lazy", re.IGNORECASE)
# A page with less text than this shows only a "please wait".
SHELL_LETTERS = 40
READ = 2_000  # characters to look for them, of which most may be space between elements


@probe()
def measure(page: Page, document: AccessibleDocument, load: BrowserLoad, styles: Styles | None = None) -> Vitals:
    """Compute the vitals of all loads."""
    text = document.document.text
    body = BODY.search(text)
    letters = _letters(document)
    markup = Markup(
        is_empty=letters == 0,
        is_shell=letters < SHELL_LETTERS,
        lead_share=body.start() / len(text) if body else 0.0,
        holding_fonts=frozenset(
            each.url for each in (styles.faces if styles else ()) if each.display in HOLDING and not each.is_local
        ),
        places=_places(document.document),
        redirects=tuple(each.url for each in page.hops[:-1]),
    )
    return vitals(load.loads, markup)


def _letters(document: AccessibleDocument) -> int:
    """Return the length of the text that the markup shows by itself, of which an image is worth enough."""
    body = document.document.tree.body
    if body is None or next(document.exposed("img, picture, video, svg, canvas"), None) is not None:
        return SHELL_LETTERS
    return len(shown_text(document, body, READ).strip())


def _places(document: Document) -> Mapping[str, float]:
    """Return the position in the source, 0 to 1, at which a preload scanner finds each URL."""
    found: dict[str, float] = {}
    for tag in TAG.finditer(document.text):
        if LAZY.search(tag[0]):
            continue  # requested when the page is laid out
        for each in ADDRESS.finditer(tag[0]):
            # Of `srcset` the first URL, without its descriptor.
            written = (each[1] or each[2] or each[3]).split()
            url = http_address(Url.parse(unescape(written[0]), document.base.url)) if written else None
            if url:
                found.setdefault(url, tag.start() / len(document.text))
    return found
