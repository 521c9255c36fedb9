"""The HTML format in a real browser: accessible in every shape and in both themes; it loads and logs nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser

from tests.e2e.pages import Window
from tests.targets.sample import sample_site
from tests.website_scan.command.hostile_page import PATH, hostile_site, reports_of
from tests.website_scan.command.reports import failed, found, judged
from website_scan.browser.warm import WarmBrowser
from website_scan.command.judged import IN_BASELINE, Judged, Outcome
from website_scan.command.output import formatted
from website_scan.findings import ScanType
from website_scan.net.browser import find_browser

COMMON = {"resultTypes": ["violations"], "preload": False}
ALL_RULES = COMMON | {"rules": {"target-size": {"enabled": True}}}
CONTRAST = COMMON | {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
# Without the rules that judge the looks of each element, which take minutes for many reports and depend on one only.
STRUCTURE = COMMON | {"rules": {"color-contrast": {"enabled": False}}}
LOOKED_AT = [("light", ALL_RULES), ("dark", CONTRAST)]
MOST_LOOKED_AT = 2  # reports whose details are opened, and whose looks are judged in both themes
OPENED = "document.querySelectorAll('details:not(.thumbnail)').forEach(each => each.open = true)"


@pytest.fixture(scope="module")
def reports() -> Sequence[Judged]:
    """Reports of all types of three pages, one of them hostile, as a browser judged them."""
    program = find_browser("auto")
    assert program is not None, "no browser; `make browser` installs one"
    judged: list[Judged] = []
    for running, paths in ((sample_site(), ("/", "/order")), (hostile_site(), (PATH,))):
        with running as site, WarmBrowser(program, ca_bundle=site.ca_file) as browser:
            judged += reports_of(site, *paths, browser=browser)
    assert [each.error for each in judged] == [None] * 12
    return judged


def accepting(report: Judged) -> Judged:
    """Return the report with every second finding accepted."""
    return replace(report, accepted={check["id"]: IN_BASELINE for _, check in report.findings()[::2]})


# From the twelve reports to those of one document.
SHAPES: Mapping[str, Any] = {
    "one type of a page": lambda reports: reports[:1],
    "two types of a page": lambda reports: reports[1:3],
    "all types of a page": lambda reports: reports[:4],
    "all types of three pages": lambda reports: reports,
    "one type of three pages": lambda reports: reports[1::4],
    "a hostile page": lambda reports: reports[8:],
    "accepted findings": lambda reports: [accepting(each) for each in reports[2:4]],
    "a failed scan": lambda reports: [failed()],
    "failed scans among others": lambda reports: [failed(), *reports[:4], failed("https://example.com/away")],
    "without a browser": lambda reports: [judged(found("lcp"), type=each) for each in ScanType],
    "nothing found": lambda reports: [judged(found("hsts", "pass")), judged(found("lcp", "pass"), type=ScanType.SEO)],
    "no checks": lambda reports: [judged(), judged(url="https://example.com/2")],
}


def seen(browser: Browser, file: Path, theme: Any, rules: object) -> tuple[list[str], list[str]]:
    """Open the file. Returns the requests and errors, and the violations."""
    page = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme=theme, reduced_motion="reduce")
    noise: list[str] = []
    page.on("request", lambda each: noise.append(each.url[:200]) if not each.url.startswith("data:") else None)
    page.on("console", lambda each: noise.append(f"{each.type}: {each.text}"))
    page.on("pageerror", lambda each: noise.append(str(each)))
    page.on("dialog", lambda each: noise.append(f"dialog: {each.message}"))
    try:
        page.goto(file.as_uri(), wait_until="load")
        if page.locator("article").count() <= MOST_LOOKED_AT:
            page.evaluate(OPENED)
        told = list(noise)
        page.evaluate(AXE_SCRIPT)
        found = page.evaluate("options => axe.run(options)", rules)["violations"]
        return told, [f"{each['id']}: {node['html'][:200]}" for each in found for node in each["nodes"]]
    finally:
        page.close()


@pytest.mark.parametrize("shape", SHAPES)
def test_the_file_is_accessible_and_asks_for_nothing(
    browser: Window, reports: Sequence[Judged], shape: str, tmp_path: Path
) -> None:
    shown: Sequence[Judged] = SHAPES[shape](reports)
    file = tmp_path / "report.html"
    file.write_text(formatted("html", Outcome(shown, ["It is <b>bad</b>."], len(shown))), encoding="utf-8")
    is_looked_at = len(shown) <= MOST_LOOKED_AT
    told, violations = browser.do(
        lambda running: seen(running, file, "light", ALL_RULES if is_looked_at else STRUCTURE)
    )
    assert told == [file.as_uri()]
    assert violations == []
    if is_looked_at:
        told, violations = browser.do(lambda running: seen(running, file, "dark", CONTRAST))
        assert told == [file.as_uri()]
        assert violations == []
