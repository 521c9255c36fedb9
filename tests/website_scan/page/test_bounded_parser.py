from __future__ import annotations

import time

import pytest
from selectolax.lexbor import LexborHTMLParser

from website_scan.page import bounded_parser
from website_scan.page.bounded_parser import MAX_DEPTH, MAX_ELEMENTS, SAMPLED, bounded, is_bounded

LONG = 300_000
# Hostile pages with few tags.
NESTED = {
    "plain": "<div>" * LONG,
    "stray ends": "<div></i>" * LONG,
    "behind an empty comment": "<!-->" + "<div>" * LONG,
    "in a custom element": "<script-x>" + "<div>" * LONG,
    "ends in attributes": '<div title="</i>">' * LONG,
    "ruby": "<rt>" * LONG,
    "option groups": "<optgroup>" * LONG,
    "cells in a drawing": "<svg>" + "<td>" * LONG,
    "ends that a table keeps out": ("<div>" * 1900 + "<table>" + "</div>" * 1900 + "</table>") * 100,
}


def parse_cost_s(markup: str) -> float:
    begin = time.process_time()
    LexborHTMLParser(markup, scripting=True)
    return time.process_time() - begin


@pytest.mark.parametrize("name", NESTED)
def test_markup_nested_too_deeply_is_cut_off(name: str) -> None:
    kept = bounded(NESTED[name])
    assert 0 < len(kept) < 200_000
    assert NESTED[name].startswith(kept)
    assert parse_cost_s(kept) < 1


def test_formatting_reopened_in_every_paragraph_does_not_exhaust_memory() -> None:
    """Such markup of 82 KB becomes a tree of two gigabytes."""
    page = "<p>" + "".join(f"<b {number}>" for number in range(300)) + "</p>" + "<p>x" * 20_000
    kept = bounded(page)
    assert 1000 < len(kept) < 20_000
    assert len(LexborHTMLParser(kept, scripting=True).css("*")) <= MAX_ELEMENTS


def test_tag_with_very_many_attributes_is_parsed_fast() -> None:
    page = "<p " + " ".join(f"a{number}" for number in range(400_000)) + ">"
    kept = bounded(page)
    assert 100_000 < len(kept) < len(page)
    assert parse_cost_s(kept) < bounded_parser.CPU_S + 1


def test_markup_with_too_many_elements_is_cut_off() -> None:
    page = "<p>" * (MAX_ELEMENTS + 10)
    assert 100_000 < len(bounded(page)) < len(page)


@pytest.mark.parametrize(
    "page",
    [
        "",
        "x",
        "ö" * 100_000,
        "<p>\0\ud800</p>" * 3000,
        "<div><span>x</span></div>" * 50_000,
        "<table>" + "<tr><td><font>x" * 50_000,
        "<div>" * (MAX_DEPTH - 100) + "x" * 50_000,
        "<!-- <div> -->" * 50_000,
        "<template>" * 1000 + "x" * 50_000,
    ],
)
def test_affordable_markup_is_returned_whole(page: str) -> None:
    assert bounded(page) is page


def test_cut_never_splits_a_character() -> None:
    page = "<b>" + "ö€😀" * 10 + "<i>" * 100_000
    for shift in range(4):
        shifted = "x" * shift + page
        assert shifted.startswith(bounded(shifted))


@pytest.mark.parametrize("shift", [0, SAMPLED // 2, SAMPLED - 1])
def test_deep_nesting_between_sampled_elements_is_detected(shift: int) -> None:
    deep = b"<p>" * shift + b"<div>" * (MAX_DEPTH + SAMPLED)
    assert not is_bounded(deep)
    assert is_bounded(b"<p>" * shift + b"<div>" * (MAX_DEPTH - SAMPLED))


def test_endless_trial_process_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_parser, "WAIT_S", 0.0)
    assert len(bounded("<p>x</p>" * 100_000)) < 100_000
