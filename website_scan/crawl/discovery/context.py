"""Context that the reader and crawler of a discovery share.

The reader is for sitemaps.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from website_scan.crawl.discovery.addresses import Site
from website_scan.crawl.discovery.effort import Effort, Pace
from website_scan.crawl.discovery.pages import PageList
from website_scan.net.client import Network


class CrawlContext(Struct, frozen=True):
    """Shared state of a discovery, such as its site, pages and limits.

    `agent` is the product token for robots.txt. `report_progress` is called with the number of pages found so far.
    """

    site: Site
    network: Network
    pages: PageList
    effort: Effort
    pace: Pace
    agent: str
    max_pages: int
    report_progress: Callable[[int], None]
