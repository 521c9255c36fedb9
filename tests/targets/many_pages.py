"""A shop with many pages from three templates: front page, lists and articles. With a sitemap, or with links alone."""

from __future__ import annotations

from collections.abc import Sequence

from tests.targets.server import Answer, Site

XML = {"Content-Type": "application/xml"}
TEXT = {"Content-Type": "text/plain"}
NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
ON_ONE_LIST = 20


def document(title: str, links: Sequence[str] = (), head: str = "") -> str:
    """Return a page with these links."""
    items = "".join(f'<li><a href="{each}">{each}</a></li>' for each in links)
    return f'<!doctype html><html lang="en"><title>{title}</title>{head}<h1>{title}</h1><ul>{items}</ul></html>'


def urlset(*addresses: str) -> str:
    entries = "".join(f"<url><loc>{each}</loc></url>" for each in addresses)
    return f'<?xml version="1.0"?><urlset xmlns="{NAMESPACE}">{entries}</urlset>'


def sitemap_index(*addresses: str) -> str:
    entries = "".join(f"<sitemap><loc>{each}</loc></sitemap>" for each in addresses)
    return f'<sitemapindex xmlns="{NAMESPACE}">{entries}</sitemapindex>'


def shop_site(pages: int, *, with_sitemap: bool) -> Site:
    """Return the shop, not yet started. `pages` counts all: a front page, its lists, and the articles on those."""
    lists = -(-(pages - 1) // (ON_ONE_LIST + 1))
    articles = pages - 1 - lists
    site = Site()
    addresses = [f"/list-{name(number)}" for number in range(lists)]
    site.routes["/"] = Answer(document("Shop", addresses))
    for number, address in enumerate(list(addresses)):
        own = [
            f"{address}/article-{name(each)}"
            for each in range(number * ON_ONE_LIST, min(articles, (number + 1) * ON_ONE_LIST))
        ]
        addresses += own
        site.routes[address] = Answer(document(f"List {number}", ["/", *own]))
        for each in own:
            site.routes[each] = Answer(document(f"Article {each}", ["/", address, *own[:3]]))
    if with_sitemap:
        site.routes["/robots.txt"] = Answer(f"Sitemap: {site.url}/map.xml\n", headers=TEXT)
        site.routes["/map.xml"] = Answer(urlset(*(f"{site.url}{each}" for each in ("/", *addresses))), headers=XML)
    return site


def name(number: int) -> str:
    """Return a word for a number, so that addresses do not look numbered."""
    word = ""
    while True:
        number, rest = divmod(number, 26)
        word += chr(ord("a") + rest)
        if not number:
            return word
