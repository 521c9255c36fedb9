"""Shop with many pages from three templates, with or without a sitemap."""

from __future__ import annotations

from collections.abc import Sequence

from tests.targets.server import Answer, Site

XML = {"Content-Type": "application/xml"}
TEXT = {"Content-Type": "text/plain"}
NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
ARTICLES_PER_LIST = 20


def document(title: str, links: Sequence[str] = (), head: str = "") -> str:
    """Return an HTML document with this title and these links."""
    items = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
    return f'<!doctype html><html lang="en"><title>{title}</title>{head}<h1>{title}</h1><ul>{items}</ul></html>'


def urlset(*addresses: str) -> str:
    entries = "".join(f"<url><loc>{address}</loc></url>" for address in addresses)
    return f'<?xml version="1.0"?><urlset xmlns="{NAMESPACE}">{entries}</urlset>'


def sitemap_index(*addresses: str) -> str:
    entries = "".join(f"<sitemap><loc>{address}</loc></sitemap>" for address in addresses)
    return f'<sitemapindex xmlns="{NAMESPACE}">{entries}</sitemapindex>'


def shop_site(pages: int, *, with_sitemap: bool) -> Site:
    """Create a shop with `pages` pages in total.

    It has the front page, lists and articles.
    """
    lists = -(-(pages - 1) // (ARTICLES_PER_LIST + 1))
    articles = pages - 1 - lists
    site = Site()
    addresses = [f"/list-{name(number)}" for number in range(lists)]
    site.routes["/"] = Answer(document("Shop", addresses))
    for number, address in enumerate(list(addresses)):
        article_paths = [
            f"{address}/article-{name(index)}"
            for index in range(number * ARTICLES_PER_LIST, min(articles, (number + 1) * ARTICLES_PER_LIST))
        ]
        addresses += article_paths
        site.routes[address] = Answer(document(f"List {number}", ["/", *article_paths]))
        for article in article_paths:
            site.routes[article] = Answer(document(f"Article {article}", ["/", address, *article_paths[:3]]))
    if with_sitemap:
        site.routes["/robots.txt"] = Answer(f"Sitemap: {site.url}/map.xml\n", headers=TEXT)
        site.routes["/map.xml"] = Answer(urlset(*(f"{site.url}{path}" for path in ("/", *addresses))), headers=XML)
    return site


def name(number: int) -> str:
    """Return a word for a number.

    With words, URLs do not look like numbered pages.
    """
    word = ""
    while True:
        number, rest = divmod(number, 26)
        word += chr(ord("a") + rest)
        if not number:
            return word
