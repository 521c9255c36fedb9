"""An accessibility scan of a site on loopback, through the engine's entry point."""

from __future__ import annotations

from tests.targets.server import Answer, Site
from tests.website_scan.cast import POLICY, body, target
from website_scan.catalogue import checks
from website_scan.findings import ScanType
from website_scan.net.client import Network
from website_scan.result import Budget, ScanResult
from website_scan.run import scan


def scanned(markup: str) -> ScanResult:
    with Site({"/": Answer(body(markup))}) as site, Network(POLICY) as network:
        return scan(target(site.url), [ScanType.ACCESSIBILITY], network, Budget())[0]


def test_an_image_without_a_text_costs_the_top_grade() -> None:
    result = scanned("<img src=/a.png>")
    assert result.status == "completed"
    assert {each.id: each.status for each in result.checks}["image-alt"] == "fail"
    assert result.score is not None
    assert result.score <= 89


def test_a_page_in_order_is_a_completed_report_of_at_most_an_a() -> None:
    result = scanned("<main><h1>Shoes</h1><img src=/a.png alt='A shoe'></main>")
    assert result.status == "completed"
    assert {each.id: each.status for each in result.checks}["image-alt"] == "pass"
    assert result.grade == "A"


def test_a_page_that_is_not_html_has_nothing_to_judge() -> None:
    assert all(each.html for each in checks(ScanType.ACCESSIBILITY))
