"""Checks as cards: readable evidence, with everything from the site escaped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import html

from tests.jinja_templates import macro
from tests.results import Named, check_of, elements, stored
from tests.website_scan.kinds_of_places import kinds, places_of_kind
from website_scan.browser.unshown import Cause
from website_scan.findings import HIGH
from website_scan.performance.checks.compression import UncompressedText
from website_scan.performance.checks.loading import Figures, ShiftedElement
from website_scan.performance.places import LoadedFile
from website_scan.places import Column, Element, Place, Resource, Rows
from website_scan.report.cards import CardContext, card_of
from website_scan.report_json import ExportedCheck
from website_scan.result import HowToFix
from website_scan.security.checks.csp import PolicyRow


@dataclass(frozen=True, slots=True)
class Blocking(Place):
    """File with an element, for tests."""

    kind: ClassVar[str] = "blocking"

    url: Annotated[str, Column("Address", "address")]
    size: Annotated[int, Column("Size", "number", "bytes")]
    selector: Annotated[str, Column("Selector", "code")]


EVIL = "<script>alert(1)</script>\"'&{}{0}"


def exported(id: str = "x", *, fix: str = "", **columns: Any) -> ExportedCheck:
    """Return a failed check as a report stores it."""
    whole: dict[str, Any] = {
        "name": "X",
        "summary": "M",
        "points": 1.0,
        "later": 1.0,
        "how_to_fix": HowToFix(fix),
    } | columns
    title = whole.pop("title", "X")
    return stored(check_of(id, whole.pop("name"), title, "fail", HIGH, HIGH, **whole))


def passed(*details: Place) -> ExportedCheck:
    return stored(check_of("x", "X", "X", "pass", None, HIGH, "M", details=Rows.of(details)))


def card(check: ExportedCheck, *, server: str = "", check_pages: str = "", is_open: bool = False) -> html.HtmlElement:
    made = card_of(check, CardContext(server=server, check_pages=check_pages))
    return html.fromstring(macro("report/card.html", "card")(replace(made, is_open=is_open)))


def test_whatever_comes_from_outside_stays_text() -> None:
    found = card(
        exported(
            title=EVIL,
            summary=EVIL,
            fix=EVIL,
            places=[Named(EVIL), Named("2"), Element(EVIL, EVIL)],
            references=(EVIL, "javascript:alert(1)", f"https://a.test/{EVIL}"),
        )
    )
    assert found.xpath("//script") == []
    assert not [name for name in found.xpath("//@*") if name == "alert(1)"]
    assert found.text_content().count("<script>alert(1)</script>") >= 7
    assert found.xpath("//p[@class='references']//a/@href") == [f"https://a.test/{EVIL}"]


def test_a_long_value_is_cut() -> None:
    whole, long = "a" * 1000, "b" * 4000
    (shown,) = card(exported(places=[Named(long), Named(whole)])).xpath("//table")
    first, second = (each.text_content().strip() for each in shown.xpath(".//td"))
    assert first == "b" * 1000 + "… (4,000 characters; the JSON export has them all)"
    assert second == whole


def figures(**columns: Any) -> Figures:
    return Figures(2.5, 2.4, 2.6, 3, True, 120.0, **columns)


def test_a_single_row_is_shown_as_pairs_without_what_is_empty() -> None:
    found = card(exported("lcp", details=Rows.of([figures(url="https://a.test/")])))
    assert [each.text for each in found.xpath("//dt")] == [
        *("Median", "Smallest", "Largest", "Loads measured", "Loads agree", "Address"),
    ]
    assert [each.text_content().strip() for each in found.xpath("//dd")] == [
        *("2.5 s", "2.4 s", "2.6 s", "3", "Yes", "https://a.test/"),
    ]
    assert found.xpath("//table") == []


def test_several_rows_of_a_kind_are_a_table_and_a_sum_before_them_is_apart() -> None:
    shifts = [ShiftedElement("a", 0.1), ShiftedElement("b", 0.05)]
    found = card(exported(details=Rows.of([figures(), *shifts])))
    assert [each.text for each in found.xpath("//dt")][:1] == ["Median"]
    assert [each.text for each in found.xpath("//th[@scope='col']")] == ["Selector", "Layout shift"]
    assert [[value.text_content().strip() for value in row] for row in found.xpath("//tbody/tr")] == [
        ["aCopy", "0.1"],
        ["bCopy", "0.05"],
    ]
    assert found.xpath("//table/@aria-label") == ["Evidence of X, part 2"]


def test_places_are_one_line_that_says_how_many_and_opens() -> None:
    found = card(exported(places=[Element(f"#e{number}", why=f"{number} faults") for number in range(12)]))
    (table,) = found.xpath("//table")
    folded = table.getparent().getparent()
    assert folded.tag == "details"
    assert folded.get("open") is None
    assert folded.xpath("summary/text()") == ["12 elements"]
    assert [each.text for each in table.xpath(".//code")] == [f"#e{number}" for number in range(12)]
    # On narrow screens a row is a block, so each cell has its own label.
    assert set(table.xpath(".//td/@data-label")) == {"Selector", "What is wrong"}


@pytest.mark.parametrize(
    ("places", "line"),
    [
        ([LoadedFile(f"https://a.test/{number}.js", None, 90_000) for number in range(4)], "4 files, 360 kB"),
        ([UncompressedText(f"/{number}", 9_000, 1) for number in range(4)], "4 addresses"),
        ([Named("a"), Named("b")], "2 entries"),
        (elements("a"), "1 element"),
        ([Cause(exception="TypeError: a is undefined")], "Details"),
        ([Cause(exception="TypeError: a is undefined"), Cause(exception="b")], "2 errors"),
        ([PolicyRow("img-src *"), PolicyRow("object-src 'none'")], "2 policies"),
        ([LoadedFile("/a.js", None, 90_000)], "Details"),
        ([figures()], "Details"),
        ([LoadedFile(f"/{number}.js", None, 90_000) for number in range(20)], "20 files, 1,800 kB"),
        # A report keeps only the first places: their size is not that of all.
        ([LoadedFile(f"/{number}.js", None, 90_000) for number in range(1200)], "The first 20 of 1,200 files"),
    ],
)
def test_a_line_says_what_it_opens(places: Sequence[Place], line: str) -> None:
    assert card(exported(places=places)).xpath("//details[@class='rows']/summary/text()") == [line]


def test_what_the_message_says_is_not_repeated_below_it() -> None:
    message = "1 script of 138 kB blocks: https://a.test/shop.js."
    found = card(exported(summary=message, places=[Blocking("https://a.test/shop.js", 138_000, "a.test")]))
    assert [each.text for each in found.xpath("//dt")] == ["Selector"]  # it can be copied
    found = card(exported(summary=message, places=[LoadedFile("https://a.test/shop", None, 38_000)]))
    assert [each.text for each in found.xpath("//dt")] == ["Address", "Transferred"]


def test_a_finding_is_one_line_until_it_is_opened() -> None:
    (details,) = card(exported(fix="Fix it.", points=2.5)).xpath("//details[@class='check-body']")
    assert details.get("open") is None
    assert details.xpath("summary")[0].text_content().split() == ["X", "High", "+2.5", "points"]
    # Links within a summary would be two targets in one.
    assert not details.xpath("summary//a | summary//button")


def test_an_open_finding_says_what_why_and_fix_and_folds_the_rest_to_one_line() -> None:
    found = card(
        exported(fix="Fix it.", summary="One link has no name.", why="Nobody can tell.", places=elements("a")),
        is_open=True,
    )
    (told,) = found.xpath("//details[@class='check-body']/div[@class='told']")
    assert [each.get("class") for each in told] == ["message", "fix", "folds"]
    assert [each.text for each in told.xpath("div[@class='folds']/details/summary")] == ["1 element", "Sources"]
    assert told.xpath("div[@class='folds']/details[@open]") == []


def test_the_reason_is_said_once_though_the_finding_includes_others() -> None:
    why = "Nobody can tell."
    (message,) = card(exported(summary="No title.", includes=("No card",), why=why)).xpath("//p[@class='message']")
    assert message.text == f"No title. This includes “No card”. {why}"


def test_the_message_leaves_the_places_to_the_table() -> None:
    """Regression: the page cut the list of places out of the sentence again, by guessing where it began."""
    check = exported(summary="2 links have no name.", places=elements("#a", "#b"))
    assert check["message"] == "2 links have no name: #a; #b."
    (message,) = card(check).xpath("//p[@class='message']")
    assert message.text == "2 links have no name."


def test_what_a_passed_check_has_seen_is_folded_with_it() -> None:
    found = card(passed(Resource("/a"), Resource("/b")))
    (details,) = found.xpath("//details[@class='check-body']")
    assert details.get("open") is None
    assert len(details.xpath(".//tbody/tr")) == 2


def test_code_has_a_button_that_copies_what_stands_before_it() -> None:
    for places in ([Element("#a", "<a>")], [Element("#a", "<a>"), Element("#b", "<b>")]):
        markup = card(exported(places=places))
        assert len(markup.xpath("//*[contains(@class, 'seen')]//button")) == 2 * len(places)
        for button in markup.xpath("//*[contains(@class, 'seen')]//button"):
            assert button.get("data-copy") == ""
            assert button.getprevious().tag == "code"


HOSTILE = st.one_of(st.text(max_size=60), st.sampled_from([EVIL, "https://" + EVIL * 4, '#ffffff on "><script>']))
ANY_PLACE = st.sampled_from(kinds()).flatmap(lambda kind: places_of_kind(kind, HOSTILE))


@settings(max_examples=60, deadline=None)
@given(st.lists(ANY_PLACE, max_size=8))
def test_no_place_breaks_out_of_its_cell(places: list[Place]) -> None:
    found = card(exported("color-contrast", places=places))
    tags = {each.tag for each in found.iter() if isinstance(each.tag, str)}
    assert tags <= {
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
    assert found.xpath("//a/@href") == card(exported("color-contrast")).xpath("//a/@href")
    for table in found.xpath("//table"):
        assert len({len(row) for row in table.xpath(".//tr")}) == 1


def test_criteria_are_links_and_not_repeated_in_the_evidence() -> None:
    found = card(
        exported(
            references=("WCAG 4.1.2 Name, Role, Value (A)", "axe-core: label"),
            places=[Element("#a", wcag="4.1.2", level="A")],
        )
    )
    (criterion, rule) = found.xpath("//p[@class='references']/a")
    assert criterion.text == "WCAG 4.1.2 A"
    assert criterion.get("href").endswith("/name-role-value")
    assert rule.text == "axe-core: label"
    assert [each.text for each in found.xpath("//dt")] == ["Selector"]
    assert not found.xpath("//table")


def test_without_evidence_fix_or_findings_a_card_has_none_of_them() -> None:
    found = card(passed())
    assert found.xpath("//details//details | //table | //dl | //button | //*[@class='tags']") == []
    assert "is-pass" in found.get("class")


@pytest.mark.parametrize(
    ("points", "shown"), [(0, ""), (1, "+1 point"), (2.5, "+2.5 points"), (0.1, "+0.1 points"), (10.0, "+10 points")]
)
def test_points_are_counted_in_words(points: float, shown: str) -> None:
    assert card_of(exported(points=points)).win == shown
