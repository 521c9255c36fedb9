"""Tests for typed values and the templates that they fill."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from website_scan.values import (
    Address,
    Bytes,
    Code,
    Count,
    Date,
    Excerpt,
    Lifetime,
    Milliseconds,
    Number,
    Percent,
    Reason,
    Seconds,
    Share,
    TemplateError,
    Value,
    Values,
    Word,
    filled,
    outline,
    stored,
    template_fields,
    typed,
)


@pytest.mark.parametrize(
    ("value", "kind", "data", "text"),
    [
        (Count(1, "form"), "count", 1, "1 form"),
        (Count(1200, "entry", "entries"), "count", 1200, "1,200 entries"),
        (Count(3), "count", 3, "3"),
        (Share(2, 3, "form"), "share", {"count": 2, "total": 3}, "2 of 3 forms"),
        (Share(3, 3, "form"), "share", {"count": 3, "total": 3}, "3 forms"),
        (Bytes(12_345), "bytes", 12_345, "12 kB"),
        (Seconds(1.849), "seconds", 1.849, "1.8 s"),
        (Milliseconds(320.25), "milliseconds", 320.2, "320 ms"),
        (Lifetime(1), "lifetime", 1, "1 second"),
        (Lifetime(119), "lifetime", 119, "119 seconds"),
        (Lifetime(300), "lifetime", 300, "5 minutes"),
        (Lifetime(7200), "lifetime", 7200, "2 hours"),
        (Lifetime(31_536_000), "lifetime", 31_536_000, "365 days"),
        (Date(datetime(2026, 11, 21, 7, 15, tzinfo=UTC)), "date", "2026-11-21T07:15:00Z", "2026-11-21 07:15 UTC"),
        (Number(1234), "number", 1234, "1,234"),
        (Number(0.10449, 3), "number", 0.10449, "0.104"),
        (Percent(12.4), "percent", 12.4, "12%"),
        (Word("TLS 1.2"), "word", "TLS 1.2", "TLS 1.2"),
        (Excerpt("a\x00b \u202ec"), "text", "a b [U+202E]c", "a b [U+202E]c"),
        (Excerpt("x" * 200, 10), "text", "x" * 9 + "…", "x" * 9 + "…"),
        (Code("token=abcdef"), "code", "token=•••", "token=•••"),
        (Address("https://a.test/?sid=1"), "address", "https://a.test/?sid=•••", "https://a.test/?sid=•••"),
        (Reason("The site did not answer."), "reason", "the site did not answer", "the site did not answer"),
        (Values([Word("a"), Word("b")]), "list", ["a", "b"], "a, b"),
        (Values([Word(letter) for letter in "abcdefg"]), "list", list("abcdefg"), "a, b, c, d, e and 2 more"),
    ],
)
def test_value_has_unit_and_kind(value: Value, kind: str, data: object, text: str) -> None:
    assert value.text == text
    assert stored({"name": value}) == {"name": {"kind": kind, "value": data, "text": text}}


@pytest.mark.parametrize(
    ("template", "values", "expected"),
    [
        ("The header lasts {lifetime}.", {"lifetime": Lifetime(300)}, "The header lasts 5 minutes."),
        ("{files} {files:has|have} no content.", {"files": Count(1, "file")}, "1 file has no content."),
        ("{files} {files:has|have} no content.", {"files": Count(2, "file")}, "2 files have no content."),
        ("{forms} {forms:is|are} open.", {"forms": Share(1, 3, "form")}, "1 of 3 forms is open."),
        ("{names:Name|Names}: {names}", {"names": Values([Word("a")])}, "Name: a"),
        ("a { b } {} {C} {0} {not a field} {{x}}", {"x": Word("y")}, "a { b } {} {C} {0} {not a field} {y}"),
    ],
)
def test_template_is_filled_with_its_values(template: str, values: dict[str, Value], expected: str) -> None:
    assert filled(template, values) == expected


def test_missing_value_raises_TemplateError() -> None:
    with pytest.raises(TemplateError, match="has no value lifetime"):
        filled("It lasts {lifetime}.", {})
    with pytest.raises(TemplateError, match="no word agrees with a text"):
        filled("{name:is|are}", {"name": Excerpt("x")})


def test_template_fields_are_extracted() -> None:
    template = "{files} of {site} {files:has|have} { no } content"
    assert template_fields(template) == {"files", "site"}
    assert outline(template) == "… of … have { no } content"


def test_integers_become_typed_values() -> None:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    assert typed({"status": 404, "end": moment, "word": Word("x")}) == {
        "status": Number(404),
        "end": Date(moment),
        "word": Word("x"),
    }


@given(st.text())
def test_site_text_is_never_a_template(text: str) -> None:
    """A value may look like a template field.

    It may also look like a word that agrees with a number.
    """
    for hostile in (text, f"{{other}}{text}", f"{{value:a|b}}{text}"):
        made = filled("<{value}|{other}>", {"value": Excerpt(hostile), "other": Word("x")})
        assert made == f"<{Excerpt(hostile).text}|x>"
