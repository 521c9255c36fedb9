"""Judge whether a visited URL stays in an audit's list.

This module also finds the pages that the URL links to.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from website_scan.crawl.discovery.addresses import Site, has_file_extension, identity
from website_scan.crawl.discovery.markup import Markup, read_markup
from website_scan.net.targets import Target
from website_scan.page.evidence import Page


class Arrival(Struct, frozen=True):
    """Result of visiting a listed URL, judged by its response alone.

    Paths include the query. `fault` is a sentence on why the URL is no page of the list; empty if it is a page. `other`
    is the page of the site to which the URL redirects or that is its canonical URL. With `stays_listed_without_other`,
    the URL stays listed unless the other page is listed.
    """

    fault: str = ""
    other: str | None = None
    stays_listed_without_other: bool = False
    links: tuple[str, ...] = ()


def arrive(listed: Target, page: Page, agent: str, *, is_linked: bool) -> Arrival:
    """Judge the response for a listed URL.

    `is_linked` is True if links lead to the URL, but no sitemap lists it.
    """
    site = Site(listed)
    own = site.path(listed.url, listed.url) or listed.path
    path = site.path(page.target.url, page.target.url)
    status = page.response.status
    if path is None:
        return Arrival(f"It redirects to {page.target.host}, which is another site.")
    if is_linked and 400 <= status < 500:
        return Arrival(f"A link leads here, and the response is an error: status {status}.")
    if identity(path) != identity(own):
        return Arrival("It redirects to another page of the site.", path)
    if status >= 400:
        return Arrival()
    if not page.is_html:
        return Arrival(f"It is not HTML but {page.media_type or 'of an unknown type'}.")
    markup = read_markup(page, agent) or Markup()
    links = tuple(dict.fromkeys(_linked_page_paths(site, markup)))
    canonical = site.path(markup.canonical, page.target.url) if markup.canonical else None
    if canonical is not None and identity(canonical) != identity(own):
        return Arrival("It names another page of the site as canonical.", canonical, True, links)
    return Arrival(links=links)


def _linked_page_paths(site: Site, markup: Markup) -> Iterator[str]:
    for url in markup.links:
        path = site.path(url, url)
        if path is not None and not has_file_extension(path):
            yield path
