"""Tests for the time limits of the browser probe."""

from __future__ import annotations

from msgspec import Struct, field

from tests.website_scan.cast import POLICY, page
from website_scan.browser.evidence import BrowserLoad
from website_scan.browser.probe import NOTHING, load_in_browser
from website_scan.browser.visit import Visit
from website_scan.findings import ScanType
from website_scan.net.client import Network
from website_scan.page.evidence import ScanTypes
from website_scan.viewing import Viewing

SCAN_TIME_LIMIT_S = 60.0


class RecordingBrowser(Struct):
    """Fake browser that records its time limits."""

    network: Network
    start_limits: list[float] = field(default_factory=list)
    visit_limits: list[float] = field(default_factory=list)

    def start(self, limit_s: float) -> None:
        self.start_limits.append(limit_s)

    def load(self, visit: Visit) -> BrowserLoad:
        self.visit_limits.append(visit.time_limit_s)
        return NOTHING


def test_browser_start_may_take_half_of_the_scan_time() -> None:
    with Network(POLICY, time_limit_s=SCAN_TIME_LIMIT_S) as network:
        browser = RecordingBrowser(network)
        load_in_browser(page("<p>Text"), network, browser, ScanTypes((ScanType.ACCESSIBILITY,)), Viewing())
    assert 25 < browser.start_limits[0] <= SCAN_TIME_LIMIT_S / 2
    assert 0 < browser.visit_limits[0] <= 25


def test_page_without_html_starts_no_browser() -> None:
    with Network(POLICY, time_limit_s=SCAN_TIME_LIMIT_S) as network:
        browser = RecordingBrowser(network)
        browser_load = load_in_browser(
            page("{}", ("Content-Type", "application/json")),
            network,
            browser,
            ScanTypes((ScanType.ACCESSIBILITY,)),
            Viewing(),
        )
    assert browser_load is NOTHING
    assert browser.start_limits == []
