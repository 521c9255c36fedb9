"""Precision of findings on real pages, by check, with and without a browser, beside axe-core in the page."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser as Chromium
from playwright.sync_api import sync_playwright

from benchmarks.real_pages import RealPage, real_pages
from benchmarks.static_host import StaticHost, authority
from benchmarks.table import Table
from tests.playwright_options import context_options, launch_options
from tests.website_scan.net.loopback import NETWORKS
from website_scan.browser.chromium import PIXEL_RATIO, SCREEN
from website_scan.browser.visit import READ_BY, Browser
from website_scan.browser.warm import WarmBrowser
from website_scan.findings import ScanType, Severity
from website_scan.net.browser import find_browser
from website_scan.net.client import Network
from website_scan.net.policy import Policy
from website_scan.net.proxy import BrowserProxy
from website_scan.net.targets import parse_target
from website_scan.result import Budget, CheckResult
from website_scan.run import scan

TIME_LIMIT_S = 120.0
WEIGHTY = frozenset({Severity.MEDIUM, Severity.HIGH, Severity.CRITICAL})
# Shares of the findings that owners agree to: of all, and of each check.
GOAL, GOAL_OF_CHECK = 0.97, 0.8

Finding = tuple[ScanType, str]


class NotJudged(Exception):
    """The browser could not load a page, for example because the machine is busy; the message says why."""


def measure(table: Table, share: float) -> None:
    program = find_browser("auto")
    assert program is not None, "no browser; `make browser` installs one"
    pages = list(real_pages())
    chosen = pages[: max(1, round(len(pages) * share))]
    with WarmBrowser(program, ca_bundle=authority()) as browser:
        judged = {title: _judged(chosen, used) for title, used in (("static", None), ("browser", browser))}
    rules = _rules_of_axe(chosen, program)
    table.head("findings, and the share that owners agree to", "static", "", "browser", "", "axe-core")
    for scan_type, check in sorted({each for found, _ in judged.values() for each in found}):
        figures = [figure for found, right in judged.values() for figure in _figures(found, right, (scan_type, check))]
        table.row(f"{scan_type} {check}", *figures, rules[check] if scan_type is ScanType.ACCESSIBILITY else "")
    for rule in sorted(rules.keys() - {check for found, _ in judged.values() for _, check in found}):
        table.row(f"{rule}, without a finding of ours", "", "", "", "", rules[rule])
    for title, (found, right) in judged.items():
        table.head(title, "precision", "findings")
        for scan_type in ScanType:
            of_type = [each for each in found if each[0] is scan_type]
            total = sum(found[each] for each in of_type)
            table.row(scan_type, sum(right[each] for each in of_type) / total if total else "", total)
        table.row("all findings", right.total() / found.total(), found.total(), least=(GOAL,))
        worst = min(found, key=lambda each: right[each] / found[each])
        table.row(f"worst check: {' '.join(worst)}", right[worst] / found[worst], found[worst], least=(GOAL_OF_CHECK,))


def findings(page: RealPage, browser: Browser | None) -> Iterator[tuple[ScanType, CheckResult]]:
    """Scan a page for all types; yield its findings of at least medium severity.

    Raises `NotJudged` if the browser could not load the page: the findings would be those without one.
    """
    with StaticHost(page.folder) as host:
        policy = Policy(allowed_networks=NETWORKS, ca_bundle=authority())
        with Network(policy, time_limit_s=TIME_LIMIT_S) as network:
            target = parse_target(f"{host.url}/{page.path}", policy)
            for result in scan(target, ScanType, network, Budget(TIME_LIMIT_S), browser=browser):
                assert result.score is not None, (page.name, result.error)
                if browser is not None and READ_BY[result.type] and result.browser is None:
                    raise NotJudged(result.skipped_checks[0].reason)
                for category in result.categories:
                    for check in category.checks:
                        if check.status != "pass" and check.severity in WEIGHTY:
                            yield result.type, check


def _judged(pages: Iterable[RealPage], browser: Browser | None) -> tuple[Counter[Finding], Counter[Finding]]:
    """Return on how many pages each check has a finding, and on how many of these its owner would agree."""
    found: Counter[Finding] = Counter()
    right: Counter[Finding] = Counter()
    for page in pages:
        try:
            of_page = list(findings(page, browser))
        except NotJudged as error:
            print(f"left out: {page.name} ({error})", flush=True)
            continue
        for scan_type, check in of_page:
            found[scan_type, check.id] += 1
            right[scan_type, check.id] += check.id in page.agreed[scan_type]
    return found, right


def _figures(found: Counter[Finding], right: Counter[Finding], of: Finding) -> tuple[int | str, str]:
    return (found[of], f"{right[of] / found[of]:.0%}") if found[of] else ("", "")


def _rules_of_axe(pages: Iterable[RealPage], program: Path) -> Counter[str]:
    """Return on how many pages each rule of axe-core, run in the page by itself, has a violation that is not minor."""
    rules: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(**launch_options(program, Path(folder)))
        for page in pages:
            rules.update(violations(page, browser))
        browser.close()
    return rules


def violations(page: RealPage, browser: Chromium) -> frozenset[str]:
    """Return the rules of axe-core, run in a page by itself, that have a violation of more than minor impact."""
    policy = Policy(allowed_networks=NETWORKS)
    with (
        StaticHost(page.folder) as host,
        Network(policy, time_limit_s=TIME_LIMIT_S) as network,
        BrowserProxy(network) as proxy,
    ):
        tab = browser.new_page(
            **context_options(proxy),
            viewport=SCREEN,  # type: ignore[arg-type]  # a TypedDict of the same shape
            device_scale_factor=PIXEL_RATIO,
            is_mobile=True,
            ignore_https_errors=True,
        )
        tab.goto(f"{host.url}/{page.path}", timeout=TIME_LIMIT_S * 1000)
        found = Axe().run(tab).response["violations"]
        tab.close()
    return frozenset(each["id"] for each in found if each["impact"] != "minor")
