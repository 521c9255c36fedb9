"""Benchmark how precise findings on real pages are, by check, with and without a browser.

The pages are templates and documentation in npm and Debian packages, installed by npm and apt. `real_pages.toml` lists
the pages with the findings that an owner would agree to, judged by hand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice

from benchmarks.real_pages import RealPage, packages, real_pages, scan_page
from benchmarks.static_host import authority
from benchmarks.table import Table
from website_scan.browser.visit import PARTS_BY_SCAN_TYPE, Browser
from website_scan.browser.warm import WarmBrowser
from website_scan.findings import ScanType, Severity
from website_scan.net.browser import find_browser
from website_scan.result import CheckResult

COUNTED_SEVERITIES = frozenset({Severity.MEDIUM, Severity.HIGH, Severity.CRITICAL})
# Minimum share of findings that site owners agree with, over all checks and for any single check.
MIN_PRECISION, MIN_CHECK_PRECISION = 0.97, 0.8

Finding = tuple[ScanType, str]


class PageNotJudged(Exception):
    """Raised if the browser cannot load a page, for example on a busy machine.

    The message is the reason.
    """


def measure(table: Table, share: float) -> None:
    program = find_browser("auto")
    assert program is not None, "no browser; `make browser` installs one"
    listed = packages()
    number = sum(len(package["page"]) for package in listed)
    pages = list(islice(real_pages(listed), max(1, round(number * share))))
    with WarmBrowser(program, ca_bundle=authority()) as browser:
        counts_by_title = {
            title: _count_findings(pages, browser_or_none)
            for title, browser_or_none in (("static", None), ("browser", browser))
        }
    table.head("findings, and the share that owners agree to", "static", "agreed", "in a browser", "agreed")
    for scan_type, check in sorted(
        {finding for all_findings, _ in counts_by_title.values() for finding in all_findings}
    ):
        figures = [
            figure
            for all_findings, agreed in counts_by_title.values()
            for figure in _figures(all_findings, agreed, (scan_type, check))
        ]
        table.row(f"{scan_type} {check}", *figures)
    for title, (all_findings, agreed) in counts_by_title.items():
        table.head(title, "precision", "findings")
        for scan_type in ScanType:
            findings_of_type = [finding for finding in all_findings if finding[0] is scan_type]
            total = sum(all_findings[finding] for finding in findings_of_type)
            table.row(scan_type, sum(agreed[finding] for finding in findings_of_type) / total if total else "", total)
        table.row("all findings", agreed.total() / all_findings.total(), all_findings.total(), least=(MIN_PRECISION,))
        worst = min(all_findings, key=lambda finding: agreed[finding] / all_findings[finding])
        table.row(
            "worst check",
            agreed[worst] / all_findings[worst],
            all_findings[worst],
            f"  {' '.join(worst)}",
            least=(MIN_CHECK_PRECISION,),
        )


def findings(page: RealPage, browser: Browser | None) -> Iterator[tuple[ScanType, CheckResult]]:
    """Scan a page for all types, and yield findings with at least medium severity.

    Raises PageNotJudged if the browser could not load the page, because the findings would be those of a scan without
    browser.
    """
    for result in scan_page(page, browser):
        assert result.score is not None, (page.name, result.error)
        if browser is not None and PARTS_BY_SCAN_TYPE[result.type] and result.browser is None:
            raise PageNotJudged(result.skipped_checks[0].reason)
        for category in result.categories:
            for check in category.checks:
                if check.status != "pass" and check.severity in COUNTED_SEVERITIES:
                    yield result.type, check


def _count_findings(pages: Iterable[RealPage], browser: Browser | None) -> tuple[Counter[Finding], Counter[Finding]]:
    """Count pages with a finding, and pages where the owner would agree with it.

    Both counts are by check.
    """
    all_findings: Counter[Finding] = Counter()
    agreed: Counter[Finding] = Counter()
    for page in pages:
        try:
            page_findings = list(findings(page, browser))
        except PageNotJudged as error:
            print(f"left out: {page.name} ({error})", flush=True)
            continue
        for scan_type, check in page_findings:
            all_findings[scan_type, check.id] += 1
            agreed[scan_type, check.id] += check.id in page.agreed[scan_type]
    return all_findings, agreed


def _figures(all_findings: Counter[Finding], agreed: Counter[Finding], finding: Finding) -> tuple[int | str, str]:
    return (
        (all_findings[finding], f"{agreed[finding] / all_findings[finding]:.0%}") if all_findings[finding] else ("", "")
    )
