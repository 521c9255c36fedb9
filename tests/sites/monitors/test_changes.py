"""Tests for confirming the changes of a page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sites.models.stored_json import UnconfirmedChanges
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
    st.sampled_from(elements(*(f"#place-{letter}" for letter in "abcdefghijklmnopqrstuvwx"))), max_size=22, unique=True
)
REPORTS = st.builds(
    lambda states, places, **more: document(states, places=places, **more),
    st.dictionaries(st.sampled_from("abcdef"), st.sampled_from(STATES)),
    st.dictionaries(st.sampled_from("abcdef"), PLACES),
    version=st.sampled_from("12"),
    severity=st.sampled_from(["low", "high"]),
    browser=st.sampled_from([None, "Chromium 150.0"]),
)


def make_report(states: dict[str, str], answer: int = 200, **more: Any) -> ReducedJson:
    return reduce_export(document(states, **more), {"status": answer})


class MonitoredPage:
    """Monitored page with its confirmed state and its unconfirmed changes."""

    def __init__(self, measured: str = "") -> None:
        self.confirmed: ReducedJson | None = None
        self.doubts: UnconfirmedChanges = {}
        self.measured = frozenset(measured)

    def compare_report(self, states: dict[str, str], *, is_partial: bool = False, **more: Any) -> list[str]:
        """Compare a report with the confirmed state.

        Return the confirmed changes, such as `new a`.
        """
        compared = compare(
            self.confirmed, self.doubts, make_report(states, **more), is_partial=is_partial, measured=self.measured
        )
        self.confirmed, self.doubts = compared.confirmed, compared.doubts
        return sorted(f"{direction} {change.id}" for direction, change in compared.changes)


@given(REPORTS, REPORTS)
def test_reduced_reports_have_the_same_changes(before: ExportJson, after: ExportJson) -> None:
    full_diff, reduced_diff = diff(before, after), diff(reduce_export(before, {}), reduce_export(after, {}))
    for name in ("new", "fixed", "worse", "better", "same", "not_compared", "same_rules", "same_browser"):
        assert getattr(full_diff, name) == getattr(reduced_diff, name)


@given(REPORTS)
def test_identical_report_has_no_changes(export: ExportJson) -> None:
    confirmed = reduce_export(export, {})
    assert compare(confirmed, {}, confirmed, is_partial=False, measured=frozenset("abc")) == Compared(
        confirmed, {}, (), confirmed
    )


@given(st.lists(REPORTS, max_size=6), REPORTS, st.booleans())
def test_repeated_report_is_eventually_confirmed(before: list[ExportJson], last: ExportJson, is_partial: bool) -> None:
    """Repeating a report confirms its changes.

    Checks without a verdict in the report are excepted.
    """
    confirmed: ReducedJson | None = None
    doubts: UnconfirmedChanges = {}
    for report in [*before, *([last] * 12)]:
        compared = compare(
            confirmed, doubts, reduce_export(report, {}), is_partial=is_partial, measured=frozenset("ab")
        )
        confirmed, doubts = compared.confirmed, compared.doubts
    assert confirmed is not None
    remaining = diff(confirmed, reduce_export(last, {}))
    assert [compared.changes, remaining.new, remaining.fixed, remaining.worse, remaining.better] == [()] * 5
    assert set(doubts.get("checks", ())) <= checks_without_verdict(reduce_export(last, {}))


def test_complete_change_is_confirmed_at_once() -> None:
    page = MonitoredPage()
    assert page.compare_report({"a": "pass"}) == []
    assert page.compare_report({"a": "fail"}) == ["new a"]
    assert page.compare_report({"a": "fail"}) == []
    assert page.compare_report({"a": "pass"}) == ["fixed a"]


def image_places(count: int) -> dict[str, list[Element]]:
    return {"a": elements(*(f"main > img:nth-of-type({number})" for number in range(count)))}


def test_additional_element_makes_a_finding_worse() -> None:
    page = MonitoredPage()
    page.compare_report({"a": "fail"}, places=image_places(3))
    assert page.compare_report({"a": "fail"}, places=image_places(3)) == []
    assert page.compare_report({"a": "fail"}, places=image_places(4)) == ["worse a"]
    assert page.compare_report({"a": "fail"}, places=image_places(4)) == []
    assert page.compare_report({"a": "fail"}, places=image_places(2)) == ["better a"]


def test_partial_report_is_confirmed_by_the_next() -> None:
    page = MonitoredPage()
    page.compare_report({"a": "pass", "b": "fail"})
    assert page.compare_report({"a": "fail", "b": "pass"}, is_partial=True) == []
    assert page.compare_report({"a": "fail", "b": "fail"}, is_partial=True) == ["new a"]


def test_partial_report_keeps_missing_checks() -> None:
    page = MonitoredPage()
    page.compare_report({"a": "pass", "b": "fail", "c": "pass"})
    page.compare_report({"a": "fail", "b": "fail", "c": "pass"}, is_partial=True)
    assert page.compare_report({"a": "skipped", "b": "skipped", "c": "skipped"}, is_partial=True) == []
    assert page.compare_report({"a": "fail", "b": "pass", "c": "fail"}) == ["fixed b", "new a", "new c"]


def test_measured_checks_need_a_second_run() -> None:
    page = MonitoredPage(measured="a")
    page.compare_report({"a": "pass", "b": "pass"})
    assert page.compare_report({"a": "fail", "b": "fail"}) == ["new b"]
    assert page.compare_report({"a": "fail", "b": "fail"}) == ["new a"]


def test_flapping_check_is_reported_later() -> None:
    page = MonitoredPage()
    page.compare_report({"a": "pass"})
    event_summary = [page.compare_report({"a": status}) for status in ("fail", "pass") * 30]
    assert event_summary[:2] == [["new a"], ["fixed a"]]
    assert not any(event_summary[2:])
    event_summary = [page.compare_report({"a": "fail"}) for _ in range(5)]
    assert [bool(changes) for changes in event_summary].count(True) == 1


def test_old_flapping_does_not_delay_a_change() -> None:
    page = MonitoredPage()
    for state in ("pass", "fail", "pass", *["pass"] * 10):
        page.compare_report({"a": state})
    assert page.compare_report({"a": "fail"}) == ["new a"]
    assert page.doubts["moved"] == {"a": [0]}


def test_inapplicable_check_is_not_a_change() -> None:
    page = MonitoredPage()
    page.compare_report({"a": "fail", "b": "pass"})
    assert page.compare_report({"b": "pass"}) == []
    assert page.compare_report({"a": "fail", "b": "pass"}) == []
    page.compare_report({"b": "pass"})
    page.compare_report({"b": "pass"})
    page.compare_report({"b": "pass"})
    assert page.compare_report({"a": "fail", "b": "pass"}) == [], "it came and went"
    assert page.compare_report({"a": "fail", "b": "pass"}) == ["new a"]


def test_missing_browser_starts_a_new_comparison() -> None:
    page = MonitoredPage()
    browser_options: dict[str, Any] = {"browser": "Chromium 150.0"}
    page.compare_report({"a": "pass", "b": "fail"}, **browser_options)
    assert page.compare_report({"a": "fail", "b": "omitted"}) == []
    assert page.compare_report({"a": "pass", "b": "fail", "c": "fail"}, **browser_options) == ["new c"]
    assert page.compare_report({"a": "fail", "b": "omitted"}) == []
    assert page.compare_report({"a": "fail", "b": "omitted"}) == []
    assert page.compare_report({"a": "fail", "b": "omitted", "d": "fail"}) == ["new d"]
    assert page.compare_report({"a": "pass", "b": "fail"}, **browser_options) == []


def test_moved_fact_is_reported_once() -> None:
    page = MonitoredPage()
    page.compare_report({"region": "warn", "main": "pass"})
    assert page.compare_report({"region": "repeated", "main": "fail"}) == ["new main"]
    assert page.compare_report({"region": "warn", "main": "pass"}) == ["fixed main"]
    assert page.compare_report({"region": "pass", "main": "pass"}) == ["fixed region"]


def test_new_catalogue_compares_common_checks() -> None:
    page = MonitoredPage()
    page.compare_report({"a": "fail", "b": "pass", "old": "fail"}, severity="low", version="1")
    assert page.compare_report({"a": "fail", "b": "pass", "young": "fail"}, severity="high", version="2") == []
    assert page.compare_report({"a": "fail", "b": "fail", "young": "fail"}, severity="high", version="3") == ["new b"]


def test_error_page_is_not_compared() -> None:
    page = MonitoredPage()
    page.compare_report({"a": "fail"}, answer=404)
    assert page.compare_report({"a": "pass", "b": "fail"}, answer=200) == []
    assert page.compare_report({"a": "fail", "b": "fail"}) == ["new a"]


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [(200, 404, True), (200, 503, True), (404, 404, False), (404, 500, True), (404, 200, False), (None, 200, False)],
)
def test_page_with_an_error_status_is_down(before: int | None, now: int, expected: bool) -> None:
    confirmed = make_report({}, answer=before) if before else None
    assert is_down(confirmed, make_report({}, answer=now)) == expected


def test_changed_measurement_is_not_a_change() -> None:
    confirmed, now = make_report({"a": "fail"}), make_report({"a": "fail"})
    (check,) = now["categories"][0]["checks"]
    assert check["status"] == "fail"
    check["message"] = "After 312 ms."
    assert compare(confirmed, {}, now, is_partial=False, measured=frozenset()).confirmed == confirmed


def test_docs_list_all_measured_checks() -> None:
    measured = {id for scan_type in ScanType for id in measured_checks(scan_type)}
    (row,) = re.findall(r"^\| a finding that depends on measured times: (.*?) \|", DOCS.read_text(), re.MULTILINE)
    assert set(re.findall(r"`([\w-]+)`", row)) == measured
