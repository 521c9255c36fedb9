from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from html import unescape

from website_scan.accessibility.document import AccessibleDocument
from website_scan.accessibility.names import shown_text
from website_scan.browser.evidence import BrowserLoad
from website_scan.browser.visit import Repetition
from website_scan.catalogue import probe
from website_scan.page.evidence import Document, Page
from website_scan.page.markup import http_address
from website_scan.performance.evidence import FontFace, Styles
from website_scan.performance.repetition import is_one_load_enough, needs_another_load
from website_scan.performance.vitals import MarkupFacts, Vitals, vitals
from website_scan.urls import Url

# Values of font-display that hide text until the font is loaded, such as `auto`.
HIDING_FONT_DISPLAY = frozenset({"", "auto", "block"})
BODY = re.compile(r"<body[\s>]", re.IGNORECASE)
TAG = re.compile(r"<(?:link|script|img|source|video|iframe|input)\b[^<>]{1,8000}>", re.IGNORECASE)
ADDRESS = re.compile(
    r"""\b(?:src|href|poster|srcset|imagesrcset)\s{0,9}=\s{0,9}(?:"([^"]{1,2000})"|'([^']{1,2000})'|([^\s"'>]{1,2000}))""",
    re.IGNORECASE,
)
LAZY = re.compile(r"\bloading\s{0,9}=\s{0,9}[\"']?lazy", re.IGNORECASE)
# A page with less text displays only a placeholder such as “please wait”.
MIN_CONTENT_LETTERS = 40
MAX_READ_CHARACTERS = 2_000  # Limit of text to read, because most of it may be white space.


@probe()
def repetition(page: Page, document: AccessibleDocument) -> Repetition:
    """Decide whether another load could change a verdict.

    The loads' web vitals decide.
    """
    markup = _read_markup(page, document, ())
    return Repetition(lambda loads: needs_another_load(loads, markup), lambda load: is_one_load_enough(load, markup))


@probe()
def measure(page: Page, document: AccessibleDocument, load: BrowserLoad, styles: Styles | None = None) -> Vitals:
    """Compute the web vitals from the browser's loads and the page's markup."""
    return vitals(load.loads, _read_markup(page, document, styles.faces if styles else ()))


def _read_markup(page: Page, document: AccessibleDocument, faces: Iterable[FontFace]) -> MarkupFacts:
    text = document.document.text
    body = BODY.search(text)
    letters = _count_letters(document)
    return MarkupFacts(
        is_empty=letters == 0,
        is_placeholder_page=letters < MIN_CONTENT_LETTERS,
        invisible_lead_share=body.start() / len(text) if body else 0.0,
        text_blocking_fonts=frozenset(
            face.url for face in faces if face.display in HIDING_FONT_DISPLAY and not face.is_local
        ),
        places=_url_positions(document.document),
        redirects=tuple(hop.url for hop in page.hops[:-1]),
    )


def _count_letters(document: AccessibleDocument) -> int:
    """Return the length of the text that the page displays without scripts.

    An image counts as MIN_CONTENT_LETTERS.
    """
    body = document.document.tree.body
    if body is None or next(document.exposed("img, picture, video, svg, canvas"), None) is not None:
        return MIN_CONTENT_LETTERS
    return len(shown_text(document, body, MAX_READ_CHARACTERS).strip())


def _url_positions(document: Document) -> Mapping[str, float]:
    """Return the positions of the URLs that a preload scanner finds.

    A position in the source is between 0 and 1.
    """
    positions: dict[str, float] = {}
    for tag in TAG.finditer(document.text):
        if LAZY.search(tag[0]):
            continue  # Browsers request a lazy image only after layout.
        for match in ADDRESS.finditer(tag[0]):
            # Only the first URL of a `srcset` counts.
            words = (match[1] or match[2] or match[3]).split()
            url = http_address(Url.parse(unescape(words[0]), document.base.url)) if words else None
            if url:
                positions.setdefault(url, tag.start() / len(document.text))
    return positions
