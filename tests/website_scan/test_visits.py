"""Test that a visit has the same results as separate scans.

The visit is for several scan types.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.targets.sample import sample_site
from tests.targets.server import Answer, Site
from tests.targets.templated import page_paths, templated_site
from tests.website_scan.cast import POLICY
from website_scan.browser.warm import WarmBrowser
from website_scan.findings import ScanType
from website_scan.net.browser import find_browser
from website_scan.net.client import Network
from website_scan.net.http.answers import Answers
from website_scan.net.targets import parse_target
from website_scan.result import Budget, CheckResult, Progress, ScanResult
from website_scan.run import scan
from website_scan.wording import message

ALL = tuple(ScanType)
MAX_WAIT_S = 60.0
# Measured values differ between loads, and their unit identifies them.
MEASURED = re.compile(r"\d[\d., ]*\s?(?:ms|s|seconds|milliseconds|CPU-s)\b")

# A message contains this sentence if the machine was busy.
SLOW = re.compile(r" The figure is uncertain: .*?\.(?= |$)")
# Probes send random strings that no site can predict.
RANDOM = re.compile(r"[0-9a-f]{10,24}")


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with sample_site() as site:
        site.routes["/gone"] = Answer("<!doctype html><title>Gone</title><h1>Gone</h1>", status=404)
        yield site


@pytest.fixture(scope="module")
def browser(site: Site) -> Iterator[WarmBrowser]:
    program = find_browser("auto")
    assert isinstance(program, Path)
    warm_browser = WarmBrowser(program, ca_bundle=site.ca_file)
    yield warm_browser
    warm_browser.close()


def visit_url(
    site: Site, *types: ScanType, path: str = "/", browser: WarmBrowser | None = None
) -> dict[str, ScanResult]:
    policy = replace(POLICY, ca_bundle=site.ca_file)
    with Network(policy, time_limit_s=MAX_WAIT_S) as network:
        target = parse_target(site.url_as("localhost") + path, policy)
        return {result.type: result for result in scan(target, types, network, Budget(MAX_WAIT_S), browser=browser)}


def shape(check: CheckResult) -> tuple[object, ...]:
    """Return the parts of a finding that do not depend on measurements."""
    sentence = SLOW.sub("", message(check))
    is_measured = bool(MEASURED.search(sentence)) or check.credit is not None
    masked_sentence = MEASURED.sub("…", sentence)
    if is_measured:
        return (check.id, re.sub(r"\d+", "…", masked_sentence))
    rows = [
        {name: value for name, value in place.row().items() if not isinstance(value, float)}
        for place in (*check.details.kept, *check.places.kept)
    ]
    return (
        check.id,
        check.status,
        check.severity,
        check.outcome,
        masked_sentence,
        RANDOM.sub("…", str(rows)),
        check.how_to_fix,
    )


def assert_same_results(together: ScanResult, alone: ScanResult) -> None:
    assert (together.type, together.status, together.error) == (alone.type, alone.status, alone.error)
    # Measured times determine the priority of findings.
    assert sorted(map(repr, map(shape, together.checks))) == sorted(map(repr, map(shape, alone.checks)))
    assert together.skipped_checks == alone.skipped_checks
    assert together.omitted_checks == alone.omitted_checks
    assert [cap.reason for cap in together.caps] == [cap.reason for cap in alone.caps]
    assert together.browser == alone.browser
    assert (together.screenshot is None) == (alone.screenshot is None)
    assert (together.waterfall is None) == (alone.waterfall is None)
    assert together.facts.keys() == alone.facts.keys()
    if together.type is not ScanType.PERFORMANCE:
        assert (together.score, together.grade) == (alone.score, alone.grade)


@pytest.mark.parametrize("path", ["/", "/order", "/style.css", "/bread.png", "/gone", "/nothing"])
def test_visit_equals_separate_scans(site: Site, path: str) -> None:
    together = visit_url(site, *ALL, path=path)
    for scan_type in ALL:
        assert_same_results(together[scan_type], visit_url(site, scan_type, path=path)[scan_type])


@pytest.mark.slow
def test_visit_with_browser_equals_separate_scans(site: Site, browser: WarmBrowser) -> None:
    together = visit_url(site, *ALL, browser=browser)
    for scan_type in ALL:
        assert_same_results(together[scan_type], visit_url(site, scan_type, browser=browser)[scan_type])


def test_error_page_causes_few_requests(site: Site) -> None:
    """An error page is a finding only for SEO.

    No evidence of the other types is gathered.
    """
    site.requests.clear()
    visit_url(site, *ALL, path="/gone")
    together = len(site.requests)
    site.requests.clear()
    visit_url(site, ScanType.SEO, path="/gone")
    assert together == len(site.requests)


def test_shared_evidence_is_requested_once(site: Site) -> None:
    site.requests.clear()
    visit_url(site, *ALL)
    requests_by_path = Counter(request.path for request in site.requests)
    assert [requests_by_path[path] for path in ("/menu.js", "/style.css", "/order", "/robots.txt", "/sitemap.xml")] == [
        1
    ] * 5


def test_pages_share_evidence_of_the_origin() -> None:
    with templated_site(6) as site:
        answers = Answers()
        for path in page_paths(3):
            with Network(POLICY, time_limit_s=MAX_WAIT_S, answers=answers) as network:
                target = parse_target(site.url + path, POLICY)
                results = scan(target, ALL, network, Budget(MAX_WAIT_S))
                assert {result.status for result in results} == {"completed"}
        requests_by_path = Counter(request.path for request in site.requests)
    shared = [
        path
        for path in requests_by_path
        if path.startswith(("/js/", "/css/", "/images/", "/sitemap", "/zoom")) and path[-1] != "/"
    ]
    assert len(shared) > 30
    # The social image is requested again without a referrer.
    assert {path: requests_by_path[path] for path in shared if requests_by_path[path] > 1} == {"/images/0.png": 2}
    # The visit of a page reads it, times it, and requests it with four other origins. Other visits check links to it.
    requests_by_page = [requests_by_path[path] for path in page_paths(6)]
    assert max(requests_by_page[:3]) <= 7
    assert requests_by_page[3:] == [1, 1, 1]


def test_progress_counts_checks_by_scan_type(site: Site) -> None:
    reports: list[Progress] = []
    policy = replace(POLICY, ca_bundle=site.ca_file)
    with Network(policy) as network:
        target = parse_target(site.url_as("localhost") + "/", policy)
        results = scan(target, [ScanType.SEO, ScanType.SECURITY], network, Budget(), reports.append)
    assert [result.type for result in results] == [ScanType.SEO, ScanType.SECURITY]
    assert all(progress.checks.keys() == {ScanType.SEO, ScanType.SECURITY} for progress in reports)
    percents = [progress.percent for progress in reports]
    assert percents == sorted(percents)
    for result in results:
        assert reports[-1].checks[result.type].done == len(result.checks)
