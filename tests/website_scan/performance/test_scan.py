"""Tests for performance scans of a site on loopback."""

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
from website_scan.performance.probes.resources import MAX_STORED_TOTAL_BYTES, resources
from website_scan.performance.probes.timing import timing
from website_scan.result import Budget, ScanResult
from website_scan.run import scan


def scan_site(site: Site) -> ScanResult:
    with Network(POLICY) as network:
        return scan(target(site.url), [ScanType.PERFORMANCE], network, Budget())[0]


def load_resources(site: Site, network: Network) -> Resources:
    fetched_page = fetch_page(target(site.url), network)
    return resources(
        fetched_page, page_references(parse_document(fetched_page)), timing(fetched_page, network), network
    )


def test_grade_without_browser_is_at_most_A() -> None:
    with Site({"/": Answer(head("<link rel=stylesheet href=/a.css>")), "/a.css": Answer("p{color:red}")}) as site:
        result = scan_site(site)
    statuses = {check.id: check.status for check in result.checks}
    assert result.status == "completed"
    assert statuses["broken-resources"] == statuses["est-load-time"] == statuses["ttfb"] == "pass"
    assert result.score is not None
    assert result.score <= 96


def test_missing_image_fails_only_a_check() -> None:
    with Site({"/": Answer(head("", "<img src=/gone.png>"))}) as site:
        result = scan_site(site)
    assert result.status == "completed"
    assert {check.id: check.status for check in result.checks}["broken-resources"] == "fail"


def test_pdf_is_judged_by_few_checks() -> None:
    with Site({"/": Answer("%PDF-1.7", headers={"Content-Type": "application/pdf"})}) as site:
        result = scan_site(site)
    assert {check.id for check in result.checks} == {"ttfb", "doc-redirects"}
    assert not result.skipped_checks


def test_malicious_style_sheets_cost_only_seconds() -> None:
    """Regression test: 150 style sheets took three minutes of CPU time.

    Each had 4 kB on the wire and 1 MiB to parse.

    Most of this time was after the end of the scan.
    """
    slow = gzip.compress(b"{}" * (512 * 1024))
    sheets = {f"/{number}.css": Answer(slow, headers={"Content-Encoding": "gzip"}) for number in range(150)}
    links = "".join(f"<link rel=stylesheet href={path}>" for path in sheets)
    start_s = time.process_time()
    with Site({"/": Answer(head(links)), **sheets}) as site:
        result = scan_site(site)
    probes = [thread for thread in threading.enumerate() if thread.name.startswith("probe")]
    for thread in probes:
        thread.join(30)
    assert not any(thread.is_alive() for thread in probes)
    assert time.process_time() - start_s < 30
    assert result.score is not None
    statuses = {check.id: check.status for check in result.checks}
    assert statuses["ttfb"] == "pass"
    assert len(statuses) > 20


def test_bodies_beyond_size_limit_are_left_out() -> None:
    text = gzip.compress(b"x" * 2_900_000)
    scripts = {f"/{number}.js": Answer(text, headers={"Content-Encoding": "gzip"}) for number in range(40)}
    page = head("".join(f"<script src={path}></script>" for path in scripts))
    with Site({"/": Answer(page), **scripts}) as site, Network(POLICY) as network:
        resources = load_resources(site, network)
    assert sum(len(resource.body) for resource in resources.items) <= MAX_STORED_TOTAL_BYTES
    assert len(resources.items) + resources.left_out == 40
    assert resources.left_out > 20
