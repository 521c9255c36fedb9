"""Arrival of a visit at a URL that discovery has listed: whether it is a page of the list, and where it leads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from website_scan.crawl.discovery.addresses import Site, identity, is_file
from website_scan.crawl.discovery.markup import Markup, read_markup
from website_scan.net.targets import Target
from website_scan.page.evidence import Page


@dataclass(frozen=True, slots=True)
class Arrival:
    """What a visit has found at a listed URL, by its response alone. Paths have their query.

    `fault` is why it is no page of the list, as a sentence; empty if it is one. `other` is the page of the site that it
    redirects to, or that it names as its canonical URL. With `keeps_without_other` it stays listed unless that one is.
    """

    fault: str = ""
    other: str | None = None
    keeps_without_other: bool = False
    links: tuple[str, ...] = ()


def arrive(listed: Target, page: Page, agent: str, *, is_linked: bool) -> Arrival:
    """Return what a visit of a listed URL has found. `is_linked`: only links lead there, no sitemap names it."""
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
    links = tuple(dict.fromkeys(_paths(site, markup)))
    canonical = site.path(markup.canonical, page.target.url) if markup.canonical else None
    if canonical is not None and identity(canonical) != identity(own):
        return Arrival("It names another page of the site as canonical.", canonical, True, links)
    return Arrival(links=links)


def _paths(site: Site, markup: Markup) -> Iterator[str]:
    for url in markup.links:
        path = site.path(url, url)
        if path is not None and not is_file(path):
            yield path
