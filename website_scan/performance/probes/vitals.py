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

# Values of font-display with which text waits for its font (CSS Fonts, "font-display"); `auto` means `block`.
WAITING_FOR_FONT = frozenset({"", "auto", "block"})
BODY = re.compile(r"<body[\s>]", re.IGNORECASE)
TAG = re.compile(r"<(?:link|script|img|source|video|iframe|input)\b[^<>]{1,8000}>", re.IGNORECASE)
ADDRESS = re.compile(
    r"""\b(?:src|href|poster|srcset|imagesrcset)\s{0,9}=\s{0,9}(?:"([^"]{1,2000})"|'([^']{1,2000})'|([^\s"'>]{1,2000}))""",
    re.IGNORECASE,
)
LAZY = re.compile(r"\bloading\s{0,9}=\s{0,9}[\"']?lazy", re.IGNORECASE)
# A page with less text than this displays only a "please wait".
SHELL_LETTERS = 40
MAX_CHARACTERS = 2_000  # characters to read for these letters; most may be space between elements


@probe()
def measure(page: Page, document: AccessibleDocument, load: BrowserLoad, styles: Styles | None = None) -> Vitals:
    """Compute the web vitals from the browser's loads and the page's markup."""
    text = document.document.text
    body = BODY.search(text)
    letters = _count_letters(document)
    markup = Markup(
        is_empty=letters == 0,
        is_shell=letters < SHELL_LETTERS,
        lead_share=body.start() / len(text) if body else 0.0,
        holding_fonts=frozenset(
            face.url
            for face in (styles.faces if styles else ())
            if face.display in WAITING_FOR_FONT and not face.is_local
        ),
        places=_positions(document.document),
        redirects=tuple(hop.url for hop in page.hops[:-1]),
    )
    return vitals(load.loads, markup)


def _count_letters(document: AccessibleDocument) -> int:
    """Return the length of the text that the markup alone displays. An image counts as SHELL_LETTERS."""
    body = document.document.tree.body
    if body is None or next(document.exposed("img, picture, video, svg, canvas"), None) is not None:
        return SHELL_LETTERS
    return len(shown_text(document, body, MAX_CHARACTERS).strip())


def _positions(document: Document) -> Mapping[str, float]:
    """Return the position in the source, 0 to 1, at which a preload scanner finds each URL."""
    positions: dict[str, float] = {}
    for tag in TAG.finditer(document.text):
        if LAZY.search(tag[0]):
            continue  # the browser requests a lazy image only after layout
        for match in ADDRESS.finditer(tag[0]):
            # The first URL of a `srcset`, without its descriptor.
            words = (match[1] or match[2] or match[3]).split()
            url = http_address(Url.parse(unescape(words[0]), document.base.url)) if words else None
            if url:
                positions.setdefault(url, tag.start() / len(document.text))
    return positions
