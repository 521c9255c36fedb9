"""Tests for the report page's filters.

The filters must agree with static/js/findings.js.
"""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from scans.visits.claims import claim_scan, finish_scan
from tests.factories import Member, finished_scan, make_result, make_scan
from tests.reports.people import page_of, person, text_of
from tests.responses import ClientResponse
from tests.results import check_of, elements, stored
from website_scan.catalogue import checks
from website_scan.findings import CRITICAL, HIGH, LOW, ScanType
from website_scan.report.filters import Filter
from website_scan.report.metrics import METRICS, METRICS_BY_CHECK
from website_scan.result import CategoryResult, CheckResult

CHECK = stored(
    check_of(
        "lcp",
        "Largest contentful paint",
        "Slow largest contentful paint",
        "fail",
        CRITICAL,
        CRITICAL,
        "It shows after 6.3 s.",
        "Make it smaller.",
        elements("img.Hero"),
    )
)


@pytest.mark.parametrize(
    ("query", "is_shown"),
    [
        ({}, True),
        ({"show": "failed"}, True),
        ({"show": "warnings"}, False),
        ({"show": "passed"}, False),
        ({"severity": "critical"}, True),
        ({"severity": "low"}, False),
        ({"metric": "lcp"}, True),
        ({"metric": "cls"}, False),
        ({"q": "  CONTENTFUL  slow "}, True),
        ({"q": "hero smaller 6.3"}, True),
        ({"q": "slow nowhere"}, False),
        ({"show": "failed", "severity": "critical", "metric": "lcp", "q": "hero"}, True),
        ({"show": "failed", "severity": "high"}, False),
        # Unknown values of a filter are ignored.
        ({"show": "broken", "severity": "urgent", "metric": "ttfb", "other": "x"}, True),
        ({"show": "FAILED"}, True),
        ({"q": "x" * 5000}, False),
        ({"q": "\0"}, False),
    ],
)
def test_finding_must_match_all_filters(query: dict[str, str], is_shown: bool) -> None:
    assert Filter.parse_query(query, "performance").fits(CHECK) is is_shown


def test_metric_filter_is_for_performance_only() -> None:
    assert not Filter.parse_query({"metric": "lcp"}, "security").is_active


def test_filter_builds_a_query_string() -> None:
    page_filter = Filter(show="failed", severity="high", q="a & b=c #1")
    assert page_filter.query == "show=failed&severity=high&q=a+%26+b%3Dc+%231"
    assert Filter().query == ""


def test_only_performance_checks_affect_metrics() -> None:
    assert set(METRICS_BY_CHECK) <= {check.id for check in checks(ScanType.PERFORMANCE)}
    assert {metric for metrics in METRICS_BY_CHECK.values() for metric in metrics} == set(METRICS)


def shown_check_ids(response: ClientResponse) -> list[str]:
    """Return the IDs of the displayed checks in page order."""
    ids = page_of(response).xpath("//li[contains(@class, 'check is-')][not(ancestor-or-self::*[@hidden])]/@id")
    return [id.removeprefix("check-") for id in ids]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["bad", "meh", "good"]),
        ("show=failed", ["bad"]),
        ("show=warnings", ["meh"]),
        ("show=passed", ["good"]),
        ("severity=low", ["meh"]),
        ("q=mend", ["bad"]),
        ("q=%3Cb%3Ebad", ["bad"]),
        ("q=nowhere", []),
        ("show=failed&severity=low", []),
        ("show=&severity=&metric=&q=", ["bad", "meh", "good"]),
        ("show=%FF&severity[]=x&q", ["bad", "meh", "good"]),
    ],
)
def test_filters_work_without_scripts(home: Member, query: str, expected: list[str]) -> None:
    scan = finished_scan(home)
    response = person(home.organization).get(f"/report/{scan.id}?{query}")
    assert response.status_code == 200
    assert shown_check_ids(response) == expected
    assert f"{len(expected)} of 3 shown" in text_of(response)
    assert response["X-Robots-Tag"] == "noindex, nofollow"
    assert "no-store" in response["Cache-Control"]
    page = page_of(response)
    is_filtered = len(expected) < 3
    assert page.xpath("boolean(//a[@class='clear-filters'][not(@hidden)])") is is_filtered
    assert page.xpath("boolean(//*[@data-nothing][not(@hidden)])") is (not expected)
    # A category without displayed checks is hidden completely.
    assert bool(page.xpath("//section[contains(@class, 'category')][not(@hidden)]")) is bool(expected)
    # Passed checks are unfolded if the filter selects them.
    if "good" in expected and is_filtered:
        assert page.xpath("//details[contains(@class, 'passed')]/@open")


def test_filtered_page_links_to_the_unfiltered_page(home: Member) -> None:
    scan = finished_scan(home)
    client = person(home.organization)
    (link,) = page_of(client.get(f"/report/{scan.id}")).xpath("//ol[@class='first']//a/@href")
    assert link == "#check-meh"
    filtered = client.get(f"/report/{scan.id}?show=failed")
    (link,) = page_of(filtered).xpath("//ol[@class='first']//a/@href")
    assert link == f"/report/{scan.id}#check-meh"


def test_search_text_is_escaped(home: Member) -> None:
    scan = finished_scan(home)
    response = person(home.organization).get(f"/report/{scan.id}", {"q": '"><script>alert(1)</script>'})
    page = page_of(response)
    assert page.xpath("//script[not(@src)]") == []
    assert page.xpath("//input[@name='q']/@value") == ['"><script>alert(1)</script>']


def test_strangers_can_filter_a_shared_report(home: Member) -> None:
    scan = finished_scan(home)
    owner = person(home.organization, "owner")
    owner.post(f"/report/{scan.id}/share", {"shared": "on"})
    assert shown_check_ids(person(None).get(f"/report/{scan.id}?show=failed")) == ["bad"]


def test_passed_categories_share_one_section(home: Member) -> None:
    def category(name: str, *checks: CheckResult) -> CategoryResult:
        return CategoryResult(name.lower(), name, 10, checks, 100)

    def passed(id: str) -> CheckResult:
        return check_of(id, id, id, "pass", None, HIGH, "All is well.")

    warned = check_of("hint", "Hint", "Hint", "warn", LOW, LOW, "Look at it.", "Look.", weighs=False)
    scan = make_scan(home)
    result = make_result(scan)
    categories = (
        category("Fine", passed("a"), passed("b")),
        *result.categories,
        category("Fine too", passed("c")),
        category("To be looked at", warned),
    )
    claim = claim_scan(scan.id)
    assert claim is not None
    assert finish_scan(claim, replace(result, categories=categories))
    page = page_of(person(home.organization).get(f"/report/{scan.id}"))
    headings = page.xpath("//section[contains(@class, 'category')]//h2/text()")
    assert [heading.strip() for heading in headings] == ["Things", "To be looked at", "Nothing to fix"]
    groups = page.xpath("//section[contains(@class, 'clear')]//details[contains(@class, 'group')]")
    assert [group.xpath("string(./summary/h3)") for group in groups] == ["Fine", "Fine too"]
    # All link targets of the table of contents must exist.
    targets = page.xpath("//nav[@class='contents']//a/@href")
    assert all(page.xpath("//*[@id=$id]", id=target.removeprefix("#")) for target in targets)
