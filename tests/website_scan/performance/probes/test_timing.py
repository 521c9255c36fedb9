"""Tests for the time to first byte."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.targets.server import Answer, Site
from tests.website_scan.cast import POLICY, target
from website_scan.net.client import Network
from website_scan.page.evidence import Page
from website_scan.page.fetch import fetch_page
from website_scan.performance.probes import timing as probe
from website_scan.performance.probes.timing import timing


def measure_ttfb(page: Page, site: Site, network: Network, ttfb_s: float) -> tuple[int, int]:
    """Return the number of measured times and the number of requests."""
    response = replace(page.response, ttfb_s=ttfb_s)
    before = len(site.requests)
    result = timing(replace(page, hops=(response,)), network)
    return len(result.ttfb_s), len(site.requests) - before


def test_third_measurement_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "MAX_DIFFERENCE_S", 5.0)
    with Site({"/": Answer("x")}) as site, Network(POLICY) as network:
        page = fetch_page(target(f"{site.url}/"), network)
        assert measure_ttfb(page, site, network, 0.01) == (2, 1)
        # The first two times differ, so a third request is needed.
        assert measure_ttfb(page, site, network, 20.0) == (3, 2)
