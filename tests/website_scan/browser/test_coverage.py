"""Code coverage as Chrome reports it: nested ranges for scripts, used rules for style sheets."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from website_scan.browser import coverage
from website_scan.browser.coverage import read_script_coverage, read_sheet_coverage
from website_scan.browser.evidence import UsedFile
from website_scan.page.references import ResourceKind

URL = "https://site.example.com/app.js"
CSS = "https://site.example.com/app.css"
Range = tuple[int, int, int]  # start, end, count


def script(*functions: list[Range], url: str = URL) -> dict[str, Any]:
    """Return an entry of `Profiler.takePreciseCoverage`. The first function is the script itself."""
    return {
        "url": url,
        "functions": [
            {"ranges": [{"startOffset": start, "endOffset": end, "count": count} for start, end, count in ranges]}
            for ranges in functions
        ],
    }


@pytest.mark.parametrize(
    ("functions", "unused"),
    [
        ([[(0, 100, 1)]], 0),
        ([[(0, 100, 0)]], 100),
        ([[(0, 100, 1)], [(10, 40, 0)]], 30),
        ([[(0, 100, 1)], [(10, 40, 0)], [(60, 100, 0)]], 70),
        # A function that ran, with a branch that did not, and another function inside that branch.
        ([[(0, 100, 1)], [(10, 60, 1), (20, 50, 0)], [(30, 40, 0)]], 30),
        # Code can't run inside code that did not, but if it is reported, the innermost range counts.
        ([[(0, 100, 0)], [(10, 40, 1)]], 70),
        ([[(0, 100, 1)], [(0, 100, 0)]], 100),
        ([[(0, 100, 1)], [(10, 10, 0)]], 0),
        ([[(20, 100, 0)]], 80),
        ([[(0, 50, 0)], [(50, 100, 1)]], 50),
        ([[]], 0),
        ([], 0),
    ],
)
def test_the_innermost_range_tells_whether_code_ran(functions: list[list[Range]], unused: int) -> None:
    (found,) = read_script_coverage([script(*functions)])
    assert found.unused == unused
    assert found.kind is ResourceKind.SCRIPT


def test_the_length_is_that_of_the_outermost_range() -> None:
    assert read_script_coverage([script([(0, 100, 1)], [(10, 40, 0)])]) == [UsedFile(URL, ResourceKind.SCRIPT, 100, 30)]


def test_what_one_frame_used_is_used() -> None:
    (found,) = read_script_coverage(
        [script([(0, 100, 0)]), script([(0, 100, 1)], [(10, 40, 0)]), script([(0, 100, 0)])]
    )
    assert found.unused == 30


@pytest.mark.parametrize(
    "url", ["", "chrome-extension://abc/x.js", "data:text/javascript,1", "blob:https://a/1", "app.js"]
)
def test_only_files_of_the_network_are_told_of(url: str) -> None:
    assert read_script_coverage([script([(0, 9, 0)], url=url)]) == []
    assert read_sheet_coverage({"1": {"sourceURL": url, "length": 9}}, []) == []


def test_endless_lists_of_ranges_are_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage, "MAX_RANGES", 2)
    many: list[list[Range]] = [[(0, 9, 0)]] * 3
    assert [each.unused for each in read_script_coverage([script(*many)])] == [0]


def test_of_very_many_files_the_first_are_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage, "MAX_FILES", 2)
    assert (
        len(read_script_coverage([script([(0, 9, 0)], url=f"https://a.example/{each}.js") for each in range(5)])) == 2
    )
    headers = {str(each): {"sourceURL": f"https://a.example/{each}.css", "length": 9} for each in range(5)}
    assert len(read_sheet_coverage(headers, [])) == 2


RANGES = st.tuples(st.integers(0, 200), st.integers(0, 200), st.integers(0, 2)).map(
    lambda each: (min(each[:2]), max(each[:2]), each[2])
)


@given(st.lists(RANGES, max_size=12))
def test_never_more_is_unused_than_there_is(ranges: list[Range]) -> None:
    (found,) = read_script_coverage([script(ranges)])
    assert 0 <= found.unused <= found.length


def nested(draw: st.DrawFn, start: int, end: int, depth: int) -> list[Range]:
    """Draw ranges nested like functions."""
    found = [(start, end, draw(st.integers(0, 1)))]
    at = start
    while depth and end - at > 2 and draw(st.booleans()):
        inner_start = draw(st.integers(at, end - 1))
        inner_end = draw(st.integers(inner_start + 1, end))
        if (inner_start, inner_end) != (start, end):
            found += nested(draw, inner_start, inner_end, depth - 1)
        at = inner_end
    return found


@given(st.composite(lambda draw: nested(draw, 0, draw(st.integers(1, 120)), 4))())
def test_ranges_within_each_other_are_counted_letter_by_letter(ranges: list[Range]) -> None:
    length = max(end for _, end, _ in ranges)
    innermost: list[int] = [1] * length
    for start, end, count in ranges:  # outer ranges first
        innermost[start:end] = [count] * (end - start)
    (found,) = read_script_coverage([script(ranges)])
    assert found.unused == innermost.count(0)


def sheet(url: str = CSS, length: int = 100, **others: object) -> dict[str, Any]:
    return {"sourceURL": url, "length": length, "isInline": False} | others


def rule(id: str, start: int, end: int, *, used: bool = True) -> dict[str, Any]:
    return {"styleSheetId": id, "startOffset": start, "endOffset": end, "used": used}


@pytest.mark.parametrize(
    ("rules", "unused"),
    [
        ([], 100),
        ([rule("1", 0, 100)], 0),
        ([rule("1", 0, 30), rule("1", 50, 60)], 60),
        ([rule("1", 0, 30), rule("1", 50, 60, used=False)], 70),
        ([rule("1", 0, 30), rule("1", 20, 40), rule("1", 0, 30)], 60),  # reported twice
        ([rule("2", 0, 100)], 100),  # from another sheet
        ([rule("1", 0, 400)], 0),
    ],
)
def test_rules_that_no_element_matched_are_unused(rules: list[dict[str, Any]], unused: int) -> None:
    assert read_sheet_coverage({"1": sheet()}, rules) == [UsedFile(CSS, ResourceKind.STYLESHEET, 100, unused)]


def test_a_sheet_in_the_document_is_no_file() -> None:
    assert read_sheet_coverage({"1": sheet(isInline=True)}, []) == []


def test_a_sheet_in_two_frames_is_judged_where_more_of_it_is_used() -> None:
    found = read_sheet_coverage({"1": sheet(), "2": sheet()}, [rule("1", 0, 10), rule("2", 0, 60)])
    assert found == [UsedFile(CSS, ResourceKind.STYLESHEET, 100, 40)]
