"""Previews of links in chats and social networks (Open Graph): titles, and addresses of pictures."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from django.urls import reverse

from infrastructure.web.cards.drawing import BRAND
from infrastructure.web.cards.responses import digest_of
from website_scan.messages import cut
from website_scan.written_urls import split_url

HOST_LENGTH, PATH_LENGTH = 60, 40


@dataclass(frozen=True, slots=True)
class Preview:
    """Title of a page, which is the text alternative of its card as well, and the path of the card."""

    title: str
    picture: str


def title_of(result: str, url: str) -> str:
    """Return the title of a page about a URL: the result, such as "F (49): security of", and the short address."""
    host, path = address_of(url)
    # The end of a host says whose it is, as on the card.
    host = host if len(host) <= HOST_LENGTH else f"…{host[1 - HOST_LENGTH :]}"
    return printable(f"{result} {host}{cut(path, PATH_LENGTH) if path != '/' else ''}")


def printable(text: str) -> str:
    """Replace control characters, and those that change the direction of a text."""
    return "".join(each if each.isprintable() else "?" for each in text)


def address_of(url: str) -> tuple[str, str]:
    """Return host and path of a canonical URL, without the query, which may hold what is nobody else's business."""
    parts = split_url(url)
    return parts.netloc, parts.path


def day_of(moment: date) -> str:
    """Return a day, such as "26 Nov 2026"."""
    return f"{moment.day} {moment:%b %Y}"


def brand_address(digest: str) -> str:
    return reverse("brand-card", args=[digest])


def brand_preview() -> Preview:
    """Return the preview of public pages, which have titles of their own."""
    return Preview("Website Scan Service: scan a page, watch a site, gate a build", brand_address(digest_of(BRAND)))
