"""A performance scan of a site on loopback, through the engine's entry point."""

from __future__ import annotations

import gzip
import threading
import time

from tests.targets.server import Answer, Site
from tests.website_scan.cast import POLICY, head, target
from website_scan.findings import ScanType
from website_scan.net.client import Network
from website_scan.page.fetch import fetch_page, page_references, parse_document
from website_scan.performance.evidence import Resources
from website_scan.performance.probes.resources import MAX_STORED_BYTES, resources
from website_scan.performance.probes.timing import timing
from website_scan.result import Budget, ScanResult
from website_scan.run import scan


def scanned(site: Site) -> ScanResult:
    with Network(POLICY) as network:
        return scan(target(site.url), [ScanType.PERFORMANCE], network, Budget())[0]


def loaded(site: Site, network: Network) -> Resources:
    page = fetch_page(target(site.url), network)
    return resources(page, page_references(parse_document(page)), timing(page, network), network)


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


def test_style_sheets_made_to_be_slow_cost_seconds_and_no_check_of_other_things() -> None:
    """Regression: 150 sheets of 4 kB on the wire, 1 MiB each to parse, took three minutes of CPU time.

    Most of that came after the scan's end.
    """
    slow = gzip.compress(b"{}" * (512 * 1024))
    sheets = {f"/{number}.css": Answer(slow, headers={"Content-Encoding": "gzip"}) for number in range(150)}
    links = "".join(f"<link rel=stylesheet href={path}>" for path in sheets)
    began_s = time.process_time()
    with Site({"/": Answer(head(links)), **sheets}) as site:
        result = scanned(site)
    probes = [each for each in threading.enumerate() if each.name.startswith("probe")]
    for each in probes:
        each.join(30)
    assert not any(each.is_alive() for each in probes)
    assert time.process_time() - began_s < 30
    assert result.score is not None
    statuses = {each.id: each.status for each in result.checks}
    assert statuses["ttfb"] == "pass"
    assert len(statuses) > 20


def test_many_large_bodies_are_not_all_held() -> None:
    text = gzip.compress(b"x" * 2_900_000)
    scripts = {f"/{number}.js": Answer(text, headers={"Content-Encoding": "gzip"}) for number in range(40)}
    page = head("".join(f"<script src={path}></script>" for path in scripts))
    with Site({"/": Answer(page), **scripts}) as site, Network(POLICY) as network:
        found = loaded(site, network)
    assert sum(len(each.body) for each in found.items) <= MAX_STORED_BYTES
    assert len(found.items) + found.left_out == 40
    assert found.left_out > 20
