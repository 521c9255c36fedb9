"""Checks as cards: evidence that can be read, and nothing of the site's that becomes markup."""

from __future__ import annotations

from typing import Any

import pytest
from django.template import engines
from lxml import html

from reports.page.cards import card_of
from reports.page.evidence import cell, label, tables

EVIL = "<script>alert(1)</script>\"'&{}{0}"


def exported(**columns: Any) -> dict[str, Any]:
    """A check of the JSON export."""
    check = {"id": "x", "name": "X", "status": "fail", "severity": "high", "message": "M", "points": 1}
    return check | {"evidence": [], "references": []} | columns


def card(**columns: Any) -> html.HtmlElement:
    template = engines["jinja2"].env.get_template("report/card.html")
    return html.fromstring(template.module.card(card_of(exported(**columns))))


def test_whatever_comes_from_outside_stays_text() -> None:
    found = card(
        name=EVIL,
        message=EVIL,
        fix=EVIL,
        severity=EVIL,
        evidence=[{EVIL: EVIL}, {EVIL: "2"}, {"other": EVIL}],
        references=[EVIL, "javascript:alert(1)", f"https://a.test/{EVIL}"],
    )
    assert found.xpath("//script") == []
    assert not [name for name in found.xpath("//@*") if name == "alert(1)"]
    assert found.text_content().count("<script>alert(1)</script>") >= 7
    assert found.xpath("//p[@class='sources']//a/@href") == [f"https://a.test/{EVIL}"]


def test_what_a_site_sent_fills_no_page() -> None:
    whole, long = "a" * 1000, "b" * 4000
    (shown,) = card(evidence=[{"url": long}, {"url": whole}]).xpath("//table")
    first, second = (each.text for each in shown.xpath(".//td"))
    assert first == "b" * 1000 + "… (4,000 characters; the JSON export has them all)"
    assert second == whole


def test_one_thing_seen_is_told_in_pairs_without_what_is_empty() -> None:
    found = card(evidence=[{"median": 2.5, "host_ms": None, "url": "https://a.test/"}])
    assert [each.text for each in found.xpath("//dt")] == ["Median", "URL"]
    assert [each.text for each in found.xpath("//dd")] == ["2.5", "https://a.test/"]
    assert found.xpath("//table") == []


def test_several_things_are_a_table_and_a_sum_before_them_is_apart() -> None:
    found = card(evidence=[{"median": 0.2}, {"selector": "a", "shift": 0.1}, {"selector": "b", "more": True}])
    assert [each.text for each in found.xpath("//dt")] == ["Median"]
    assert [each.text for each in found.xpath("//th[@scope='col']")] == ["Selector", "Shift", "More"]
    assert [[each.text for each in row.xpath("td")] for row in found.xpath("//tbody/tr")] == [
        ["a", "0.1", None],
        ["b", None, "yes"],
    ]
    assert found.xpath("//details/summary/span")[0].text == "3"
    (region,) = found.xpath("//*[@role='region']")
    assert region.get("aria-label") == "Evidence of X, part 2"
    assert region.get("tabindex") == "0"


def test_criteria_are_tags_and_not_repeated_in_the_evidence() -> None:
    found = card(
        references=["WCAG 4.1.2 Name, Role, Value (A)", "axe-core: label"],
        evidence=[{"selector": "#a", "wcag": "4.1.2", "level": "A"}],
    )
    (tag,) = found.xpath("//a[@class='tag']")
    assert tag.text == "WCAG 4.1.2 A"
    assert tag.get("href").endswith("/name-role-value")
    assert [each.text for each in found.xpath("//dt")] == ["Selector"]
    assert found.xpath("//p[@class='sources']/a/text()") == ["axe-core: label"]


def test_without_evidence_fix_or_findings_a_card_has_none_of_them() -> None:
    found = card(status="pass", severity=None, points=0, evidence=[{}])
    assert found.xpath("//details//details | //button | //p[@class='tags']") == []
    assert "is-pass" in found.get("class")


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("wire_bytes", 2048, "2.0 kB"),
        ("host_ms", 44.4, "44.4 ms"),
        ("lifetime_s", 60, "60 s"),
        ("is_lazy", False, "no"),
        ("size_bytes", "many", "many"),
        ("why", None, ""),
    ],
)
def test_values_carry_the_unit_that_their_name_tells(name: str, value: object, shown: str) -> None:
    assert cell(name, value) == shown


def test_names_are_words() -> None:
    assert [label(name) for name in ("wire_bytes", "final_url", "css", "seen_s")] == [
        "Wire",
        "Final URL",
        "CSS",
        "Seen",
    ]


def test_no_evidence_is_no_table() -> None:
    assert tables([]) == tables([{}, {}]) == ()


@pytest.mark.parametrize(
    ("points", "shown"), [(0, ""), (1, "+1 point"), (2.5, "+2.5 points"), (0.1, "+0.1 points"), (10.0, "+10 points")]
)
def test_points_are_counted_in_words(points: float, shown: str) -> None:
    assert card_of(exported(points=points)).win == shown
