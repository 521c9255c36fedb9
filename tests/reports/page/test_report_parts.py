"""Tests for the parts of the report page."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from msgspec.structs import replace

from scans.visits.claims import claim_scan, finish_scan
from tests.factories import Member, make_result, make_scan
from tests.reports.people import page_of, person, text_of
from tests.results import check_of, read_rows
from website_scan.findings import CRITICAL, HIGH, LOW
from website_scan.report.report_page import report_page
from website_scan.result import CategoryResult, CheckResult, CheckStatus, SkippedCheck


def report_page_of_result(member: Member, **columns: Any) -> Any:
    """Return the report page of a scan with these columns."""
    scan = make_scan(member, type=columns.pop("type", "security"))
    claim = claim_scan(scan.id)
    assert claim is not None
    assert finish_scan(claim, make_result(scan, columns.pop("status", "completed"), **columns))
    return person(member.organization).get(f"/report/{scan.id}")


def category(*checks: CheckResult, name: str = "Loading") -> tuple[CategoryResult, ...]:
    return (CategoryResult("x", name, 10, checks, 50),)


def test_page_explains_the_grade(home: Member) -> None:
    text = text_of(report_page_of_result(home, score=99, grade="A+"))
    assert "99 / 100" in text
    assert "Excellent: no significant problems." in text


def test_notice_is_shown_once(home: Member) -> None:
    text = text_of(report_page_of_result(home, score=79, grade="C", facts={"notice": "The page shows no content."}))
    assert text.count("The page shows no content.") == 1
    assert text.index("The page shows no content.") < text.index(
        "could not run" if "could not run" in text else "failed"
    )


def test_accessibility_report_explains_its_limits(home: Member) -> None:
    assert "Automated checks find only some barriers" in text_of(report_page_of_result(home, type="accessibility"))
    assert "Automated checks" not in text_of(report_page_of_result(home))


def test_coverage_section_explains_the_categories(home: Member) -> None:
    checks = category(check_of("c", "C", "C", "fail", LOW, LOW, "No.", "Do."), name="Caching")
    page = page_of(report_page_of_result(home, type="performance", categories=checks))
    meaning = "Files that browsers may keep for the next page."
    (explanation,) = page.xpath(f"//dd[.='{meaning}']")
    assert explanation.getprevious().text == "Caching"
    assert explanation.xpath("ancestor::details/summary/h2/@id") == ["coverage"]
    assert page.text_content().count(meaning) == 1


def test_top_findings_link_to_their_cards(home: Member) -> None:
    checks = [check_of(f"c{n}", f"C{n}", f"Check {n}", "fail", LOW, LOW, "No.", "Do.", points=n) for n in range(8)]
    page = page_of(report_page_of_result(home, categories=category(*checks)))
    links = page.xpath("//ol[@class='first']/li/a/@href")
    assert links == [f"#check-c{n}" for n in (7, 6, 5, 4, 3)]
    assert all(page.xpath(f"//li[@id='{link[1:]}']") for link in links)


def test_capping_finding_comes_first(
    home: Member,
) -> None:
    hints = (
        check_of("low", "Low", "Low", "fail", LOW, LOW, "No.", "Do."),
        check_of("warned", "Warned", "Warned", "warn", HIGH, HIGH, "No.", "Do."),
    )
    later = check_of("later", "Later", "Later", "fail", LOW, LOW, "No.", "Do.", later=2.0)
    holder = check_of("holder", "Holder", "Holder", "fail", HIGH, HIGH, "No.", "Do.", later=1.0, holds=True)
    capped = page_of(report_page_of_result(home, categories=category(*hints, later, holder)))
    assert capped.xpath("//ol[@class='first']/li/a/@href") == ["#check-holder", "#check-later"]
    uncapped = report_page_of_result(home, categories=category(*hints))
    assert "Nothing to fix would raise the score." in text_of(uncapped)


def test_performance_report_starts_with_metrics(home: Member) -> None:
    lcp = check_of(
        "lcp",
        "Largest contentful paint",
        "Largest contentful paint",
        "fail",
        HIGH,
        HIGH,
        "Slow.",
        "Do.",
        details=read_rows(
            [
                {
                    "kind": "figures",
                    "columns": [{"name": "median", "label": "Median", "format": "number"}],
                    "rows": [[4.25]],
                    "total": 1,
                }
            ]
        ),
    )
    page = page_of(report_page_of_result(home, type="performance", categories=category(lcp)))
    (figure,) = page.xpath("//ul[@class='metrics']/li")
    assert "4.2 s" in " ".join(figure.text_content().split())
    assert figure.xpath("a/@href") == ["#check-lcp"]
    assert not page_of(report_page_of_result(home, categories=category(lcp))).xpath("//ul[@class='metrics']")


BROWSER_FACTS = {"checks_planned": 3, "checks_known": 3, "browser": "Chromium 150", "axe_core": "4.12.1"}
LOADED = "The page was loaded in Chromium 150"


@pytest.mark.parametrize(
    ("scan_type", "facts", "expected"),
    [
        (
            "accessibility",
            {"checks_planned": 5, "checks_known": 9},
            "No browser was available, so 5 of the 9 checks were planned.",
        ),
        ("accessibility", BROWSER_FACTS, f"{LOADED}, and examined with axe-core 4.12.1."),
        ("performance", BROWSER_FACTS, f"{LOADED}."),
        ("security", {"checks_planned": 4, "checks_known": 4}, "3 checks ran; 1 more does not apply to this page."),
    ],
)
def test_page_shows_the_number_of_checks(home: Member, scan_type: str, facts: dict[str, Any], expected: str) -> None:
    assert expected in text_of(report_page_of_result(home, type=scan_type, facts=facts))


def test_skipped_checks_are_grouped_by_reason(home: Member) -> None:
    skipped = [SkippedCheck(f"s{n}", f"Skipped {n}", "Late." if n < 3 else "Lost.", "late") for n in range(1, 4)]
    response = report_page_of_result(home, status="partial", skipped_checks=tuple(skipped))
    reasons = [" | ".join(item.xpath("p/text()")) for item in page_of(response).xpath("//ul[@class='skipped']/li")]
    assert reasons == ["Skipped 1, Skipped 2 | Late.", "Skipped 3 | Lost."]
    assert "This report is partial: 3 checks could not run" in text_of(response)


def test_report_is_complete_without_scripts(home: Member) -> None:
    """Buttons that need scripts must be hidden without scripts.

    CSS hides copy buttons; `hidden` hides the others.
    """
    page = page_of(report_page_of_result(home))
    for button in page.xpath("//article//button[@type='button']"):
        works_without_script = button.get("popovertarget") is not None or button.get("data-copy") is not None
        assert works_without_script or button.get("hidden") is not None or button.getparent().get("hidden") is not None
    fixes = page.xpath("//button[@data-copy='' and not(preceding-sibling::*)]/following-sibling::*[1]//span")
    assert [fix.text_content() for fix in fixes] == ["Mend it.", "Polish it."]
    hrefs = page.xpath("//a[@download]/@href")
    assert [href.rpartition("/")[2] for href in hrefs] == ["json", "sarif", "csv"]


def test_heading_levels_are_not_skipped(home: Member) -> None:
    page = page_of(report_page_of_result(home))
    levels = [int(heading.tag[1]) for heading in page.xpath("//main//*[self::h1 or self::h2 or self::h3 or self::h4]")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_element_ids_are_unique(home: Member) -> None:
    ids = page_of(report_page_of_result(home)).xpath("//@id")
    assert len(ids) == len(set(ids))


def test_report_of_an_older_catalogue_is_shown() -> None:
    """The page must tolerate unknown grades and missing data."""
    export: Any = {
        "type": "security",
        "grade": "E",
        "score": 1,
        "url": "https://example.com/",
        "created_at": "2020-01-01T00:00:00Z",
        "completed_at": "2020-01-01T00:00:09Z",
        "caps": [],
        "held": "",
        "skipped_checks": [],
        "summary": {"total_checks": 0},
        "categories": [{"name": "A former one", "score": 1, "checks": []}],
    }
    page = report_page(export, {})
    assert (page.meaning, page.categories[0].meaning, page.first) == ("", "", ())
    assert not page.coverage.is_static


@pytest.mark.parametrize(
    ("points", "score", "statuses", "expected"),
    [
        (2.0, 0, ("fail", "pass"), "0 of 100 (2% of the score)"),
        (9.0, 0, ("fail", "pass"), "0 of 100"),
        (1.0, 60, ("fail", "pass"), "60 of 100"),
        (0.5, 0, ("fail", "fail"), "0 of 100"),
        (0.5, 0, ("fail", "warn"), "0 of 100"),
        (0.0, 0, ("fail", "pass"), "0 of 100"),  # The category has no known share of the score.
    ],
)
def test_heading_mentions_a_single_minor_failure(
    home: Member, points: float, score: int, statuses: tuple[CheckStatus, ...], expected: str
) -> None:
    checks = [
        check_of(f"c{n}", "C", "C", status, None if status == "pass" else LOW, LOW, "M.", later=points)
        for n, status in enumerate(statuses)
    ]
    (tested_category,) = category(*checks)
    page = page_of(report_page_of_result(home, categories=(replace(tested_category, score=score),), score=90))
    (heading,) = page.xpath("//*[@class='points-of']")
    assert " ".join(heading.text_content().split()) == expected


def test_critical_finding_comes_first(home: Member) -> None:
    policy = check_of("policy", "P", "No policy", "fail", HIGH, HIGH, "M.", points=14.4)
    leak = check_of("leak", "L", "Git repository is public", "fail", CRITICAL, CRITICAL, "M.", points=1.2)
    page = page_of(report_page_of_result(home, categories=category(policy, leak), score=40))
    (first_findings,) = page.xpath("//ol[@class='first']")
    assert [" ".join(item.text_content().split()) for item in first_findings] == [
        "Git repository is public Critical",
        "No policy High",
    ]
    assert "Critical findings come first." in page.text_content()
