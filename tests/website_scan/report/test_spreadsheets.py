"""Test that no text in a CSV cell becomes a formula."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from website_scan.report.spreadsheets import cell, lines

TEXTS = st.text(st.sampled_from(list("=+-@;,|\t\r\n\"' a1")), max_size=12)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("=1", "'=1"),
        ("@a", "'@a"),
        ("\t=1", "'\t'=1"),
        ("a;=1", "a;'=1"),
        ("a; =1", "a; '=1"),
        ('a;"=1', "a;\"'=1"),
        ("a,-1", "a,'-1"),
        ("a\t+1", "a\t'+1"),
        ("a\n=1", "a\n'=1"),
        ("a=1; b=2", "a=1; b=2"),
        ("no-store, max-age=0", "no-store, max-age=0"),
        (-5, -5),
        (None, None),
    ],
)
def test_formulas_begin_with_an_apostrophe(text: object, expected: object) -> None:
    assert cell(text) == expected


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@given(texts=st.lists(TEXTS, min_size=1, max_size=4))
def test_csv_cells_never_begin_with_formula(separator: str, texts: list[str]) -> None:
    table = lines([[cell(text) for text in texts]])
    for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_NONE):
        for row in csv.reader(io.StringIO(table, newline=""), delimiter=separator, quoting=quoting):
            for value in row:
                assert not value.lstrip('" \t\r\n').startswith(("=", "+", "-", "@"))
