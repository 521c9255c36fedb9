"""What the reader of sitemaps and the crawler of one discovery share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from website_scan.crawl.discovery.addresses import Site
from website_scan.crawl.discovery.effort import Effort, Pace
from website_scan.crawl.discovery.pages import PageList
from website_scan.net.client import Network


@dataclass(frozen=True, slots=True)
class CrawlContext:
    """The site, the list that its pages are added to, and the limits of the search.

    `agent` is the product token for robots.txt. `tell` gets the number of pages found so far.
    """

    site: Site
    network: Network
    pages: PageList
    effort: Effort
    pace: Pace
    agent: str
    max_pages: int
    tell: Callable[[int], None]
