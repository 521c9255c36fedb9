"""Titles and picture addresses for link previews in chats and social networks (Open Graph)."""

from __future__ import annotations

from datetime import date

from django.urls import reverse
from msgspec import Struct

from infrastructure.web.cards.drawing import BRAND
from infrastructure.web.cards.responses import digest_of
from website_scan.messages import cut
from website_scan.written_urls import split_url

HOST_LENGTH, PATH_LENGTH = 60, 40


class Preview(Struct, frozen=True):
    """A page's link preview.

    `title` is also the picture's alternative text, and `picture` is its path.
    """

    title: str
    picture: str


def title_of(result: str, url: str) -> str:
    """Return a scanned URL's preview title: a result, such as "F (49): security of", and the shortened URL."""
    host, path = address_of(url)
    # Long hosts are cut at the beginning, because the end of a host identifies its owner.
    host = host if len(host) <= HOST_LENGTH else f"…{host[1 - HOST_LENGTH :]}"
    return printable(f"{result} {host}{cut(path, PATH_LENGTH) if path != '/' else ''}")


def printable(text: str) -> str:
    """Replace control characters, and characters that change the text direction, by question marks."""
    return "".join(character if character.isprintable() else "?" for character in text)


def address_of(url: str) -> tuple[str, str]:
    """Return a canonical URL's host and path.

    The query is left out, because it may contain private data.
    """
    parts = split_url(url)
    return parts.netloc, parts.path


def day_of(moment: date) -> str:
    """Return a date as text, such as "26 Nov 2026"."""
    return f"{moment.day} {moment:%b %Y}"


def brand_address(digest: str) -> str:
    return reverse("brand-card", args=[digest])


def brand_preview() -> Preview:
    """Return the link preview for public pages such as the start page."""
    return Preview("Website Scan Service: scan a page, watch a site, gate a build", brand_address(digest_of(BRAND)))
