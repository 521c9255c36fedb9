"""Test in a browser that the HTML output is accessible.

It must send no requests and log nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from msgspec.structs import replace
from playwright.sync_api import Browser

from tests.e2e.pages import Window
from tests.targets.sample import sample_site
from tests.website_scan.command.hostile_page import PATH, hostile_site, reports_of
from tests.website_scan.command.reports import check_result, failed_scan, judged_report
from website_scan.browser.warm import WarmBrowser
from website_scan.command.gate import BASELINE_REASON, CommandReport, CommandResult
from website_scan.command.output import formatted
from website_scan.findings import ScanType
from website_scan.net.browser import find_browser

COMMON = {"resultTypes": ["violations"], "preload": False}
ALL_RULES = COMMON | {"rules": {"target-size": {"enabled": True}}}
CONTRAST = COMMON | {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
# Colour contrast takes minutes for a file of many reports.
STRUCTURE = COMMON | {"rules": {"color-contrast": {"enabled": False}}}
MAX_FULLY_TESTED_REPORTS = 2  # With more reports, details stay closed and colours are not tested.
OPENED = "document.querySelectorAll('details:not(.thumbnail)').forEach(each => each.open = true)"


@pytest.fixture(scope="module")
def reports() -> Sequence[CommandReport]:
    """Return browser reports of all scan types for three pages.

    One page is hostile.
    """
    program = find_browser("auto")
    assert program is not None, "no browser; `make browser` installs one"
    judged_report: list[CommandReport] = []
    for running, paths in ((sample_site(), ("/", "/order")), (hostile_site(), (PATH,))):
        with running as site, WarmBrowser(program, ca_bundle=site.ca_file) as browser:
            judged_report += reports_of(site, *paths, browser=browser)
    assert [report.error for report in judged_report] == [None] * 12
    return judged_report


def with_accepted_findings(report: CommandReport) -> CommandReport:
    """Accept every second finding of the report."""
    return replace(report, accepted={check["id"]: BASELINE_REASON for _, check in report.findings()[::2]})


# Functions that select the reports of a file from all twelve reports.
SHAPES: Mapping[str, Any] = {
    "one type of a page": lambda reports: reports[:1],
    "two types of a page": lambda reports: reports[1:3],
    "all types of a page": lambda reports: reports[:4],
    "all types of three pages": lambda reports: reports,
    "one type of three pages": lambda reports: reports[1::4],
    "a hostile page": lambda reports: reports[8:],
    "accepted findings": lambda reports: [with_accepted_findings(report) for report in reports[2:4]],
    "a failed scan": lambda reports: [failed_scan()],
    "failed scans among others": lambda reports: [failed_scan(), *reports[:4], failed_scan("https://example.com/away")],
    "without a browser": lambda reports: [judged_report(check_result("lcp"), type=scan_type) for scan_type in ScanType],
    "nothing found": lambda reports: [
        judged_report(check_result("hsts", "pass")),
        judged_report(check_result("lcp", "pass"), type=ScanType.SEO),
    ],
    "no checks": lambda reports: [judged_report(), judged_report(url="https://example.com/2")],
}


def events_and_violations(browser: Browser, file: Path, theme: Any, rules: object) -> tuple[list[str], list[str]]:
    """Open the file and return browser events and axe-core violations."""
    page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme=theme, reduced_motion="reduce")
    events: list[str] = []
    page.on("request", lambda request: events.append(request.url[:200]) if request.url[:5] != "data:" else None)
    page.on("console", lambda message: events.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: events.append(str(error)))
    page.on("dialog", lambda dialog: events.append(f"dialog: {dialog.message}"))
    try:
        page.goto(file.as_uri(), wait_until="load")
        if page.locator("article").count() <= MAX_FULLY_TESTED_REPORTS:
            page.evaluate(OPENED)
        events_of_page = list(events)  # This copy excludes the events that axe-core causes below.
        page.evaluate(AXE_SCRIPT)
        violations = page.evaluate("options => axe.run(options)", rules)["violations"]
        return events_of_page, [f"{rule['id']}: {node['html'][:200]}" for rule in violations for node in rule["nodes"]]
    finally:
        page.close()


@pytest.mark.parametrize("shape", SHAPES)
def test_html_file_is_accessible(browser: Window, reports: Sequence[CommandReport], shape: str, tmp_path: Path) -> None:
    chosen: Sequence[CommandReport] = SHAPES[shape](reports)
    file = tmp_path / "report.html"
    file.write_text(formatted("html", CommandResult(chosen, ["It is <b>bad</b>."], len(chosen))), encoding="utf-8")
    is_fully_tested = len(chosen) <= MAX_FULLY_TESTED_REPORTS
    events, violations = browser.do(
        lambda running: events_and_violations(running, file, "light", ALL_RULES if is_fully_tested else STRUCTURE)
    )
    assert events == [file.as_uri()]
    assert violations == []
    if is_fully_tested:
        events, violations = browser.do(lambda running: events_and_violations(running, file, "dark", CONTRAST))
        assert events == [file.as_uri()]
        assert violations == []
