"""Tests for table checks."""

from __future__ import annotations

import pytest

from tests.website_scan.cast import VERDICTS, body, document, message, page, verdict
from website_scan.accessibility.checks import structure as checks
from website_scan.accessibility.document import AccessibleDocument
from website_scan.outcomes import Review, Verdict, Warn

HEAD = "<thead><tr><th>Name<th>Age<th>City</thead>"
ROWS = "<tr><td>Ann<td>31<td>Rome" * 3
# DataTables and WordPress repeat headers in the footer of long tables.
TFOOT = "<tfoot><tr><th>Name<th>Age<th>City</tfoot>"
FOOTERS = [
    (f"<table>{HEAD}{TFOOT}{ROWS}</table>", "pass"),
    (f"<table>{HEAD}{ROWS}<tfoot><tr><th>Name<th><input placeholder=Age><th> City\n</tfoot></table>", "pass"),
    (f"<table>{HEAD}{ROWS}<tfoot><tr><th>Total<td>93<td></tfoot></table>", "pass"),
    (f"<table>{HEAD}{ROWS}<tfoot><tr><th>Total<th>93<th></tfoot></table>", "warn"),
    (f"<table>{ROWS}{TFOOT}</table>", "warn"),  # The footer of this table repeats no header.
    (f"<table>{HEAD}{TFOOT}</table>", "warn"),  # The head of this table has no header cells, either.
]
FAKE_CAPTIONS = [
    ("<p>None", "n/a"),
    ("<table><tr><td colspan=2>Sales<tr><td>1<td>2</table>", "n/a"),  # Such markup is typical of layout tables.
    (f"<table><tr><td colspan=3>Sales</tr><tr><th>A<th>B<th>C</tr>{ROWS}</table>", "warn"),
    (f"<table><tr><th colspan=3>Sales</tr><tr><th>A<th>B<th>C</tr>{ROWS}</table>", "warn"),
    (f"<table><thead><tr><td colspan=3>Sales</thead><tbody><tr><th>A<th>B<th>C</tr>{ROWS}</table>", "warn"),
    (f"<table><caption>Sales</caption><tr><td colspan=3>2025</tr><tr><th>A<th>B<th>C</tr>{ROWS}</table>", "pass"),
    (f"<table>{HEAD}{ROWS}</table>", "pass"),
    # Only the first row of a table may be a fake caption.
    (f"<table>{HEAD}<tr><td colspan=3>No results</table>", "pass"),
    (f"<table><tr><td colspan=2>Sales<td>2025</tr>{HEAD}{ROWS}</table>", "pass"),
    (
        "<table><tr><th colspan=7>May <a href=?m=3>+</a><tr><th>Mo<th>Tu<tr><td>1<td>2</table>",
        "pass",
    ),
    ("<table><tr><th colspan=7><select></select><tr><th>Mo<th>Tu<tr><td>1<td>2</table>", "pass"),
    ("<table><tr><th>Notice<tr><td>Closed on Monday</table>", "pass"),  # This table has only one column.
    ("<table><tr><th colspan=2>Sales</table>", "pass"),  # This table has only one row.
    # DocBook generates navigation tables like this.
    ("<table><tr><th colspan=3>Getting started</tr><tr><td>Prev<th>&nbsp;<td>Next</table>", "pass"),
    (f"<table><tr><td colspan=3></tr><tr><th>A<th>B<th>C</tr>{ROWS}</table>", "pass"),
    (f"<table role=none><tr><th colspan=3>Sales</tr>{ROWS}</table>", "n/a"),
    (f"<table class=modal><tr><th colspan=3>Sales</tr>{ROWS}</table>", "pass"),
]
TABLE_WITHOUT_HEADERS = (
    "<table class=a><tr><td>A<td>B<td>C<td>D<td>E" + "<tr><td>1<td>2<td>3<td>4<td>5" * 4 + "</table>"
)
TABLES_WITH_AND_WITHOUT_HEADERS = [
    ("<p>None", "n/a"),
    (f"<table>{HEAD}{ROWS}</table>", "pass"),
    (f"<table>{HEAD}{ROWS}<tfoot><tr><td>3<td>31<td></tfoot></table>", "pass"),
    (f"<table><caption>People</caption><tr><td>Name<td>Age<td>City</tr>{ROWS}</table>", "warn"),
    ("<table>" + "<tr><th>Ann<td>31<td>Rome" * 3 + "</table>", "pass"),  # In this table, every row has a header.
    # The corner cell is empty.
    ("<table><tr><td><th>2024<th>2025" + "<tr><th>Ann<td>31<td>32" * 2 + "</table>", "pass"),
    # A corner cell with text could be a data cell.
    ("<table><tr><td>x<th>2024<th>2025" + "<tr><th>Ann<td>31<td>32" * 2 + "</table>", "warn"),
    ("<table><tr><th><th><th>" + ROWS + "</table>", "pass"),  # Another check reports headers without text.
    ("<table><tr><th><img src=a alt=Name><th aria-label=Age><th>City" + ROWS + "</table>", "pass"),
    ("<table><tr><th colspan=3>People" + ROWS + "</table>", "pass"),
    ("<table><tr><th rowspan=4>People<td>31<td>Rome" + "<tr><td>31<td>Rome" * 3 + "</table>", "pass"),
    # A table with two columns is too small to judge.
    ("<table><caption>A</caption>" + "<tr><td>31<td>Rome" * 9 + "</table>", "n/a"),
    (f"<table>{HEAD}<tr><td>31<td>32<td>33</table>", "n/a"),  # A table with two rows is too small to judge.
    ("<table><tr><th scope=row>A<td>1<td>2" + "<tr><td>Ann<td>31<td>Rome" * 2 + "</table>", "warn"),
    ("<table><tr><th id=a>A<td>1<td>2" + "<tr><td headers=a>1<td headers=a>2<td headers=a>3" * 2 + "</table>", "pass"),
    (
        "<table><tr><th>A<td>1<td>2" + "<tr><td aria-label=x>1<td aria-label=x>2<th>3" * 2 + "</table>",
        "pass",
    ),
    ("<table><tr><th>A<td>1<td>2" + "<tr><td role=rowheader>Ann<td>31<td>Rome" * 2 + "</table>", "pass"),
    (f"<table>{HEAD}" + "<tr><td scope=row>Ann<td>31<td>Rome" * 2 + "</table>", "pass"),
    (f"<table role=none><tr><td>Name<td>Age<td>City</tr>{ROWS}</table>", "n/a"),
    ("<table role=grid><tr><td>Name<td>Age<td>City" + ROWS + "</table>", "warn"),
    (TABLE_WITHOUT_HEADERS, "warn"),  # The verdict is “review”, so a person has to decide.
]
CASES = {
    "th-has-data-cells": FOOTERS,
    "table-fake-caption": FAKE_CAPTIONS,
    "td-has-header": TABLES_WITH_AND_WITHOUT_HEADERS,
}
FUNCTIONS = {function.__check__.id: function for function in vars(checks).values() if hasattr(function, "__check__")}


