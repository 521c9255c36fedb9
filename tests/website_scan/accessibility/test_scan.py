"""Tests for accessibility scans of a loopback site."""

from __future__ import annotations

from tests.targets.server import Answer, Site
from tests.website_scan.cast import POLICY, body, target
from website_scan.catalogue import checks
from website_scan.findings import ScanType
from website_scan.net.client import Network
from website_scan.result import Budget, ScanResult
from website_scan.run import scan


def scan_page(markup: str) -> ScanResult:
    with Site({"/": Answer(body(markup))}) as site, Network(POLICY) as network:
        return scan(target(site.url), [ScanType.ACCESSIBILITY], network, Budget())[0]


def test_missing_alternative_text_prevents_an_A_plus() -> None:
    result = scan_page("<img src=/a.png>")
    assert result.status == "completed"
    assert {check.id: check.status for check in result.checks}["image-alt"] == "fail"
    assert result.score is not None
    assert result.score <= 89


def test_page_gets_at_most_an_A_without_a_browser() -> None:
    result = scan_page("<main><h1>Shoes</h1><img src=/a.png alt='A shoe'></main>")
    assert result.status == "completed"
    assert {check.id: check.status for check in result.checks}["image-alt"] == "pass"
    assert result.grade == "A"


def test_accessibility_checks_apply_to_HTML_only() -> None:
    assert all(check.html for check in checks(ScanType.ACCESSIBILITY))
