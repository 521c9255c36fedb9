"""Test which of the museum's faults a scan reports, in which success criterion and at which width."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import pytest

from tests.targets.museum import BOTH, FAULTS, Fault, museum_site
from tests.targets.museum_pages import PAGES
from tests.website_scan.cast import POLICY, target
from website_scan.browser.warm import WarmBrowser
from website_scan.findings import ScanType
from website_scan.net.browser import find_browser
from website_scan.net.client import Network
from website_scan.places import Element
from website_scan.report.conformance import criteria_of, references_by_check
from website_scan.result import Budget, ScanResult
from website_scan.run import scan

# One pytest worker runs all tests, because the scans take about a minute.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300), pytest.mark.xdist_group("museum")]

TIME_LIMIT_S = 60.0
MACHINE_FAULTS = [fault for fault in FAULTS if fault.is_visible_to_machines]
PERSON_FAULTS = [fault for fault in FAULTS if not fault.is_visible_to_machines]
# axe-core cannot see whether captions are part of the picture, so that a person has to look.
REVIEWED = {"video-caption"}
# Elements that a fault makes faulty as well: the other one of two small buttons that are too close.
COLLATERAL = {("/tickets", "target-size", "#more", 412)}

# Check, selector and the only width that has the fault.
Place = tuple[str, str, int | None]


@pytest.fixture(scope="module")
def results() -> Mapping[tuple[str, str], ScanResult]:
    """Return the results of all pages of the faulty and of the healthy site."""
    program = find_browser("auto")
    assert program is not None, "no browser; `make browser` installs one"
    results_by_page: dict[tuple[str, str], ScanResult] = {}
    with WarmBrowser(program) as browser, museum_site() as faulty, museum_site(()) as healthy:
        for (name, site), page in product((("faulty", faulty), ("healthy", healthy)), PAGES):
            with Network(POLICY, time_limit_s=TIME_LIMIT_S) as network:
                (result,) = scan(
                    target(site.url + page),
                    [ScanType.ACCESSIBILITY],
                    network,
                    Budget(TIME_LIMIT_S),
                    browser=browser,
                )
            assert result.browser is not None, page
            results_by_page[name, page] = result
    return results_by_page


def reported_places(result: ScanResult) -> set[Place]:
    return {
        (check.id, place.selector, place.page_width)
        for check in result.checks
        if check.status != "pass"
        for place in check.places.kept
        if isinstance(place, Element)
    }


def only_width(fault: Fault) -> int | None:
    return None if fault.widths == BOTH else fault.widths[0]


def test_museum_has_forty_faults_of_which_ten_need_a_person() -> None:
    assert (len(PAGES), len(MACHINE_FAULTS), len(PERSON_FAULTS)) == (12, 30, 10)
    assert {fault.page for fault in FAULTS} == set(PAGES)


@pytest.mark.parametrize("fault", MACHINE_FAULTS, ids=lambda fault: f"{fault.page}-{fault.check}")
def test_scan_reports_fault_in_its_criterion_and_at_its_width(
    fault: Fault, results: Mapping[tuple[str, str], ScanResult]
) -> None:
    result = results["faulty", fault.page]
    (check,) = [check for check in result.checks if check.id == fault.check]
    assert check.status == ("warn" if fault.check in REVIEWED else "fail")
    assert fault.criterion in criteria_of(references_by_check()[fault.check])
    assert (fault.check, fault.selector, only_width(fault)) in reported_places(result)


@pytest.mark.parametrize("page", PAGES)
def test_scan_reports_nothing_besides_the_faults(page: str, results: Mapping[tuple[str, str], ScanResult]) -> None:
    planted = {(fault.check, fault.selector, only_width(fault)) for fault in MACHINE_FAULTS if fault.page == page}
    collateral = {(check, selector, width) for path, check, selector, width in COLLATERAL if path == page}
    assert reported_places(results["faulty", page]) == planted | collateral


@pytest.mark.parametrize("page", PAGES)
def test_healthy_museum_has_no_finding(page: str, results: Mapping[tuple[str, str], ScanResult]) -> None:
    assert [check.id for check in results["healthy", page].checks if check.status != "pass"] == []
