"""Probe for sitemaps, and for a sample of those that sitemap indexes list."""

from __future__ import annotations

import concurrent.futures
import re
from collections.abc import Sequence

from msgspec.structs import replace

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
from website_scan.page.fetch import RateLimitedBySite, SiteProtected, detect_challenge

MAX_SITEMAPS = 5
MAX_INDEXED_SITEMAPS = 5
MAX_CONCURRENT_REQUESTS = 5
MAX_BODY_BYTES = 5 * 1024 * 1024  # A compressed sitemap of the maximum size is smaller than this limit.
REQUEST_TIMEOUT_S = 15.0


@probe()
def sitemaps(page: Page, canonicals: Canonicals, robots: RobotsFile | None, network: Network) -> Sitemaps:
    """Load up to five sitemaps.

    Sitemap indexes add up to five more.

    The sitemaps are those in robots.txt, or else those at the usual URLs. Missing and invalid sitemaps are part of the
    evidence. Raises `SiteProtected`, `TimedOut` or `BudgetExceeded` if no sitemap got a conclusive response.
    """
    loader = _SitemapLoader(page, canonicals, network)
    named = tuple(dict.fromkeys(robots.robots.sitemaps if robots else ()))
    if named:
        files = loader.load(named[:MAX_SITEMAPS])
    else:
        # Many sites answer every URL with a page, so a sitemap must have its root element.
        candidates = loader.load(USUAL)
        usual = [file for file in candidates if not file.is_conclusive or (file.sitemap and file.sitemap.kind)]
        # One of the usual sitemap URLs often redirects to another one, so each final URL counts once.
        files = tuple({file.url: file for file in usual}.values())
    if loader.errors and not any(file.is_conclusive for file in files):
        raise loader.errors[0]
    indexes = [file.sitemap for file in files if file.sitemap and file.sitemap.kind is SitemapKind.INDEX]
    loaded = {file.url for file in files}
    children = dict.fromkeys(url for index in indexes for url in index.children if url not in loaded)
    return Sitemaps(files, len(named), loader.load(sampled(list(children), MAX_INDEXED_SITEMAPS)))


class _SitemapLoader:
    """Loader of a page's sitemaps.

    `errors` are inconclusive failures, such as timeouts.
    """

    def __init__(self, page: Page, canonicals: Canonicals, network: Network) -> None:
        self._page = page
        self._page_urls = canonicals.own_urls
        self._network = network
        self.errors: list[NetError | SiteProtected] = []

    def load(self, addresses: Sequence[str]) -> tuple[SitemapFile, ...]:
        """Load the sitemaps, and return them in the order of their URLs."""
        with concurrent.futures.ThreadPoolExecutor(MAX_CONCURRENT_REQUESTS, "sitemap") as pool:
            return tuple(pool.map(self._load, addresses))

    def _load(self, address: str) -> SitemapFile:
        try:
            target = self._page.target.join(address)
        except (NetError, InvalidUrl) as error:
            return SitemapFile(address, error=str(error))
        file = SitemapFile(target.url)
        try:
            response = fetch_sitemap(target, self._network, max_bytes=MAX_BODY_BYTES, timeout_s=REQUEST_TIMEOUT_S)
        except (TimedOut, BudgetExceeded) as error:
            return self._record_inconclusive(file, error)
        except (NetError, InvalidUrl) as error:
            return replace(file, error=str(error))
        file = replace(file, url=response.url, status=response.status)
        if response.status == 429:
            return self._record_inconclusive(file, RateLimitedBySite())
        if sign := detect_challenge(response):
            return self._record_inconclusive(
                file, SiteProtected(f"The site's protection answered for a sitemap: {sign}.")
            )
        if not 200 <= response.status < 300:
            return file
        return replace(file, sitemap=self._parse_sitemap(response))

    def _parse_sitemap(self, response: Response) -> Sitemap:
        hosts = frozenset({self._page.target.host, self._page.target.join(response.url).host})
        sitemap = parse_sitemap(response.body, is_cut=response.truncated, hosts=hosts, pages=self._page_urls)
        length = response.headers.get("Content-Length") or ""
        if sitemap.is_whole or "Content-Encoding" in response.headers or not re.fullmatch(r"\d{1,15}", length):
            return sitemap
        is_compressed = sitemap.size_bytes > len(response.body)
        return sitemap if is_compressed else replace(sitemap, size_bytes=max(sitemap.size_bytes, int(length)))

    def _record_inconclusive(self, file: SitemapFile, error: NetError | SiteProtected) -> SitemapFile:
        self.errors.append(error)
        return replace(file, error=str(error), is_conclusive=False)
