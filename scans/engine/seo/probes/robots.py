"""The site's robots.txt."""

from __future__ import annotations

from scans.engine.catalogue import probe
from scans.engine.crawling.robots_file import RobotsFile, load_robots
from scans.engine.page.evidence import Page
from scans.net.client import Network


@probe(of_origin=True)
def robots_file(page: Page, network: Network) -> RobotsFile:
    """The robots.txt of the origin where the page ended."""
    return load_robots(page.target, network)
