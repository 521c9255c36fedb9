"""Previews of a page as a search result and as a shared link."""

from __future__ import annotations

from website_scan.crawl.link_relations import is_absolute
from website_scan.messages import excerpt
from website_scan.page.evidence import Document
from website_scan.page.markup import http_address
from website_scan.seo.metadata import (
    TITLE_FONT_SIZE_PX,
    advance_width,
    descriptions,
    read_social_metadata,
    titles,
)
from website_scan.stored_data import StoredSearchResult, StoredSharedLink
from website_scan.urls import Url

# A description in Google's desktop results may have two lines, about 160 letters.
MAX_TITLE_WIDTH_PX = 600
DESCRIPTION_FONT_SIZE_PX, MAX_DESCRIPTION_WIDTH_PX = 14, 990
MAX_TEXT_CHARACTERS, MAX_URL_CHARACTERS = 500, 300
ELLIPSIS = "…"


def search_result(document: Document, url: str) -> StoredSearchResult:
    """Return the page's preview as a search result.

    Title and description are truncated to the width of a search result. Missing values are empty.
    """
    social = read_social_metadata(document)
    title = next(titles(document), "")
    description = next(filter(None, descriptions(document)), "")
    return {
        "title": cut_to_width(excerpt(title, MAX_TEXT_CHARACTERS), TITLE_FONT_SIZE_PX, MAX_TITLE_WIDTH_PX),
        "description": cut_to_width(
            excerpt(description, MAX_TEXT_CHARACTERS), DESCRIPTION_FONT_SIZE_PX, MAX_DESCRIPTION_WIDTH_PX
        ),
        "url": excerpt(url, MAX_URL_CHARACTERS),
        "site": excerpt(social.site_name, 60),
    }


def shared_link(document: Document, url: str) -> StoredSharedLink:
    """Return the preview of a shared link, from Open Graph or its fallbacks.

    `image` is the URL of the image.
    """
    social = read_social_metadata(document)
    image = http_address(Url.parse(social.image, url)) if is_absolute(social.image) else None
    return {
        "title": excerpt(social.title or next(titles(document), ""), 120),
        "description": excerpt(social.description or next(filter(None, descriptions(document)), ""), 200),
        "site": excerpt(social.site_name, 60),
        "url": excerpt(url, MAX_URL_CHARACTERS),
        "image": excerpt(image or "", MAX_URL_CHARACTERS),
        "card": excerpt(social.card, 40),
    }


def cut_to_width(text: str, size_px: int, max_px: int) -> str:
    """Truncate a text to a width, and append an ellipsis.

    The text is cut between two words if possible.
    """
    if _text_width_px(text, size_px) <= max_px:
        return text
    remaining = max_px - _text_width_px(ELLIPSIS, size_px)
    length, used = 0, 0.0
    for character in text:
        used += _text_width_px(character, size_px)
        if used > remaining:
            break
        length += 1
    words, space, _ = text[:length].rpartition(" ")
    return (words if space and len(words) > length / 2 else text[:length]).rstrip() + ELLIPSIS


def _text_width_px(text: str, size_px: int) -> float:
    return sum(map(advance_width, text)) * size_px / 1000
