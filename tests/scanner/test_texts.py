"""Texts of the catalogue: titles say one thing, and the sentences of a finding do not repeat each other."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import scanner
from scanner.catalogue import checks
from scanner.findings import ScanType

ALTERNATIVES = re.compile(r",|;|/|\b(?:or|and|nor)\b")
# Their “and” or slash is part of the one thing.
ONE_THING = frozenset(
    {
        "Duplicate IDs in labels and ARIA",
        "Touch targets that are too small and too close together",
        "Tap targets are too small and too close together",
        "Frames with controls and a negative tabindex",
        "Terms and descriptions outside a description list",
        "Landmarks with the same role and name",
        "lang and xml:lang differ",
        "Back/forward cache is prevented",
        "Static files are sent over HTTP/1.1",
    }
)
LONGEST = 60


def titles(scan_type: ScanType) -> Iterator[str]:
    """Yield the titles that the source of the checks gives to single findings; f-strings without their values."""
    for path in sorted((Path(scanner.__file__).parent / scan_type).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "title":
                yield from _texts(node.value)


def _texts(node: ast.expr) -> Iterator[str]:
    match node:
        case ast.Constant(value=str(text)) if text:
            yield text
        case ast.JoinedStr(values=values):
            yield "".join(str(each.value) if isinstance(each, ast.Constant) else "…" for each in values)
        case ast.IfExp(body=body, orelse=orelse):
            yield from _texts(body)
            yield from _texts(orelse)


@pytest.mark.parametrize("scan_type", ScanType)
def test_a_title_says_the_one_thing_found(scan_type: ScanType) -> None:
    """Regression: 44 of 255 titles listed what may have been found, as "HSTS missing, ignored or weak" does."""
    every = {each.found for each in checks(scan_type)} | set(titles(scan_type))
    assert {text for text in every if ALTERNATIVES.search(text)} <= ONE_THING


@pytest.mark.parametrize("scan_type", ScanType)
def test_titles_are_short_phrases(scan_type: ScanType) -> None:
    for text in {each.found for each in checks(scan_type)} | set(titles(scan_type)):
        assert len(text) <= LONGEST, text
        assert not text.endswith("."), text


@pytest.mark.parametrize("scan_type", ScanType)
def test_every_reason_is_a_sentence_of_its_own(scan_type: ScanType) -> None:
    """It follows messages of several findings, in which a pronoun would have nothing to stand for."""
    for each in checks(scan_type):
        assert not re.match(r"(?:It|They|This|That|These)\b", each.why), (each.id, each.why)
