"""Checks as cards: readable evidence, with everything from the site escaped."""

from __future__ import annotations

from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import html
from website_scan.report.evidence.columns import COLUMNS

from tests.jinja_templates import macro
from website_scan.document import ExportedFinding, ExportedPass
from website_scan.report.cards import CardContext, card_of

EVIL = "<script>alert(1)</script>\"'&{}{0}"


def exported(**columns: Any) -> ExportedFinding | ExportedPass:
    """Return a check as in the JSON export."""
    check = {"id": "x", "name": "X", "title": "X", "status": "fail", "severity": "high", "message": "M", "why": ""}
    figures = {"points": 1, "later": 1, "holds": False}
    whole = check | figures | {"evidence": [], "references": []} | columns
    return cast("ExportedFinding | ExportedPass", whole)


def card(*, server: str = "", check_pages: str = "", **columns: Any) -> html.HtmlElement:
    return html.fromstring(
        macro("report/card.html", "card")(
            card_of(exported(**columns), CardContext(server=server, check_pages=check_pages))
        )
    )


def test_whatever_comes_from_outside_stays_text() -> None:
    found = card(
        title=EVIL,
        message=EVIL,
        fix=EVIL,
        severity=EVIL,
        evidence=[{EVIL: EVIL}, {EVIL: "2"}, {"other": EVIL}],
        references=[EVIL, "javascript:alert(1)", f"https://a.test/{EVIL}"],
    )
    assert found.xpath("//script") == []
    assert not [name for name in found.xpath("//@*") if name == "alert(1)"]
    assert found.text_content().count("<script>alert(1)</script>") >= 7
    assert found.xpath("//p[@class='references']//a/@href") == [f"https://a.test/{EVIL}"]


def test_what_a_site_sent_fills_no_page() -> None:
    whole, long = "a" * 1000, "b" * 4000
    (shown,) = card(evidence=[{"value": long}, {"value": whole}]).xpath("//table")
    first, second = (each.text_content().strip() for each in shown.xpath(".//td"))
    assert first == "b" * 1000 + "… (4,000 characters; the JSON export has them all)"
    assert second == whole


def test_one_thing_seen_is_told_in_pairs_without_what_is_empty() -> None:
    found = card(id="lcp", evidence=[{"median": 2.5, "host_ms": None, "url": "https://a.test/"}])
    assert [each.text for each in found.xpath("//dt")] == ["Median", "Address"]
    assert [each.text_content().strip() for each in found.xpath("//dd")] == ["2.5 s", "https://a.test/"]
    assert found.xpath("//table") == []


def test_several_things_are_a_table_and_a_sum_before_them_is_apart() -> None:
    found = card(evidence=[{"median": 0.2}, {"selector": "a", "shift": 0.1}, {"selector": "b", "in_html": True}])
    assert [each.text for each in found.xpath("//dt")] == ["Median"]
    assert [each.text for each in found.xpath("//th[@scope='col']")] == ["Selector", "Layout shift", "In the HTML"]
    assert [[value.text_content().strip() for value in row] for row in found.xpath("//tbody/tr")] == [
        ["aCopy", "0.1", ""],
        ["bCopy", "", "Yes"],
    ]
    assert found.xpath("//table/@aria-label") == ["Evidence of X, part 2"]


def test_places_are_one_line_that_says_how_many_and_opens() -> None:
    found = card(evidence=[{"selector": f"#e{number}", "status": 404} for number in range(12)])
    (table,) = found.xpath("//table")
    folded = table.getparent().getparent()
    assert folded.tag == "details"
    assert folded.get("open") is None
    assert folded.xpath("summary/text()") == ["12 elements"]
    assert [each.text for each in table.xpath(".//code")] == [f"#e{number}" for number in range(12)]
    # On narrow screens a row is a block, so each cell has its own label.
    assert set(table.xpath(".//td/@data-label")) == {"Selector", "HTTP status"}


@pytest.mark.parametrize(
    ("evidence", "line"),
    [
        ([{"url": f"https://a.test/{number}.js", "bytes": 90_000} for number in range(4)], "4 files, 360 kB"),
        ([{"url": f"/{number}", "bytes": 9_000, "wasted_bytes": 1} for number in range(4)], "4 addresses"),
        ([{"cookie": "a"}, {"cookie": "b"}], "2 entries"),
        ([{"selector": "a"}], "1 element"),
        ([{"exception": "TypeError: a is undefined"}], "Details"),
        ([{"exception": "TypeError: a is undefined"}, {"exception": "b"}], "2 errors"),
        ([{"policy": "img-src *"}, {"policy": "object-src 'none'"}], "2 policies"),
        ([{"url": "/a.js", "bytes": 90_000}], "Details"),
        ([{"median": 2.5, "spread": 0.1}], "Details"),
        # A report keeps only the first places: their number and size are not those of all.
        ([{"url": f"/{number}.js", "bytes": 90_000} for number in range(20)], "The first 20 files"),
    ],
)
def test_a_line_says_what_it_opens(evidence: list[dict[str, Any]], line: str) -> None:
    assert card(evidence=evidence).xpath("//details[@class='rows']/summary/text()") == [line]


def test_what_the_message_says_is_not_repeated_below_it() -> None:
    message = "1 script of 138 kB blocks: https://a.test/shop.js."
    found = card(message=message, evidence=[{"url": "https://a.test/shop.js", "bytes": 138_000, "selector": "a.test"}])
    assert [each.text for each in found.xpath("//dt")] == ["Selector"]  # it can be copied
    found = card(message=message, evidence=[{"url": "https://a.test/shop", "bytes": 38_000}])
    assert [each.text for each in found.xpath("//dt")] == ["Address", "Size"]


