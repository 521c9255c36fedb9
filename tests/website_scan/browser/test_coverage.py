"""Tests for the parser of Chrome's code coverage."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from website_scan.browser import coverage
from website_scan.browser.coverage import read_script_coverage, read_style_sheet_coverage
from website_scan.browser.evidence import FileCoverage
from website_scan.page.references import ResourceKind

URL = "https://site.example.com/app.js"
CSS = "https://site.example.com/app.css"
Range = tuple[int, int, int]  # Start offset, end offset and number of executions.


def script(*functions: list[Range], url: str = URL) -> dict[str, Any]:
    """Return an entry of `Profiler.takePreciseCoverage` for a script.

    The first function is the script itself.
    """
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
        # One branch of the function did not run, but another function inside this branch ran.
        ([[(0, 100, 1)], [(10, 60, 1), (20, 50, 0)], [(30, 40, 0)]], 30),
        # Code inside unused code cannot run. If Chrome still reports that it ran, the innermost range decides.
        ([[(0, 100, 0)], [(10, 40, 1)]], 70),
        ([[(0, 100, 1)], [(0, 100, 0)]], 100),
        ([[(0, 100, 1)], [(10, 10, 0)]], 0),
        ([[(20, 100, 0)]], 80),
        ([[(0, 50, 0)], [(50, 100, 1)]], 50),
        ([[]], 0),
        ([], 0),
    ],
)
def test_innermost_range_decides(functions: list[list[Range]], unused: int) -> None:
    (file,) = read_script_coverage([script(*functions)])
    assert file.unused == unused
    assert file.kind is ResourceKind.SCRIPT


def test_outermost_range_determines_the_script_length() -> None:
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
    assert read_style_sheet_coverage({"1": {"sourceURL": url, "length": 9}}, []) == []


def test_too_many_ranges_are_not_counted_as_unused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage, "MAX_RANGES_PER_SCRIPT", 2)
    ranges: list[list[Range]] = [[(0, 9, 0)]] * 3
    assert [file.unused for file in read_script_coverage([script(*ranges)])] == [0]


def test_coverage_is_limited_to_the_first_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage, "MAX_FILES", 2)
    assert (
        len(read_script_coverage([script([(0, 9, 0)], url=f"https://a.example/{number}.js") for number in range(5)]))
        == 2
    )
    headers = {str(number): {"sourceURL": f"https://a.example/{number}.css", "length": 9} for number in range(5)}
    assert len(read_style_sheet_coverage(headers, [])) == 2


RANGES = st.tuples(st.integers(0, 200), st.integers(0, 200), st.integers(0, 2)).map(
    lambda numbers: (min(numbers[:2]), max(numbers[:2]), numbers[2])
)


@given(st.lists(RANGES, max_size=12))
def test_unused_part_never_exceeds_the_length(ranges: list[Range]) -> None:
    (file,) = read_script_coverage([script(ranges)])
    assert 0 <= file.unused <= file.length


def draw_nested_ranges(draw: st.DrawFn, start: int, end: int, depth: int) -> list[Range]:
    """Generate ranges that are nested like functions."""
    ranges = [(start, end, draw(st.integers(0, 1)))]
    position = start
    while depth and end - position > 2 and draw(st.booleans()):
        inner_start_offset = draw(st.integers(position, end - 1))
        inner_end_offset = draw(st.integers(inner_start_offset + 1, end))
        if (inner_start_offset, inner_end_offset) != (start, end):
            ranges += draw_nested_ranges(draw, inner_start_offset, inner_end_offset, depth - 1)
        position = inner_end_offset
    return ranges


@given(st.composite(lambda draw: draw_nested_ranges(draw, 0, draw(st.integers(1, 120)), 4))())
def test_nested_ranges_are_counted_by_character(ranges: list[Range]) -> None:
    length = max(end for _, end, _ in ranges)
    innermost: list[int] = [1] * length
    for start, end, count in ranges:  # Outer ranges come before inner ranges.
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
        ([rule("1", 0, 30), rule("1", 20, 40), rule("1", 0, 30)], 60),  # Chrome reports the first rule twice.
        ([rule("2", 0, 100)], 100),  # The rule belongs to another style sheet.
        ([rule("1", 0, 400)], 0),
    ],
)
def test_css_rules_without_elements_are_unused(rules: list[dict[str, Any]], unused: int) -> None:
    assert read_style_sheet_coverage({"1": sheet()}, rules) == [FileCoverage(CSS, ResourceKind.STYLESHEET, 100, unused)]


def test_inline_style_sheet_is_not_a_file() -> None:
    assert read_style_sheet_coverage({"1": sheet(isInline=True)}, []) == []


def test_frame_that_uses_more_of_a_style_sheet_counts() -> None:
    files = read_style_sheet_coverage({"1": sheet(), "2": sheet()}, [rule("1", 0, 10), rule("2", 0, 60)])
    assert files == [FileCoverage(CSS, ResourceKind.STYLESHEET, 100, 40)]
