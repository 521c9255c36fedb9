"""Tests for axe-core rules that run out of time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.targets.server import Answer, Site
from tests.website_scan.cast import POLICY, target
from website_scan.accessibility.axe import UNFINISHED, axe_verdict
from website_scan.browser import axe_time
from website_scan.browser.evidence import AxeReport
from website_scan.browser.visit import BrowserFailed
from website_scan.browser.warm import WarmBrowser
from website_scan.catalogue import checks
from website_scan.findings import ScanType
from website_scan.net.browser import find_browser, sandbox_problem
from website_scan.net.client import Network
from website_scan.result import Budget, ScanResult
from website_scan.run import scan

HEAD = "<!doctype html><html lang=en><title>Boats</title><main><h1>Boats</h1>"
ROWS = "".join(f"<p>Boat {number} for a day" for number in range(40))


@pytest.fixture(scope="module")
def browser() -> Iterator[WarmBrowser]:
    program = find_browser("auto")
    assert program is not None, "no browser; `make browser` installs one"
    with WarmBrowser(program, sandbox=not sandbox_problem(program)) as running:
        yield running


def scan_page(html: str, browser: WarmBrowser) -> ScanResult:
    with Site({"/": Answer(HEAD + html)}) as site, Network(POLICY) as network:
        (result,) = scan(target(site.url), [ScanType.ACCESSIBILITY], network, Budget(), browser=browser)
    return result


def test_unfinished_page_gets_at_most_a_B(browser: WarmBrowser, monkeypatch: pytest.MonkeyPatch) -> None:
    complete = scan_page(ROWS, browser)
    assert (complete.status, complete.score, complete.caps) == ("completed", 100, ())
    monkeypatch.setattr(axe_time, "MAX_RULES_S", 0.0)
    result = scan_page(ROWS, browser)
    assert (result.status, result.score, result.grade) == ("partial", 89, "B")
    assert [cap.reason for cap in result.caps] == ["The browser could not judge the whole page, so at most a B."]
    skipped = {check.id: check.reason for check in result.skipped_checks}
    assert skipped["color-contrast"] == skipped["target-size"] == UNFINISHED
    # These checks have verdicts without axe-core, because the markup alone decides.
    assert {"document-title": "pass", "html-has-lang": "pass"}.items() <= {
        check.id: check.status for check in result.checks
    }.items()


def test_unfinished_contrast_judges_one_text_per_style(browser: WarmBrowser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(axe_time, "MAX_RULES_S", 0.5)
    result = scan_page(f"{ROWS * 100}<p style='color:#bbb'>The deposit is due on arrival.", browser)
    contrast = next(check for check in result.checks if check.id == "color-contrast")
    assert (contrast.status, "#bbbbbb on #ffffff" in contrast.summary) == ("fail", True)


def test_unfinished_rule_uses_the_static_verdict() -> None:
    report = AxeReport(
        "4.12.1", {}, {}, frozenset(), frozenset(), unfinished=frozenset({"color-contrast", "image-alt"})
    )
    by_id = {check.id: check for check in checks(ScanType.ACCESSIBILITY)}
    assert axe_verdict(by_id["image-alt"], report) is None
    with pytest.raises(BrowserFailed):
        axe_verdict(by_id["color-contrast"], report)