def judge(rule: str, markup: str) -> Verdict:
    finding: Verdict = FUNCTIONS[rule](AccessibleDocument(document(page(body(markup)))))
    return finding


@pytest.mark.parametrize(("rule", "markup", "expected"), [(rule, *row) for rule, rows in CASES.items() for row in rows])
def test_table_check_verdict(rule: str, markup: str, expected: str) -> None:
    assert verdict(judge(rule, markup)) == expected


@pytest.mark.parametrize(
    "markup",
    [
        TABLE_WITHOUT_HEADERS,
        # gtk-doc writes parameters, structure members and enumeration values this way.
        TABLE_WITHOUT_HEADERS.replace("class=a>", "class=a><colgroup><col width=150><col><col width=200></colgroup>"),
        TABLE_WITHOUT_HEADERS.replace("<td>", "<td><abbr>", 1).replace("</td>", "</abbr></td>", 1),
    ],
    ids=["size", "colgroup", "abbr"],
)
def test_possible_layout_table_needs_a_review(markup: str) -> None:
    assert isinstance(judge("td-has-header", markup), Review)


@pytest.mark.parametrize("part", ["<caption>A</caption>", "<thead></thead>", "<tfoot></tfoot>"])
def test_data_table_needs_headers(part: str) -> None:
    assert isinstance(judge("td-has-header", TABLE_WITHOUT_HEADERS.replace("class=a>", f"class=a>{part}")), Warn)


def test_table_with_a_summary_needs_headers() -> None:
    declared = judge("td-has-header", TABLE_WITHOUT_HEADERS.replace("class=a", "summary=a"))
    assert isinstance(declared, Warn)
    assert message(declared).endswith(" without a header, unless it only lays out the page.")


@pytest.mark.parametrize("rule", CASES)
@pytest.mark.parametrize(
    "markup",
    [
        "<table><tr><th colspan=9999 rowspan=0>A"
        + "<td colspan=1000 rowspan=65534>B" * 500
        + "<tr>" * 500
        + "</table>",
        "<table>" + "<tr><th headers='a b'>A<td id=a headers=b>1" * 1_500 + "</table>",
        "<table><tr><th>A<td>" * 120,
    ],
)
def test_expensive_tables_get_a_verdict(rule: str, markup: str) -> None:
    assert verdict(judge(rule, markup)) in VERDICTS.values()
