from __future__ import annotations

import time

import pytest
from selectolax.lexbor import LexborHTMLParser

from website_scan.page import bounded_parser
from website_scan.page.bounded_parser import (
    DEPTH_SAMPLE_INTERVAL,
    MAX_ELEMENTS,
    MAX_TREE_DEPTH,
    is_within_limits,
    limit_markup,
)

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
    kept = limit_markup(NESTED[name])
    assert 0 < len(kept) < 200_000
    assert NESTED[name].startswith(kept)
    assert parse_cost_s(kept) < 1


def test_reopened_formatting_does_not_exhaust_memory() -> None:
    """By reopening the elements, the parser would turn 82 KB of markup into a tree of two gigabytes."""
    page = "<p>" + "".join(f"<b {number}>" for number in range(300)) + "</p>" + "<p>x" * 20_000
    kept = limit_markup(page)
    assert 1000 < len(kept) < 20_000
    assert len(LexborHTMLParser(kept, scripting=True).css("*")) <= MAX_ELEMENTS


def test_tag_with_many_attributes_is_parsed_fast() -> None:
    page = "<p " + " ".join(f"a{number}" for number in range(400_000)) + ">"
    kept = limit_markup(page)
    assert 100_000 < len(kept) < len(page)
    assert parse_cost_s(kept) < bounded_parser.TRIAL_CPU_LIMIT_S + 1


def test_markup_with_too_many_elements_is_cut_off() -> None:
    page = "<p>" * (MAX_ELEMENTS + 10)
    assert 100_000 < len(limit_markup(page)) < len(page)


@pytest.mark.parametrize(
    "page",
    [
        "",
        "x",
        "ö" * 100_000,
        "<p>\0\ud800</p>" * 3000,
        "<div><span>x</span></div>" * 50_000,
        "<table>" + "<tr><td><font>x" * 50_000,
        "<div>" * (MAX_TREE_DEPTH - 100) + "x" * 50_000,
        "<!-- <div> -->" * 50_000,
        "<template>" * 1000 + "x" * 50_000,
    ],
)
def test_markup_within_limits_is_unchanged(page: str) -> None:
    assert limit_markup(page) is page


def test_truncation_never_splits_a_character() -> None:
    page = "<b>" + "ö€😀" * 10 + "<i>" * 100_000
    for shift in range(4):
        shifted = "x" * shift + page
        assert shifted.startswith(limit_markup(shifted))


@pytest.mark.parametrize("shift", [0, DEPTH_SAMPLE_INTERVAL // 2, DEPTH_SAMPLE_INTERVAL - 1])
def test_deep_nesting_between_samples_is_detected(shift: int) -> None:
    deep = b"<p>" * shift + b"<div>" * (MAX_TREE_DEPTH + DEPTH_SAMPLE_INTERVAL)
    assert not is_within_limits(deep)
    assert is_within_limits(b"<p>" * shift + b"<div>" * (MAX_TREE_DEPTH - DEPTH_SAMPLE_INTERVAL))


def test_endless_trial_process_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_parser, "TRIAL_TIMEOUT_S", 0.0)
    assert len(limit_markup("<p>x</p>" * 100_000)) < 100_000
