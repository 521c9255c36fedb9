"""Performance scans of a site on loopback, through the engine's entry point."""

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
    fetched_page = fetch_page(target(site.url), network)
    return resources(
        fetched_page, page_references(parse_document(fetched_page)), timing(fetched_page, network), network
    )


def test_scan_of_a_small_page_without_a_browser_completes_with_at_most_an_a() -> None:
    with Site({"/": Answer(head("<link rel=stylesheet href=/a.css>")), "/a.css": Answer("p{color:red}")}) as site:
        result = scanned(site)
    statuses = {check.id: check.status for check in result.checks}
    assert result.status == "completed"
    assert statuses["broken-resources"] == statuses["est-load-time"] == statuses["ttfb"] == "pass"
    assert result.score is not None
    assert result.score <= 96


def test_missing_image_fails_a_check_but_not_the_scan() -> None:
    with Site({"/": Answer(head("", "<img src=/gone.png>"))}) as site:
        result = scanned(site)
    assert result.status == "completed"
    assert {check.id: check.status for check in result.checks}["broken-resources"] == "fail"


def test_pdf_is_judged_by_ttfb_and_redirects_only() -> None:
    with Site({"/": Answer("%PDF-1.7", headers={"Content-Type": "application/pdf"})}) as site:
        result = scanned(site)
    assert {check.id for check in result.checks} == {"ttfb", "doc-redirects"}
    assert not result.skipped_checks


def test_malicious_style_sheets_cost_seconds_and_do_not_affect_other_checks() -> None:
    """Regression: 150 sheets of 4 kB on the wire, 1 MiB each to parse, took three minutes of CPU time.

    Most of this time was after the end of the scan.
    """
    slow = gzip.compress(b"{}" * (512 * 1024))
    sheets = {f"/{number}.css": Answer(slow, headers={"Content-Encoding": "gzip"}) for number in range(150)}
    links = "".join(f"<link rel=stylesheet href={path}>" for path in sheets)
    began_s = time.process_time()
    with Site({"/": Answer(head(links)), **sheets}) as site:
        result = scanned(site)
    probes = [thread for thread in threading.enumerate() if thread.name.startswith("probe")]
    for thread in probes:
        thread.join(30)
    assert not any(thread.is_alive() for thread in probes)
    assert time.process_time() - began_s < 30
    assert result.score is not None
    statuses = {check.id: check.status for check in result.checks}
    assert statuses["ttfb"] == "pass"
    assert len(statuses) > 20


def test_bodies_beyond_the_size_limit_are_left_out() -> None:
    text = gzip.compress(b"x" * 2_900_000)
    scripts = {f"/{number}.js": Answer(text, headers={"Content-Encoding": "gzip"}) for number in range(40)}
    page = head("".join(f"<script src={path}></script>" for path in scripts))
    with Site({"/": Answer(page), **scripts}) as site, Network(POLICY) as network:
        resources = loaded(site, network)
    assert sum(len(resource.body) for resource in resources.items) <= MAX_STORED_BYTES
    assert len(resources.items) + resources.left_out == 40
    assert resources.left_out > 20
