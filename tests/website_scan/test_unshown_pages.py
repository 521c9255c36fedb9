"""Test that pages without visible content are reported, not judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.targets.server import Route, Site
from tests.targets.unshown_pages import FAULTY, HEALTHY, UNJUDGED
from tests.website_scan.cast import POLICY, target
from website_scan.browser import content_wait, probe
from website_scan.browser.warm import WarmBrowser
from website_scan.catalogue import checks
from website_scan.findings import CRITICAL, ScanType
from website_scan.net.browser import find_browser, sandbox_problem
from website_scan.net.client import Network
from website_scan.repeats import reported_elsewhere, reporters
from website_scan.result import Budget, CheckResult, ScanResult
from website_scan.run import scan
from website_scan.wording import message

MAX_WAIT_S = 60.0
TYPES = (ScanType.PERFORMANCE, ScanType.ACCESSIBILITY, ScanType.SEO)
BLANK = {
    ScanType.PERFORMANCE: "blank-page",
    ScanType.ACCESSIBILITY: "accessibility-blank-page",
    ScanType.SEO: "seo-blank-page",
}
METRICS = {"lcp", "fcp", "cls", "tbt", "speed-index", "script-time", "main-thread", "long-tasks"}
# These checks do not apply to error pages and bot challenges.
METADATA = {"title", "meta-description", "og-title", "og-image", "twitter-card", "font-legible"}
# These findings have other titles than “The page stays blank in a browser”.
TITLES = {
    "a spinner that never ends": "loading screen",
    "a text about loading that never goes": "loading screen",
    "a splash screen over the page": "loading screen",
    "a skeleton that is never filled": "loading screen",
    "a header above a spinner": "loading screen",
    "an empty root with header and footer": "main part",
    "an error of a framework": "error message",
    "an error of a proxy": "error message",
    "an error of a database": "error message",
    "an error boundary": "error message",
}
# The text of the finding names these causes of missing content.
CAUSES = {
    "a bundle that throws": "Cannot read properties of undefined (reading 'user')",
    "a bundle that is missing": "/app.js failed: status 404",
    "a bundle answered by the app's page": "MIME type of",
    "a policy that forbids the page's own scripts": "Content Security Policy",
    "a rejected promise": "is not valid JSON",
    "a spinner that never ends": "that it is loading (#root > div)",
    "a text about loading that never goes": "“Loading…”",
    "a splash screen over the page": "reading 'user'",
    "a body hidden until a script shows it": "reading 'call'",
    "an empty root with header and footer": "#root is still empty",
    "white on white": "none of its text can be seen",
    "an error of a proxy": "“502 Bad Gateway nginx”",
}


@pytest.fixture(scope="module")
def browser() -> Iterator[WarmBrowser]:
    program = find_browser("auto")
    assert isinstance(program, Path)
    with WarmBrowser(program, sandbox=not sandbox_problem(program)) as warm_browser:
        yield warm_browser


@pytest.fixture(autouse=True)
def single_load(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "FURTHER_LOADS", 0)


def scan_url(browser: WarmBrowser, routes: Mapping[str, Route]) -> dict[ScanType, ScanResult]:
    with Site(routes) as site, Network(POLICY, time_limit_s=MAX_WAIT_S) as network:
        results = scan(target(site.url), TYPES, network, Budget(MAX_WAIT_S), browser=browser)
    return {result.type: result for result in results}


def blank_finding(result: ScanResult) -> CheckResult | None:
    return next((check for check in result.checks if check.id == BLANK[result.type]), None)


@pytest.mark.parametrize("name", FAULTY)
def test_page_without_content_is_not_judged(browser: WarmBrowser, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(content_wait, "MIN_CONTENT_WAIT_S", 0.5)
    results = scan_url(browser, FAULTY[name])
    for scan_type, result in results.items():
        finding = blank_finding(result)
        assert finding is not None
        assert (finding.status, finding.severity) == ("fail", CRITICAL)
        assert TITLES.get(name, "stays blank in a browser") in finding.title
        assert CAUSES.get(name, "") in message(finding)
        assert (result.status, result.grade) == ("partial", "F")
        assert result.score is not None
        assert result.score <= 40
        assert "was not judged" in str(result.facts["notice"])
        assert result.screenshot
        content = {check.id for check in checks(scan_type) if check.content}
        assert not [check.id for check in result.checks if check.id in content and check.status == "pass"]
        assert TITLES.get(name) != "error message" or METADATA.isdisjoint(check.id for check in result.checks)
    assert METRICS.isdisjoint(check.id for check in results[ScanType.PERFORMANCE].checks)
    visit_exports = {result.type: reporters(result.checks, result.repeated_checks) for result in results.values()}
    assert {check_result.id for check_result in reported_elsewhere(visit_exports)} >= {
        BLANK[scan_type] for scan_type in TYPES[1:]
    }


@pytest.mark.parametrize("name", UNJUDGED)
def test_page_hidden_from_scanner_is_not_judged(
    browser: WarmBrowser, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(content_wait, "MIN_CONTENT_WAIT_S", 0.5)
    for result in scan_url(browser, UNJUDGED[name]).values():
        assert blank_finding(result) is None
        assert result.status == "partial"
        assert result.score is not None
        assert result.score <= 79
        assert "was not judged" in str(result.facts["notice"])
        assert BLANK[result.type] in {skipped.id for skipped in result.skipped_checks}
        assert "challenge" not in name or METADATA.isdisjoint(check.id for check in result.checks)
        assert METRICS.isdisjoint(check.id for check in result.checks)


@pytest.mark.parametrize("name", HEALTHY)
def test_sparse_page_is_not_a_blank_page(browser: WarmBrowser, name: str) -> None:
    for result in scan_url(browser, HEALTHY[name]).values():
        finding = blank_finding(result)
        assert finding is not None
        assert finding.status == "pass"
        assert result.status == "completed"
        assert "notice" not in result.facts
