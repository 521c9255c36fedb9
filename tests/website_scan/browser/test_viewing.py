"""Tests for chosen widths and colour schemes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.targets.server import Answer, Request, Site
from tests.website_scan.cast import POLICY, target
from website_scan.browser.devices import DESKTOP, PHONE, device_of_width
from website_scan.browser.warm import WarmBrowser
from website_scan.command.formats.text import browser_sentences
from website_scan.command.scanned_reports import scanned_report
from website_scan.findings import ScanType
from website_scan.net.browser import find_browser, sandbox_problem
from website_scan.net.client import Network
from website_scan.report.coverage_summary import coverage_of
from website_scan.result import Budget, ScanResult
from website_scan.run import scan
from website_scan.viewing import Viewing, are_valid_widths

TIME_LIMIT_S = 60.0
PAGE = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Tea shop</title>'
    '<meta name="viewport" content="width=device-width"><style>body { background: #fff; color: #222 } STYLES</style>'
    '</head><body><main><h1>Tea</h1><p class="text">Green tea from Uji</p>BODY</main></body></html>'
)
HTML = {"Content-Type": "text/html; charset=utf-8"}
DARK = "@media (prefers-color-scheme: dark) { .text { color: #ccc } }"
MIDDLE = ".middle { display: none } @media (min-width: 700px) and (max-width: 900px) { .middle { display: block } }"
PAGES = {
    "/dark": PAGE.replace("STYLES", DARK).replace("BODY", ""),
    "/middle": PAGE.replace("STYLES", MIDDLE).replace("BODY", '<input class="middle" name="q">'),
}


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site({path: Answer(markup, headers=HTML) for path, markup in PAGES.items()}) as started:
        yield started


@pytest.fixture(scope="module")
def browser() -> Iterator[WarmBrowser]:
    program = find_browser("auto")
    assert program is not None, "no browser; `make browser` installs one"
    with WarmBrowser(program, sandbox=not sandbox_problem(program)) as running:
        yield running


def scanned(browser: WarmBrowser, url: str, viewing: Viewing | None, *types: ScanType) -> ScanResult:
    with Network(POLICY, time_limit_s=TIME_LIMIT_S) as network:
        result, *_ = scan(
            target(url),
            types or [ScanType.ACCESSIBILITY],
            network,
            Budget(TIME_LIMIT_S),
            browser=browser,
            viewing=viewing,
        )
    assert result.error is None, result.error
    return result


def failed(result: ScanResult) -> set[str]:
    return {check.id for check in result.checks if check.status == "fail"}


def user_agents(site: Site, path: str) -> list[str]:
    """Return the values of User-Agent with which browsers requested a page."""
    requests: list[Request] = [request for request in site.requests if request.path == path]
    return [agent for request in requests if "Chrome/" in (agent := request.header("User-Agent") or "")]


def test_fault_of_the_dark_scheme_is_found_only_there(browser: WarmBrowser, site: Site) -> None:
    assert "color-contrast" in failed(scanned(browser, f"{site.url}/dark", Viewing(color_scheme="dark")))
    for viewing in (None, Viewing(), Viewing((800,))):
        assert "color-contrast" not in failed(scanned(browser, f"{site.url}/dark", viewing))


def test_fault_at_800_pixels_is_found_only_there(browser: WarmBrowser, site: Site) -> None:
    for widths in ((800,), (412, 800, 1440)):
        assert "label" in failed(scanned(browser, f"{site.url}/middle", Viewing(widths)))
    for viewing in (None, Viewing((1440,))):
        assert "label" not in failed(scanned(browser, f"{site.url}/middle", viewing))


def test_report_names_the_judged_widths_and_scheme(browser: WarmBrowser, site: Site) -> None:
    report = scanned_report(scanned(browser, f"{site.url}/middle", Viewing((800, 320), "dark")))
    assert (report.export["widths"], report.export["color_scheme"]) == ([800, 320], "dark")
    (sentence,) = browser_sentences(report.export)
    assert sentence.endswith(", at 800, 320 pixels, dark colour scheme")
    coverage = coverage_of(report.export, report.facts, "")
    assert (coverage.widths, coverage.color_scheme) == ((800, 320), "dark")


def test_report_without_a_choice_has_no_further_fields(browser: WarmBrowser, site: Site) -> None:
    export = scanned_report(scanned(browser, f"{site.url}/middle", None)).export
    assert not {"widths", "color_scheme"} & export.keys()


def test_first_width_decides_whether_a_phone_is_emulated(browser: WarmBrowser, site: Site) -> None:
    expected = {(800, 412): False, (412, 800): True, (599,): True, (600,): False}
    for widths, is_phone in expected.items():
        site.requests.clear()
        scanned(browser, f"{site.url}/middle", Viewing(widths))
        (agent,) = user_agents(site, "/middle")
        assert (" Mobile " in agent) is is_phone, widths


def test_seo_is_judged_on_a_phone_at_any_width(browser: WarmBrowser, site: Site) -> None:
    site.requests.clear()
    result = scanned(browser, f"{site.url}/middle", Viewing((800,)), ScanType.ACCESSIBILITY, ScanType.SEO)
    assert "label" in failed(result)
    (agent,) = user_agents(site, "/middle")
    assert " Mobile " in agent


def test_usual_widths_are_the_usual_devices() -> None:
    assert [device_of_width(width) for width in Viewing().widths] == [PHONE, DESKTOP]


@pytest.mark.parametrize(
    ("widths", "are_valid"),
    [([320], True), ([2560, 320, 800], True), ([], False), ([319], False), ([2561], False), ([412, 412], False)],
)
def test_widths_are_limited(widths: list[int], are_valid: bool) -> None:
    assert are_valid_widths(widths) is are_valid
    assert not are_valid_widths([400, 500, 600, 700])
