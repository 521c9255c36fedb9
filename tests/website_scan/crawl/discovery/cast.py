"""Shared helpers for tests of page discovery."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.targets.server import Site
from tests.website_scan.net.loopback import NETWORKS
from website_scan.crawl.discovery.discover import Discovery, Wish, discover, discovery_limits
from website_scan.net.client import Network
from website_scan.net.policy import Policy
from website_scan.net.targets import parse_target

BOTH = ("sitemap", "links")
POLICY = Policy(allowed_networks=NETWORKS)


def run_discovery(
    site: Site,
    start: str = "/",
    *,
    by: Sequence[str] = BOTH,
    max_pages: int = 100,
    include: tuple[str, ...] = (),
    exclude: tuple[str, ...] = (),
    time_limit_s: float = 60.0,
    report_progress: Callable[[int], None] = lambda _: None,
) -> Discovery:
    """Run discovery on a running site with the service's limits."""
    wish = Wish(parse_target(site.url + start, POLICY), frozenset(by), max_pages, include, exclude)
    with Network(POLICY, limits=discovery_limits(max_pages), time_limit_s=time_limit_s + 30) as network:
        return discover(wish, network, report_progress, time_limit_s)


def page_paths(site: Site, discovery: Discovery) -> list[str]:
    """Return the paths of the discovered pages."""
    assert all(url.startswith(site.url) for url in discovery.pages)
    return [url.removeprefix(site.url) for url in discovery.pages]
