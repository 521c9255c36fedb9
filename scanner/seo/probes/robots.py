"""The site's robots.txt."""

from __future__ import annotations

from scanner.catalogue import probe
from scanner.crawl.robots_file import RobotsFile, load_robots
from scanner.net.client import Network
from scanner.page.evidence import Page


@probe(of_origin=True)
def robots_file(page: Page, network: Network) -> RobotsFile:
    """Load the robots.txt of the origin where the page ended."""
    return load_robots(page.target, network)
