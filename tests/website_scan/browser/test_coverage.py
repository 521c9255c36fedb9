"""Parsing of Chrome's code coverage: nested ranges for scripts, used rules for style sheets."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from website_scan.browser import coverage
from website_scan.browser.coverage import read_script_coverage, read_sheet_coverage
from website_scan.browser.evidence import FileCoverage
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
        # A function that ran has a branch that did not run, and another function inside the branch.
        ([[(0, 100, 1)], [(10, 60, 1), (20, 50, 0)], [(30, 40, 0)]], 30),
        # Code cannot run inside code that did not run, but if Chrome reports so, the innermost range decides.
        ([[(0, 100, 0)], [(10, 40, 1)]], 70),
        ([[(0, 100, 1)], [(0, 100, 0)]], 100),
        ([[(0, 100, 1)], [(10, 10, 0)]], 0),
        ([[(20, 100, 0)]], 80),
        ([[(0, 50, 0)], [(50, 100, 1)]], 50),
        ([[]], 0),
        ([], 0),
    ],
)
def test_innermost_range_decides_whether_code_ran(functions: list[list[Range]], unused: int) -> None:
    (file,) = read_script_coverage([script(*functions)])
    assert file.unused == unused
    assert file.kind is ResourceKind.SCRIPT


def test_script_length_is_that_of_the_outermost_range() -> None:
    assert read_script_coverage([script([(0, 100, 1)], [(10, 40, 0)])]) == [
        FileCoverage(URL, ResourceKind.SCRIPT, 100, 30)
    ]


def test_code_used_in_one_frame_counts_as_used() -> None:
    (file,) = read_script_coverage([script([(0, 100, 0)]), script([(0, 100, 1)], [(10, 40, 0)]), script([(0, 100, 0)])])
    assert file.unused == 30


@pytest.mark.parametrize(
    "url", ["", "chrome-extension://abc/x.js", "data:text/javascript,1", "blob:https://a/1", "app.js"]
)
def test_coverage_omits_files_without_http_url(url: str) -> None:
    assert read_script_coverage([script([(0, 9, 0)], url=url)]) == []
    assert read_sheet_coverage({"1": {"sourceURL": url, "length": 9}}, []) == []


def test_script_with_too_many_ranges_has_no_unused_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage, "MAX_RANGES", 2)
    ranges: list[list[Range]] = [[(0, 9, 0)]] * 3
    assert [file.unused for file in read_script_coverage([script(*ranges)])] == [0]


def test_coverage_is_limited_to_the_first_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage, "MAX_FILES", 2)
    assert (
        len(read_script_coverage([script([(0, 9, 0)], url=f"https://a.example/{number}.js") for number in range(5)]))
        == 2
    )
    headers = {str(number): {"sourceURL": f"https://a.example/{number}.css", "length": 9} for number in range(5)}
    assert len(read_sheet_coverage(headers, [])) == 2


RANGES = st.tuples(st.integers(0, 200), st.integers(0, 200), st.integers(0, 2)).map(
    lambda numbers: (min(numbers[:2]), max(numbers[:2]), numbers[2])
)


@given(st.lists(RANGES, max_size=12))
def test_unused_part_never_exceeds_the_length(ranges: list[Range]) -> None:
    (file,) = read_script_coverage([script(ranges)])
    assert 0 <= file.unused <= file.length


def draw_nested_ranges(draw: st.DrawFn, start: int, end: int, depth: int) -> list[Range]:
    """Draw ranges nested like functions."""
    ranges = [(start, end, draw(st.integers(0, 1)))]
    position = start
    while depth and end - position > 2 and draw(st.booleans()):
        inner_start = draw(st.integers(position, end - 1))
        inner_end = draw(st.integers(inner_start + 1, end))
        if (inner_start, inner_end) != (start, end):
            ranges += draw_nested_ranges(draw, inner_start, inner_end, depth - 1)
        position = inner_end
    return ranges


@given(st.composite(lambda draw: draw_nested_ranges(draw, 0, draw(st.integers(1, 120)), 4))())
def test_unused_part_of_nested_ranges_is_counted_per_character(ranges: list[Range]) -> None:
    length = max(end for _, end, _ in ranges)
    innermost: list[int] = [1] * length
    for start, end, count in ranges:  # outer ranges first
        innermost[start:end] = [count] * (end - start)
    (file,) = read_script_coverage([script(ranges)])
    assert file.unused == innermost.count(0)


def sheet(url: str = CSS, length: int = 100, **fields: object) -> dict[str, Any]:
    return {"sourceURL": url, "length": length, "isInline": False} | fields


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
def test_css_rules_without_matching_element_are_unused(rules: list[dict[str, Any]], unused: int) -> None:
    assert read_sheet_coverage({"1": sheet()}, rules) == [FileCoverage(CSS, ResourceKind.STYLESHEET, 100, unused)]


def test_inline_style_sheet_is_not_a_file() -> None:
    assert read_sheet_coverage({"1": sheet(isInline=True)}, []) == []


def test_style_sheet_in_two_frames_counts_where_more_is_used() -> None:
    files = read_sheet_coverage({"1": sheet(), "2": sheet()}, [rule("1", 0, 10), rule("2", 0, 60)])
    assert files == [FileCoverage(CSS, ResourceKind.STYLESHEET, 100, 40)]
