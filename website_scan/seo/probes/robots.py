"""Probe of robots.txt."""

from __future__ import annotations

from website_scan.catalogue import probe
from website_scan.crawl.robots_file import RobotsFile, load_robots
from website_scan.net.client import Network
from website_scan.page.evidence import Page


@probe(of_origin=True)
def robots_file(page: Page, network: Network) -> RobotsFile:
    """Load the robots.txt of the page's final origin, after redirects."""
    return load_robots(page.target, network)
