"""A performance scan of a site on loopback, through the engine's one entry."""

from __future__ import annotations

from scans.engine.findings import ScanType
from scans.engine.result import Budget, ScanResult
from scans.engine.run import scan
from scans.net.client import Network
from tests.scans.engine.cast import POLICY, head, target
from tests.sites.server import Answer, Site


def scanned(site: Site) -> ScanResult:
    with Network(POLICY) as network:
        return scan(target(site.url), ScanType.PERFORMANCE, network, Budget())


def test_a_small_page_is_a_completed_report_of_at_most_an_a() -> None:
    with Site({"/": Answer(head("<link rel=stylesheet href=/a.css>")), "/a.css": Answer("p{color:red}")}) as site:
        result = scanned(site)
    statuses = {each.id: each.status for each in result.checks}
    assert result.status == "completed"
    assert statuses["broken-resources"] == statuses["est-load-time"] == statuses["ttfb"] == "pass"
    assert result.score is not None
    assert result.score <= 96


def test_a_missing_image_fails_the_check_and_not_the_scan() -> None:
    with Site({"/": Answer(head("", "<img src=/gone.png>"))}) as site:
        result = scanned(site)
    assert result.status == "completed"
    assert {each.id: each.status for each in result.checks}["broken-resources"] == "fail"


def test_of_what_is_not_html_the_way_to_it_is_judged() -> None:
    with Site({"/": Answer("%PDF-1.7", headers={"Content-Type": "application/pdf"})}) as site:
        result = scanned(site)
    assert {each.id for each in result.checks} == {"ttfb", "doc-redirects"}
    assert not result.skipped_checks