def test_a_finding_is_one_line_until_it_is_opened() -> None:
    (details,) = card(fix="Fix it.", points=2.5).xpath("//details[@class='check-body']")
    assert details.get("open") is None
    assert details.xpath("summary")[0].text_content().split() == ["X", "High", "+2.5", "points"]
    # Links within a summary would be two targets in one.
    assert not details.xpath("summary//a | summary//button")


def test_an_open_finding_says_what_why_and_fix_and_folds_the_rest_to_one_line() -> None:
    found = card(
        is_open=True, fix="Fix it.", message="One link has no name. Nobody can tell.", evidence=[{"selector": "a"}]
    )
    (told,) = found.xpath("//details[@class='check-body']/div[@class='told']")
    assert [each.get("class") for each in told] == ["message", "fix", "folds"]
    assert [each.text for each in told.xpath("div[@class='folds']/details/summary")] == ["1 element", "Sources"]
    assert told.xpath("div[@class='folds']/details[@open]") == []


def test_the_reason_is_said_once_though_the_finding_includes_others() -> None:
    why = "Nobody can tell."
    (message,) = card(message=f"No title. {why} This includes “No card”.", why=why).xpath("//p[@class='message']")
    assert message.text == f"No title. This includes “No card”. {why}"


def test_what_a_passed_check_has_seen_is_folded_with_it() -> None:
    found = card(status="pass", severity=None, evidence=[{"path": "/a"}, {"path": "/b"}])
    (details,) = found.xpath("//details[@class='check-body']")
    assert details.get("open") is None
    assert len(details.xpath(".//tbody/tr")) == 2


def test_code_has_a_button_that_copies_what_stands_before_it() -> None:
    for markup in (card(evidence=[{"snippet": "<a>"}]), card(evidence=[{"snippet": "<a>"}, {"snippet": "<b>"}])):
        for button in markup.xpath("//*[contains(@class, 'seen')]//button"):
            assert button.get("data-copy") == ""
            assert button.getprevious().tag == "code"


def test_contrast_is_told_in_figures_and_colours() -> None:
    why = (
        "Element has insufficient color contrast of 4.31 (foreground color: #777a80, background color: #fefefe, "
        "font size: 9.0pt (12px), font weight: normal). Expected contrast ratio of 4.5:1"
    )
    found = card(id="color-contrast", evidence=[{"selector": "#a", "why": why}])
    told = {each[0].text: each[1].text_content().split() for each in found.xpath("//dl/div")}
    assert " ".join(told["Contrast"]) == "4.31:1, needs 4.5:1 at 12px #777a80 on #fefefe"
    assert found.xpath("//rect/@fill") == ["#777a80", "#fefefe"]
    assert found.xpath("//svg[@class='swatch']/@aria-hidden") == ["true", "true"]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from([*COLUMNS, "what", EVIL]), st.one_of(
    st.text(max_size=60), st.sampled_from([EVIL, "https://" + EVIL * 4, "#ffffff on \"><script>", None, True]),
    st.integers(), st.floats(allow_nan=False, allow_infinity=False),
), max_size=4), max_size=8))  # fmt: skip
def test_no_evidence_breaks_out_of_its_cell(evidence: list[dict[str, Any]]) -> None:
    found = card(id="color-contrast", evidence=evidence)
    elements = {each.tag for each in found.iter() if isinstance(each.tag, str)}
    assert elements <= {
        *("li", "a", "svg", "use", "div", "h4", "p", "span", "strong", "code", "button", "details", "summary"),
        *("table", "thead", "tbody", "tr", "th", "td", "dl", "dt", "dd", "rect"),
    }
    assert {name for each in found.iter() for name in each.keys()} <= {  # noqa: SIM118  # attributes
        *("class", "id", "aria-hidden", "aria-label", "href", "hidden", "type", "scope", "title", "data-label"),
        *(
            "data-copy",
            "data-severity",
            "data-first",
            "open",
            "rel",
            "aria-describedby",
            "viewbox",
            "width",
            "height",
            "fill",
        ),
    }
    assert found.xpath("//a/@href") == card(id="color-contrast").xpath("//a/@href")
    for table in found.xpath("//table"):
        assert len({len(row) for row in table.xpath(".//tr")}) == 1


def test_criteria_are_links_and_not_repeated_in_the_evidence() -> None:
    found = card(
        references=["WCAG 4.1.2 Name, Role, Value (A)", "axe-core: label"],
        evidence=[{"selector": "#a", "wcag": "4.1.2", "level": "A"}],
    )
    (criterion, rule) = found.xpath("//p[@class='references']/a")
    assert criterion.text == "WCAG 4.1.2 A"
    assert criterion.get("href").endswith("/name-role-value")
    assert rule.text == "axe-core: label"
    assert [each.text for each in found.xpath("//dt")] == ["Selector"]
    assert not found.xpath("//table")


def test_without_evidence_fix_or_findings_a_card_has_none_of_them() -> None:
    found = card(status="pass", severity=None, points=0, evidence=[{}])
    assert found.xpath("//details//details | //table | //dl | //button | //*[@class='tags']") == []
    assert "is-pass" in found.get("class")


@pytest.mark.parametrize(
    ("points", "shown"), [(0, ""), (1, "+1 point"), (2.5, "+2.5 points"), (0.1, "+0.1 points"), (10.0, "+10 points")]
)
def test_points_are_counted_in_words(points: float, shown: str) -> None:
    assert card_of(exported(points=points)).win == shown
