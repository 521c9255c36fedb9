"""Social cards: what shows when somebody shares the page."""

from __future__ import annotations

import ada_url

from scans.engine.catalogue import Category, check
from scans.engine.findings import LOW, Finding, NotApplicable, Pass, Warn
from scans.engine.messages import excerpt
from scans.engine.page.evidence import Document, Page
from scans.engine.seo.canonical import ABSOLUTE, canonicals, named_url
from scans.engine.seo.evidence import ShareImage
from scans.engine.seo.hreflang import same_escapes
from scans.engine.seo.social import share_picture, share_property

CATEGORY = Category("Social cards", weight=3)

NOT_HTML = NotApplicable("The page is not HTML.")
OPEN_GRAPH = "The Open Graph protocol"


@check(
    "og-title",
    name="Title for sharing",
    severity=LOW,
    fix='Add to the head: <meta property="og:title" content="…">',
    references=(OPEN_GRAPH,),
)
def og_title(page: Page, document: Document) -> Finding:
    """Networks show it above the link."""
    if not page.is_html:
        return NOT_HTML
    title = share_property(document, "og:title")
    if not title:
        return Warn("No og:title, so networks make a title up when somebody shares the page.")
    return Pass(f"og:title is “{excerpt(title, 80)}”.")


@check(
    "og-image",
    name="Picture for sharing",
    severity=LOW,
    fix='Add to the head: <meta property="og:image" content="https://…"> with an absolute address that answers.',
    references=(OPEN_GRAPH,),
)
def og_image(page: Page, document: Document, image: ShareImage) -> Finding:
    """A link with a picture is seen."""
    if not page.is_html:
        return NOT_HTML
    reference = share_picture(document)
    if not reference:
        return Warn("No og:image, so a shared link has no picture.")
    shown = excerpt(reference, 120)
    if not ABSOLUTE.match(reference):
        return Warn(f"og:image is not an absolute address, so networks do not find it: {shown}")
    if image.status is None:
        return Warn(f"og:image does not load ({excerpt(image.error.rstrip('.'))}): {shown}")
    if image.status != 200:
        return Warn(f"og:image answers with status {image.status}: {shown}")
    return Pass(f"og:image loads: {shown}")


@check(
    "og-url",
    name="Address for sharing",
    severity=LOW,
    fix='Give og:url the canonical address: <meta property="og:url" content="https://…">',
    references=(OPEN_GRAPH,),
)
def og_url(page: Page, document: Document) -> Finding:
    """Networks count likes for this address."""
    if not page.is_html:
        return NOT_HTML
    reference = share_property(document, "og:url")
    if not reference:
        return Warn("No og:url, so networks count shares for every spelling of the address apart.")
    expected = named_url(canonicals(page, document)) or None
    try:
        url = ada_url.URL(reference, page.target.url)
    except ValueError:
        return Warn(f"og:url is no address: {excerpt(reference, 120)}")
    url.hash = ""
    if url.protocol not in ("http:", "https:"):
        return Warn(f"og:url is no address on the web: {excerpt(reference, 120)}")
    if expected is not None and same_escapes(url.href.removesuffix("#")) != same_escapes(expected):
        return Warn(f"og:url is {excerpt(url.href, 120)}, but the canonical address is {excerpt(expected, 120)}.")
    return Pass(f"og:url is {excerpt(url.href, 120)}.")


@check(
    "twitter-card",
    name="Card for X",
    severity=LOW,
    fix='Add to the head: <meta name="twitter:card" content="summary_large_image">',
    references=("X developer platform: cards",),
)
def twitter_card(page: Page, document: Document) -> Finding:
    """Without it a shared link is a line of text there."""
    if not page.is_html:
        return NOT_HTML
    card = share_property(document, "twitter:card")
    if not card:
        return Warn("No twitter:card, so the link is shown without a card.")
    return Pass(f"twitter:card is “{excerpt(card, 40)}”.")
