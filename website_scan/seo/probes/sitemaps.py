"""Sitemap probe: sitemaps named in robots.txt, else in the usual places, and some of those that an index names."""

from __future__ import annotations

import concurrent.futures
import re
from collections.abc import Sequence
from dataclasses import replace

from website_scan.catalogue import probe
from website_scan.crawl.canonicals import Canonicals
from website_scan.crawl.links import sampled
from website_scan.crawl.robots_file import RobotsFile
from website_scan.crawl.sitemap_requests import USUAL, fetch_sitemap
from website_scan.crawl.sitemaps import Sitemap, SitemapFile, SitemapKind, Sitemaps, parse_sitemap
from website_scan.net.client import Network
from website_scan.net.errors import BudgetExceeded, NetError, TimedOut
from website_scan.net.http.response import Response
from website_scan.net.targets import InvalidUrl
from website_scan.page.evidence import Page
from website_scan.page.fetch import RateLimitedBySite, SiteProtected, challenge_sign

MAX_NAMED = 5
MAX_CHILDREN = 5
AT_ONCE = 5
MAX_BYTES = 5 * 1024 * 1024  # on the wire; with compression, this holds the largest sitemap that is allowed
TIMEOUT_S = 15.0


@probe()
def sitemaps(page: Page, canonicals: Canonicals, robots: RobotsFile | None, network: Network) -> Sitemaps:
    """Load the first five sitemaps of robots.txt, or those in the usual places, and up to five that indexes name.

    A missing or invalid sitemap is evidence. Raises `SiteProtected`, `TimedOut` or `BudgetExceeded` if nothing is
    known about any of them.
    """
    loader = _Loader(page, canonicals, network)
    named = tuple(dict.fromkeys(robots.robots.sitemaps if robots else ()))
    if named:
        files = loader.load(named[:MAX_NAMED])
    else:
        # Many sites answer every address with something. Only a root element of a sitemap, even broken, proves one.
        found = [each for each in loader.load(USUAL) if not each.is_conclusive or (each.sitemap and each.sitemap.kind)]
        files = tuple({each.url: each for each in found}.values())  # one often redirects to the other
    if loader.errors and not any(each.is_conclusive for each in files):
        raise loader.errors[0]
    indexes = [each.sitemap for each in files if each.sitemap and each.sitemap.kind is SitemapKind.INDEX]
    known = {each.url for each in files}
    names = dict.fromkeys(url for index in indexes for url in index.children if url not in known)
    return Sitemaps(files, len(named), loader.load(sampled(list(names), MAX_CHILDREN)))


class _Loader:
    """Loads sitemaps for one page. `errors` are those that prove nothing about a sitemap."""

    def __init__(self, page: Page, canonicals: Canonicals, network: Network) -> None:
        self._page = page
        self._wanted = canonicals.own_urls
        self._network = network
        self.errors: list[NetError | SiteProtected] = []

    def load(self, addresses: Sequence[str]) -> tuple[SitemapFile, ...]:
        """Load each address. The results are in the same order."""
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE, "sitemap") as pool:
            return tuple(pool.map(self._load, addresses))

    def _load(self, address: str) -> SitemapFile:
        try:
            target = self._page.target.join(address)
        except (NetError, InvalidUrl) as error:
            return SitemapFile(address, error=str(error))
        file = SitemapFile(target.url)
        try:
            response = fetch_sitemap(target, self._network, max_bytes=MAX_BYTES, timeout_s=TIMEOUT_S)
        except (TimedOut, BudgetExceeded) as error:
            return self._inconclusive(file, error)
        except (NetError, InvalidUrl) as error:
            return replace(file, error=str(error))
        file = replace(file, url=response.url, status=response.status)
        if response.status == 429:
            return self._inconclusive(file, RateLimitedBySite())
        if sign := challenge_sign(response):
            return self._inconclusive(file, SiteProtected(f"The site's protection answered for a sitemap: {sign}."))
        if not 200 <= response.status < 300:
            return file
        return replace(file, sitemap=self._read(response))

    def _read(self, response: Response) -> Sitemap:
        hosts = frozenset({self._page.target.host, self._page.target.join(response.url).host})
        found = parse_sitemap(response.body, is_cut=response.truncated, hosts=hosts, pages=self._wanted)
        length = response.headers.get("Content-Length") or ""
        if found.is_whole or "Content-Encoding" in response.headers or not re.fullmatch(r"\d{1,15}", length):
            return found
        is_compressed = found.size_bytes > len(response.body)
        return found if is_compressed else replace(found, size_bytes=max(found.size_bytes, int(length)))

    def _inconclusive(self, file: SitemapFile, error: NetError | SiteProtected) -> SitemapFile:
        self.errors.append(error)
        return replace(file, error=str(error), is_conclusive=False)
