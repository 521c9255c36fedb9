"""Tests for check cards on the report page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import html
from msgspec.structs import replace

from tests.jinja_templates import macro
from tests.results import Named, check_of, elements, stored
from tests.website_scan.kinds_of_places import place_kinds, places_of_kind
from website_scan.browser.unshown import Cause
from website_scan.findings import HIGH
from website_scan.performance.checks.compression import UncompressedText
from website_scan.performance.checks.loading import Figures, ShiftedElement
from website_scan.performance.places import LoadedFile
from website_scan.places import Column, Element, Place, Resource, Rows
from website_scan.report.cards import CardContext, card_of, points_text
from website_scan.report_json import ExportedCheck
from website_scan.result import HowToFix
from website_scan.score_basis import FixStep
from website_scan.security.checks.csp import PolicyRow


class Blocking(Place, frozen=True):
    """Example place with a file and an element."""

    kind: ClassVar[str] = "blocking"

    url: Annotated[str, Column("Address", "address")]
    size: Annotated[int, Column("Size", "number", "bytes")]
    selector: Annotated[str, Column("Selector", "code")]


NO_GAIN = FixStep(0.0, 80, None)
EVIL = "<script>alert(1)</script>\"'&{}{0}"


def exported_finding(id: str = "x", *, fix: str = "", **columns: Any) -> ExportedCheck:
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


def exported_pass(*details: Place) -> ExportedCheck:
    return stored(check_of("x", "X", "X", "pass", None, HIGH, "M", details=Rows.of(details)))


def card(
    check: ExportedCheck,
    *,
    server: str = "",
    check_pages: str = "",
    is_open: bool = False,
    step: FixStep = NO_GAIN,
) -> html.HtmlElement:
    check_card = card_of(check, CardContext(server=server, check_pages=check_pages)).promise(step)
    return html.fromstring(macro("report/card.html", "card")(replace(check_card, is_open=is_open)))


def test_site_text_is_escaped_in_a_card() -> None:
    card_html = card(
        exported_finding(
            title=EVIL,
            summary=EVIL,
            fix=EVIL,
            places=[Named(EVIL), Named("2"), Element(EVIL, EVIL)],
            references=(EVIL, "javascript:alert(1)", f"https://a.test/{EVIL}"),
        )
    )
    assert card_html.xpath("//script") == []
    assert not [name for name in card_html.xpath("//@*") if name == "alert(1)"]
    assert card_html.text_content().count("<script>alert(1)</script>") >= 7
    assert card_html.xpath("//p[@class='references']//a/@href") == [f"https://a.test/{EVIL}"]


def test_long_value_is_cut() -> None:
    whole, long = "a" * 1000, "b" * 4000
    (table,) = card(exported_finding(places=[Named(long), Named(whole)])).xpath("//table")
    first, second = (node.text_content().strip() for node in table.xpath(".//td"))
    assert first == "b" * 1000 + "… (4,000 characters; the JSON export has them all)"
    assert second == whole


def figures(**columns: Any) -> Figures:
    return Figures(2.5, 2.4, 2.6, 3, True, 120.0, **columns)


def test_single_row_is_shown_as_pairs() -> None:
    card_html = card(exported_finding("lcp", details=Rows.of([figures(url="https://a.test/")])))
    assert [node.text for node in card_html.xpath("//dt")] == [
        *("Median", "Smallest", "Largest", "Loads measured", "Loads agree", "Address"),
    ]
    assert [node.text_content().strip() for node in card_html.xpath("//dd")] == [
        *("2.5 s", "2.4 s", "2.6 s", "3", "Yes", "https://a.test/"),
    ]
    assert card_html.xpath("//table") == []


def test_different_rows_are_separate_tables() -> None:
    shifts = [ShiftedElement("a", 0.1), ShiftedElement("b", 0.05)]
    card_html = card(exported_finding(details=Rows.of([figures(), *shifts])))
    assert [node.text for node in card_html.xpath("//dt")][:1] == ["Median"]
    assert [node.text for node in card_html.xpath("//th[@scope='col']")] == ["Selector", "Layout shift"]
    assert [[value.text_content().strip() for value in row] for row in card_html.xpath("//tbody/tr")] == [
        ["aCopy", "0.1"],
        ["bCopy", "0.05"],
    ]
    assert card_html.xpath("//table/@aria-label") == ["Evidence of X, part 2"]


def test_places_collapse_into_a_summary() -> None:
    card_html = card(exported_finding(places=[Element(f"#e{number}", why=f"{number} faults") for number in range(12)]))
    (table,) = card_html.xpath("//table")
    folded = table.getparent().getparent()
    assert folded.tag == "details"
    assert folded.get("open") is None
    assert folded.xpath("summary/text()") == ["12 elements"]
    assert [node.text for node in table.xpath(".//code")] == [f"#e{number}" for number in range(12)]
    # On narrow screens, cells have labels of their own.
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
        # A report stores only the first places, so their sum is not the total size.
        ([LoadedFile(f"/{number}.js", None, 90_000) for number in range(1200)], "The first 20 of 1,200 files"),
    ],
)
def test_collapsed_places_are_counted(places: Sequence[Place], line: str) -> None:
    assert card(exported_finding(places=places)).xpath("//details[@class='rows']/summary/text()") == [line]


def test_evidence_does_not_repeat_message() -> None:
    message = "1 script of 138 kB blocks: https://a.test/shop.js."
    card_html = card(exported_finding(summary=message, places=[Blocking("https://a.test/shop.js", 138_000, "a.test")]))
    # The selector remains, because readers may copy it.
    assert [node.text for node in card_html.xpath("//dt")] == ["Selector"]
    card_html = card(exported_finding(summary=message, places=[LoadedFile("https://a.test/shop", None, 38_000)]))
    assert [node.text for node in card_html.xpath("//dt")] == ["Address", "Transferred"]


def test_finding_collapses_to_one_line() -> None:
    finding = card(exported_finding(fix="Fix it."), step=FixStep(2.5, 80, None))
    (details,) = finding.xpath("//details[@class='check-body']")
    assert details.get("open") is None
    assert details.xpath("summary")[0].text_content().split() == ["X", "High", "+2.5", "points"]
    # HTML forbids links and buttons within a summary.
    assert not details.xpath("summary//a | summary//button")


def test_open_card_shows_message_and_fix() -> None:
    card_html = card(
        exported_finding(fix="Fix it.", summary="One link has no name.", why="Nobody can tell.", places=elements("a")),
        is_open=True,
    )
    (body,) = card_html.xpath("//details[@class='check-body']/div[@class='told']")
    assert [node.get("class") for node in body] == ["message", "fix", "folds"]
    assert [node.text for node in body.xpath("div[@class='folds']/details/summary")] == ["1 element", "Sources"]
    assert body.xpath("div[@class='folds']/details[@open]") == []


def test_consequence_comes_first_in_a_card() -> None:
    (body,) = card(exported_finding(fix="Fix it.", consequence="Visitors may leave.")).xpath("//div[@class='told']")
    assert [node.get("class") for node in body][:2] == ["consequence", "message"]
    assert body[0].text == "Visitors may leave."


def test_message_states_reason_once() -> None:
    why = "Nobody can tell."
    (message,) = card(exported_finding(summary="No title.", includes=("No card",), why=why)).xpath(
        "//p[@class='message']"
    )
    assert message.text == f"No title. This includes “No card”. {why}"


def test_card_message_omits_the_places() -> None:
    """Regression test: the page searched the message for its places."""
    check = exported_finding(summary="2 links have no name.", places=elements("#a", "#b"))
    assert check["message"] == "2 links have no name: #a; #b."
    (message,) = card(check).xpath("//p[@class='message']")
    assert message.text == "2 links have no name."


def test_passed_check_details_are_collapsed() -> None:
    card_html = card(exported_pass(Resource("/a"), Resource("/b")))
    (details,) = card_html.xpath("//details[@class='check-body']")
    assert details.get("open") is None
    assert len(details.xpath(".//tbody/tr")) == 2


def test_every_copy_button_follows_its_code() -> None:
    for places in ([Element("#a", "<a>")], [Element("#a", "<a>"), Element("#b", "<b>")]):
        markup = card(exported_finding(places=places))
        assert len(markup.xpath("//*[contains(@class, 'seen')]//button")) == 2 * len(places)
        for button in markup.xpath("//*[contains(@class, 'seen')]//button"):
            assert button.get("data-copy") == ""
            assert button.getprevious().tag == "code"


HOSTILE = st.one_of(st.text(max_size=60), st.sampled_from([EVIL, "https://" + EVIL * 4, '#ffffff on "><script>']))
ANY_PLACE = st.sampled_from(place_kinds()).flatmap(lambda kind: places_of_kind(kind, HOSTILE))


@settings(max_examples=60, deadline=None)
@given(st.lists(ANY_PLACE, max_size=8))
def test_place_text_stays_in_its_cell(places: list[Place]) -> None:
    card_html = card(exported_finding("color-contrast", places=places))
    tags = {node.tag for node in card_html.iter() if isinstance(node.tag, str)}
    assert tags <= {
        *("li", "a", "svg", "use", "div", "h4", "p", "span", "strong", "code", "button", "details", "summary"),
        *("table", "thead", "tbody", "tr", "th", "td", "dl", "dt", "dd", "rect"),
    }
    assert {name for node in card_html.iter() for name in node.keys()} <= {  # noqa: SIM118  # attributes
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
    assert card_html.xpath("//a/@href") == card(exported_finding("color-contrast")).xpath("//a/@href")
    for table in card_html.xpath("//table"):
        assert len({len(row) for row in table.xpath(".//tr")}) == 1


def test_wcag_criteria_are_links() -> None:
    card_html = card(
        exported_finding(
            references=("WCAG 4.1.2 Name, Role, Value (A)", "axe-core: label"),
            places=[Element("#a", wcag="4.1.2", level="A")],
        )
    )
    (criterion, rule) = card_html.xpath("//p[@class='references']/a")
    assert criterion.text == "WCAG 4.1.2 A"
    assert criterion.get("href").endswith("/name-role-value")
    assert rule.text == "axe-core: label"
    assert [node.text for node in card_html.xpath("//dt")] == ["Selector"]
    assert not card_html.xpath("//table")


def test_card_of_passed_check_is_minimal() -> None:
    card_html = card(exported_pass())
    assert card_html.xpath("//details//details | //table | //dl | //button | //*[@class='tags']") == []
    assert "is-pass" in card_html.get("class")


@pytest.mark.parametrize(
    ("points", "words"), [(0, ""), (1, "+1 point"), (2.5, "+2.5 points"), (0.1, "+0.1 points"), (10.0, "+10 points")]
)
def test_points_are_singular_or_plural(points: float, words: str) -> None:
    assert points_text(points) == words
