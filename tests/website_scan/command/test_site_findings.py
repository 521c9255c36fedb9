"""Tests for findings that are grouped over the pages of a site."""

from __future__ import annotations

from tests.website_scan.command.reports import check_result, failed_scan, judged_report
from website_scan.command.formats.site_text import site_text
from website_scan.command.formats.text import plain
from website_scan.command.gate import CommandResult
from website_scan.command.reported_page import ReportedPage
from website_scan.command.site_findings import group_findings
from website_scan.findings import Severity

HOME, SHOP = "https://example.com/", "https://example.com/shop"


def test_grouped_finding_is_that_of_the_worst_page() -> None:
    reports = [
        judged_report(check_result("hsts", "warn", Severity.LOW), check_result("csp", severity=Severity.LOW), url=HOME),
        judged_report(check_result("hsts", severity=Severity.HIGH), url=SHOP),
    ]
    hsts, csp = group_findings(reports)
    assert (hsts.finding["id"], hsts.finding["status"], hsts.pages) == (
        "hsts",
        "fail",
        (ReportedPage(SHOP), ReportedPage(HOME)),
    )
    assert (csp.finding["id"], csp.pages) == ("csp", (ReportedPage(HOME),))


def test_site_text_names_failed_pages_once() -> None:
    reports = [judged_report(check_result("hsts"), url=HOME), failed_scan(SHOP), failed_scan(f"{SHOP}/a")]
    lines = list(site_text(CommandResult(reports, [], requested=3), plain, 100))
    assert f"2 pages, such as {SHOP}  seo  not scanned" in lines
    assert lines.count("  Nobody answers.") == 1
    assert "    On /." in lines
