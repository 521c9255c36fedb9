"""The probe of the page in a browser: how a scan's time is shared."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.website_scan.cast import POLICY, page
from website_scan.browser.evidence import BrowserLoad
from website_scan.browser.probe import NOTHING, load_in_browser
from website_scan.browser.visit import Visit
from website_scan.findings import ScanType
from website_scan.net.client import Network
from website_scan.page.evidence import ScanTypes

SCAN_S = 60.0


@dataclass
class Clocked:
    """A browser that records the time it was given, and may take some of it to start."""

    network: Network
    start_limits: list[float] = field(default_factory=list)
    visit_limits: list[float] = field(default_factory=list)

    def start(self, limit_s: float) -> None:
        self.start_limits.append(limit_s)

    def load(self, visit: Visit) -> BrowserLoad:
        self.visit_limits.append(visit.time_limit_s)
        return NOTHING


def test_a_browser_may_take_half_of_a_scans_time_to_start() -> None:
    with Network(POLICY, time_limit_s=SCAN_S) as network:
        browser = Clocked(network)
        load_in_browser(page("<p>Text"), network, browser, ScanTypes((ScanType.ACCESSIBILITY,)))
    assert 25 < browser.start_limits[0] <= SCAN_S / 2
    assert 0 < browser.visit_limits[0] <= 25


def test_a_page_that_is_not_html_starts_no_browser() -> None:
    with Network(POLICY, time_limit_s=SCAN_S) as network:
        browser = Clocked(network)
        found = load_in_browser(
            page("{}", ("Content-Type", "application/json")), network, browser, ScanTypes((ScanType.ACCESSIBILITY,))
        )
    assert found is NOTHING
    assert browser.start_limits == []
