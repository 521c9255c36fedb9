"""Comparison of a page with its confirmed state, and confirmation of the differences."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sites.models.stored_json import Doubts
from sites.monitors.changes import Compared, compare, is_down
from sites.monitors.states import checks_without_verdict, reduce_export
from tests.results import elements
from tests.website_scan.report.test_diff import STATES, document
from website_scan.catalogue import measured_checks
from website_scan.findings import ScanType
from website_scan.places import Element
from website_scan.report.diff import diff
from website_scan.report_json import ExportJson, ReducedJson

DOCS = Path(__file__).parents[3] / "docs" / "monitors.md"
PLACES = st.lists(
    st.sampled_from(elements(*(f"#place-{each}" for each in "abcdefghijklmnopqrstuvwx"))), max_size=22, unique=True
)
REPORTS = st.builds(
    lambda states, places, **more: document(states, places=places, **more),
    st.dictionaries(st.sampled_from("abcdef"), st.sampled_from(STATES)),
    st.dictionaries(st.sampled_from("abcdef"), PLACES),
    version=st.sampled_from("12"),
    severity=st.sampled_from(["low", "high"]),
    browser=st.sampled_from([None, "Chromium 150.0"]),
)


def report(states: dict[str, str], answer: int = 200, **more: Any) -> ReducedJson:
    return reduce_export(document(states, **more), {"status": answer})


class Page:
    """Confirmed state and doubts of a page, from one run to the next."""

    def __init__(self, measured: str = "") -> None:
        self.known: ReducedJson | None = None
        self.doubts: Doubts = {}
        self.measured = frozenset(measured)

    def look(self, states: dict[str, str], *, is_partial: bool = False, **more: Any) -> list[str]:
        """Compare a report; return the confirmed changes, such as `new a`."""
        found = compare(self.known, self.doubts, report(states, **more), is_partial=is_partial, measured=self.measured)
        self.known, self.doubts = found.confirmed, found.doubts
        return sorted(f"{direction} {change.id}" for direction, change in found.changes)


@given(REPORTS, REPORTS)
def test_reduced_reports_lead_to_the_same_changes(before: ExportJson, after: ExportJson) -> None:
    whole, kept = diff(before, after), diff(reduce_export(before, {}), reduce_export(after, {}))
    for name in ("new", "fixed", "worse", "better", "same", "not_compared", "same_rules", "same_browser"):
        assert getattr(whole, name) == getattr(kept, name)


@given(REPORTS)
def test_same_report_has_no_changes(found: ExportJson) -> None:
    known = reduce_export(found, {})
    assert compare(known, {}, known, is_partial=False, measured=frozenset("abc")) == Compared(known, {}, (), known)


@given(st.lists(REPORTS, max_size=6), REPORTS, st.booleans())
def test_repeated_report_is_confirmed_in_the_end(before: list[ExportJson], last: ExportJson, is_partial: bool) -> None:
    """With any history; except for findings on which the last report has no verdict."""
    known: ReducedJson | None = None
    doubts: Doubts = {}
    for each in [*before, *([last] * 12)]:
        found = compare(known, doubts, reduce_export(each, {}), is_partial=is_partial, measured=frozenset("ab"))
        known, doubts = found.confirmed, found.doubts
    assert known is not None
    left = diff(known, reduce_export(last, {}))
    assert [found.changes, left.new, left.fixed, left.worse, left.better] == [()] * 5
    assert set(doubts.get("checks", ())) <= checks_without_verdict(reduce_export(last, {}))


def test_complete_report_is_confirmed_at_once() -> None:
    page = Page()
    assert page.look({"a": "pass"}) == []
    assert page.look({"a": "fail"}) == ["new a"]
    assert page.look({"a": "fail"}) == []
    assert page.look({"a": "pass"}) == ["fixed a"]


def images(count: int) -> dict[str, list[Element]]:
    return {"a": elements(*(f"main > img:nth-of-type({each})" for each in range(count)))}


def test_one_more_element_at_a_place_is_worse() -> None:
    page = Page()
    page.look({"a": "fail"}, places=images(3))
    assert page.look({"a": "fail"}, places=images(3)) == []
    assert page.look({"a": "fail"}, places=images(4)) == ["worse a"]
    assert page.look({"a": "fail"}, places=images(4)) == []
    assert page.look({"a": "fail"}, places=images(2)) == ["better a"]


def test_partial_report_is_confirmed_by_the_next_one() -> None:
    page = Page()
    page.look({"a": "pass", "b": "fail"})
    assert page.look({"a": "fail", "b": "pass"}, is_partial=True) == []
    assert page.look({"a": "fail", "b": "fail"}, is_partial=True) == ["new a"]


def test_checks_missing_in_a_partial_report_keep_their_state() -> None:
    page = Page()
    page.look({"a": "pass", "b": "fail", "c": "pass"})
    page.look({"a": "fail", "b": "fail", "c": "pass"}, is_partial=True)
    assert page.look({"a": "skipped", "b": "skipped", "c": "skipped"}, is_partial=True) == []
    assert page.look({"a": "fail", "b": "pass", "c": "fail"}) == ["fixed b", "new a", "new c"]


def test_measured_checks_are_confirmed_by_a_second_run() -> None:
    page = Page(measured="a")
    page.look({"a": "pass", "b": "pass"})
    assert page.look({"a": "fail", "b": "fail"}) == ["new b"]
    assert page.look({"a": "fail", "b": "fail"}) == ["new a"]


def test_flapping_check_needs_more_runs_but_is_reported_in_the_end() -> None:
    page = Page()
    page.look({"a": "pass"})
    told = [page.look({"a": each}) for each in ("fail", "pass") * 30]
    assert told[:2] == [["new a"], ["fixed a"]]
    assert not any(told[2:])
    told = [page.look({"a": "fail"}) for _ in range(5)]
    assert [bool(each) for each in told].count(True) == 1


def test_check_that_flapped_long_ago_is_confirmed_at_once() -> None:
    page = Page()
    for state in ("pass", "fail", "pass", *["pass"] * 10):
        page.look({"a": state})
    assert page.look({"a": "fail"}) == ["new a"]
    assert page.doubts["moved"] == {"a": [0]}


def test_finding_that_did_not_apply_once_is_no_change() -> None:
    page = Page()
    page.look({"a": "fail", "b": "pass"})
    assert page.look({"b": "pass"}) == []
    assert page.look({"a": "fail", "b": "pass"}) == []
    page.look({"b": "pass"})
    page.look({"b": "pass"})
    page.look({"b": "pass"})
    assert page.look({"a": "fail", "b": "pass"}) == [], "it came and went"
    assert page.look({"a": "fail", "b": "pass"}) == ["new a"]


def test_second_run_without_browser_starts_a_new_comparison() -> None:
    page = Page()
    with_browser: dict[str, Any] = {"browser": "Chromium 150.0"}
    page.look({"a": "pass", "b": "fail"}, **with_browser)
    assert page.look({"a": "fail", "b": "omitted"}) == []
    assert page.look({"a": "pass", "b": "fail", "c": "fail"}, **with_browser) == ["new c"]
    assert page.look({"a": "fail", "b": "omitted"}) == []
    assert page.look({"a": "fail", "b": "omitted"}) == []
    assert page.look({"a": "fail", "b": "omitted", "d": "fail"}) == ["new d"]
    assert page.look({"a": "pass", "b": "fail"}, **with_browser) == []


def test_fact_that_moves_to_another_check_is_reported_once() -> None:
    page = Page()
    page.look({"region": "warn", "main": "pass"})
    assert page.look({"region": "repeated", "main": "fail"}) == ["new main"]
    assert page.look({"region": "warn", "main": "pass"}) == ["fixed main"]
    assert page.look({"region": "pass", "main": "pass"}) == ["fixed region"]


def test_new_catalogue_reports_changes_of_common_checks_only() -> None:
    page = Page()
    page.look({"a": "fail", "b": "pass", "old": "fail"}, severity="low", version="1")
    assert page.look({"a": "fail", "b": "pass", "young": "fail"}, severity="high", version="2") == []
    assert page.look({"a": "fail", "b": "fail", "young": "fail"}, severity="high", version="3") == ["new b"]


def test_error_page_is_not_compared_with_the_page() -> None:
    page = Page()
    page.look({"a": "fail"}, answer=404)
    assert page.look({"a": "pass", "b": "fail"}, answer=200) == []
    assert page.look({"a": "fail", "b": "fail"}) == ["new a"]


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [(200, 404, True), (200, 503, True), (404, 404, False), (404, 500, True), (404, 200, False), (None, 200, False)],
)
def test_page_is_down_if_its_status_becomes_an_error(before: int | None, now: int, expected: bool) -> None:
    known = report({}, answer=before) if before else None
    assert is_down(known, report({}, answer=now)) == expected


def test_report_with_other_figures_updates_no_row() -> None:
    known, now = report({"a": "fail"}), report({"a": "fail"})
    (check,) = now["categories"][0]["checks"]
    assert check["status"] == "fail"
    check["message"] = "After 312 ms."
    assert compare(known, {}, now, is_partial=False, measured=frozenset()).confirmed == known


def test_docs_list_checks_of_measured_times() -> None:
    measured = {id for each in ScanType for id in measured_checks(each)}
    (row,) = re.findall(r"^\| a finding that rests on measured times: (.*?) \|", DOCS.read_text(), re.MULTILINE)
    assert set(re.findall(r"`([\w-]+)`", row)) == measured
