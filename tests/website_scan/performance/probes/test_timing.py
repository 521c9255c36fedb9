"""Times to first byte: two times that agree are enough."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.targets.server import Answer, Site
from tests.website_scan.cast import POLICY, target
from website_scan.net.client import Network
from website_scan.page.evidence import Page
from website_scan.page.fetch import fetch_page
from website_scan.performance.probes import timing as probe
from website_scan.performance.probes.timing import timing


def measured(page: Page, site: Site, network: Network, ttfb_s: float) -> tuple[int, int]:
    """Return the number of measured times and of requests, for a page with this `ttfb_s`."""
    response = replace(page.response, ttfb_s=ttfb_s)
    before = len(site.requests)
    result = timing(replace(page, hops=(response,)), network)
    return len(result.ttfb_s), len(site.requests) - before


def test_two_times_that_agree_need_no_third(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "AGREEMENT_S", 5.0)
    with Site({"/": Answer("x")}) as site, Network(POLICY) as network:
        page = fetch_page(target(f"{site.url}/"), network)
        assert measured(page, site, network, 0.01) == (2, 1)
        assert measured(page, site, network, 20.0) == (3, 2)  # the first two times differ
