"""Tests for links to check pages in all formats of a report."""

from __future__ import annotations

from typing import Any

import pytest

from scans.check_catalogue import check_name, check_pages
from tests.jinja_templates import macro
from tests.results import stored_finding
from website_scan.command.formats.markdown import markdown
from website_scan.command.formats.sarif import sarif
from website_scan.command.gate import CommandReport, CommandResult
from website_scan.report.cards import CardContext, card_of
from website_scan.report.references import page_url
from website_scan.report.sarif import run
from website_scan.report_json import ExportJson

PAGES = "https://scan.acme.test/docs/checks/"


def document(check_id: str = "hsts") -> ExportJson:
    check = stored_finding(check_id, points=1.0, later=1.0, references=("CWE-319",))
    return {
        "id": "",
        "report_id": "",
        "type": "security",
        "url": "https://example.com/",
        "score": 80,
        "grade": "B",
        "caps": [],
        "held": "",
        "created_at": "2026-11-21T13:17:38Z",
        "completed_at": "2026-11-21T13:17:41Z",
        "catalogue_version": "1",
        "categories": [{"name": "Transport security", "score": 80, "checks": [check]}],
        "summary": {
            "total_checks": 1,
            "passed": 0,
            "failed": 1,
            "warnings": 0,
            "critical": 0,
            "high": 1,
            "medium": 0,
            "low": 0,
        },
        "skipped_checks": [],
        "omitted_checks": [],
        "browser": None,
        "status": "completed",
    }


def card(check_pages: str) -> str:
    exported = document()["categories"][0]["checks"][0]
    shown = card_of(exported, CardContext(check_pages=check_pages))
    return str(macro("report/card.html", "card")(shown))


def test_removed_check_has_no_page_url() -> None:
    assert page_url(PAGES, "hsts") == f"{PAGES}hsts"
    assert page_url(PAGES, "retired-check") == ""
    assert page_url("", "hsts") == ""
    assert check_name("retired-check") == "retired-check"


def test_finding_card_links_to_the_check_page() -> None:
    assert 'href="/docs/checks/hsts"' in card("/docs/checks/")
    assert "<code>hsts</code>" in card("")
    assert "/docs/checks/" not in card("")


def test_sarif_links_to_check_pages(settings: Any) -> None:
    def uri(check_id: str, pages: str) -> str:
        (rule,) = run([(document(check_id), {})], "security", pages)["tool"]["driver"]["rules"]
        return str(rule["helpUri"])

    assert uri("hsts", check_pages()) == f"{settings.BASE_URL}/docs/checks/hsts"
    # Without a service, and for removed checks, the first reference is linked.
    assert uri("hsts", "") == uri("retired-check", PAGES) == "https://cwe.mitre.org/data/definitions/319.html"


@pytest.mark.parametrize("pages", ["", PAGES])
def test_command_links_to_check_pages(pages: str) -> None:
    outcome = CommandResult([CommandReport(document())], [], 1, pages)
    assert (f"[`hsts`]({PAGES}hsts)" in markdown(outcome)) is bool(pages)
    assert (f"{PAGES}hsts" in sarif(outcome)) is bool(pages)
