"""Test that every output format lists findings by priority."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Sequence
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import html

from tests.website_scan.command.reports import check_result, judged_categories
from website_scan.catalogue import caps
from website_scan.command.conformance_options import FORMATS as CONFORMANCE_FORMATS
from website_scan.command.formats import WRITERS
from website_scan.command.formats.changes import changes
from website_scan.command.formats.text import text
from website_scan.command.gate import CommandReport, CommandResult, Gate
from website_scan.command.output import formatted
from website_scan.findings import CRITICAL, HIGH, LOW, MEDIUM, ScanType, Severity
from website_scan.priority import Priority, priority_of
from website_scan.report.diff import diff
from website_scan.report.exports import FORMATS
from website_scan.report.storage import stored_text
from website_scan.report_json import ExportedCheck, checks_of
from website_scan.result import CategoryResult, CheckResult

# Formats with one list of findings, and functions that return its check IDs.
FLAT: dict[str, Callable[[CommandReport], list[str]]] = {
    "text": lambda judged: re.findall(r"^  [✗!] (\S+) is wrong", "\n".join(text(judged)), re.MULTILINE),
    "markdown": lambda judged: re.findall(r"^- \*\*(\S+) is wrong", write_report("markdown", judged), re.MULTILINE),
    "csv": lambda judged: rows(write_report("csv", judged)),
    "junit": lambda judged: [
        str(case.get("name")).removesuffix(" is well")
        for case in ElementTree.fromstring(write_report("junit", judged)).iter("testcase")
        if case.find("failure") is not None or case.find("system-out") is not None
    ],
    "codequality": lambda judged: [
        entry["check_name"].removeprefix("security/") for entry in json.loads(write_report("codequality", judged))
    ],
    "sarif": lambda judged: results(write_report("sarif", judged)),
    "export.csv": lambda judged: rows(exported_check_ids("csv", judged)),
    "export.sarif": lambda judged: results(exported_check_ids("sarif", judged)),
    "gate": lambda judged: [check["id"] for check in Gate(fail_on=LOW).failing_findings(judged)],
    "diff": lambda judged: [change.id for change in diff(passed_report(judged).export, judged.export).new],
    "diff in Markdown": lambda judged: re.findall(
        r"^- \*\*(\S+) is wrong",
        changes([diff(passed_report(judged).export, judged.export)]),
        re.MULTILINE,
    ),
}
# Formats with groups of findings, and functions that return their check IDs.
NESTED: dict[str, Callable[[CommandReport], list[list[str]]]] = {
    "json": lambda judged: nested_check_ids(write_report("json", judged)),
    "full": lambda judged: nested_check_ids(write_report("full", judged)),
    "export.json": lambda judged: nested_check_ids(exported_check_ids("json", judged)),
    "html": lambda judged: [titles(group, ".//h4") for group in page(judged).xpath("//div[@class='group']")],
}


def write_report(name: str, judged: CommandReport) -> str:
    return formatted(name, CommandResult([judged], [], 1, gate=Gate(fail_on=LOW)))


def exported_check_ids(name: str, judged: CommandReport) -> str:
    return FORMATS[name].render(stored_text(judged.export), lambda export: {}, "")


def rows(table: str) -> list[str]:
    return [row["id"] for row in csv.DictReader(io.StringIO(table)) if row["status"] in ("fail", "warn")]


def results(log: str) -> list[str]:
    (run,) = json.loads(log)["runs"]
    return [result["ruleId"] for result in run["results"]]


def nested_check_ids(content: str) -> list[list[str]]:
    return [
        [check["name"].removesuffix(" is well") for check in category["checks"] if check["status"] != "pass"]
        for category in json.loads(content)["categories"]
    ]


def page(judged: CommandReport) -> html.HtmlElement:
    return html.fromstring(write_report("html", judged))


def titles(element: html.HtmlElement, path: str) -> list[str]:
    return [str(node.text_content()).strip().removesuffix(" is wrong") for node in element.xpath(path)]


def security_report(*categories: Sequence[CheckResult]) -> CommandReport:
    """Return a security report with a category for every list of results."""
    results_by_category = [
        CategoryResult(f"c{n}", f"Category {n}", 10, tuple(checks)) for n, checks in enumerate(categories)
    ]
    return judged_categories(results_by_category, caps(ScanType.SECURITY))


def passed_report(judged: CommandReport) -> CommandReport:
    """Return an earlier report in which all checks passed."""
    return security_report([check_result(check["id"], "pass") for _, check in checks_of(judged.export)])


def sort_by_priority(judged: CommandReport) -> list[ExportedCheck]:
    findings = [check for _, check in checks_of(judged.export) if check["status"] != "pass"]
    return sorted(findings, key=priority_of)


STATUSES = st.sampled_from(("fail", "fail", "warn", "pass"))


@st.composite
def reports(draw: st.DrawFn) -> CommandReport:
    """Generate a report with at most thirty findings.

    They have any status and severity.
    """
    sizes = draw(st.lists(st.integers(1, 10), min_size=1, max_size=3))
    categories = []
    for number, size in enumerate(sizes):
        checks = []
        for place in range(size):
            status = draw(STATUSES)
            severities = [severity for severity in Severity if status == "fail" or severity is not CRITICAL]
            severity = draw(st.sampled_from(severities))
            weighs = status != "warn" or draw(st.booleans())
            checks.append(check_result(f"x{number}-{place}", status, severity, weighs=weighs))
        categories.append(checks)
    return security_report(*categories)


def assert_in_order(priorities: Sequence[Priority]) -> None:
    assert list(priorities) == sorted(priorities)


def priorities_of(judged: CommandReport) -> dict[str, Priority]:
    return {check["id"]: priority_of(check) for _, check in checks_of(judged.export)}


@pytest.mark.parametrize("name", FLAT)
@given(judged=reports())
def test_format_lists_findings_by_priority(name: str, judged: CommandReport) -> None:
    priorities = priorities_of(judged)
    listed = FLAT[name](judged)
    assert_in_order([priorities[id] for id in listed])
    fails = [check for check in sort_by_priority(judged) if name != "gate" or check["status"] == "fail"]
    assert sorted(listed) == sorted(check["id"] for check in fails)


@pytest.mark.parametrize("name", [name for name in NESTED if name != "html"])
@given(judged=reports())
def test_findings_are_listed_by_priority(name: str, judged: CommandReport) -> None:
    priorities = priorities_of(judged)
    lists = [[priorities[id] for id in ids] for ids in NESTED[name](judged)]
    for priorities_of_list in lists:
        assert_in_order(priorities_of_list)
    assert_in_order([priorities_of_list[0] for priorities_of_list in lists if priorities_of_list])
    assert sum(map(len, lists)) == len(sort_by_priority(judged))


@given(judged=reports())
@settings(max_examples=10)
def test_html_sorts_by_priority(judged: CommandReport) -> None:
    priorities, html_page = priorities_of(judged), page(judged)
    first = titles(html_page, "//ol[@class='first']/li/a")
    findings = [check["id"] for check in sort_by_priority(judged) if check["later"] or check["holds"]]
    assert [priorities[id] for id in first] == [priorities[id] for id in findings[:5]]
    for group in NESTED["html"](judged):
        assert_in_order([priorities[id] for id in group])


SHOP = security_report(
    [check_result(f"header-{n}", "fail", HIGH) for n in range(6)]
    + [check_result(f"hint-{n}", "warn", MEDIUM) for n in range(12)],
    [check_result(f"cookie-{n}", "fail", MEDIUM) for n in range(21)]
    + [check_result(f"ok-{n}", "pass") for n in range(9)],
    [check_result(f"file-{n}", "fail", LOW) for n in range(21)]
    + [check_result("git", "fail", CRITICAL), check_result("env", "fail", CRITICAL)]
    + [check_result(f"probe-{n}", "pass", CRITICAL) for n in range(60)],
)


def test_minor_findings_of_the_sample_have_more_points() -> None:
    points = {check["id"]: check["later"] for check in sort_by_priority(SHOP)}
    assert len(points) == 62
    assert points["git"] == points["env"] < min(points[f"header-{n}"] for n in range(6))


@pytest.mark.parametrize("name", [*FLAT, *NESTED])
def test_critical_findings_come_first_in_every_format(name: str) -> None:
    listed = FLAT[name](SHOP) if name in FLAT else NESTED[name](SHOP)[0]
    assert listed[:2] == ["git", "env"]


def test_priority_order_is_tested_for_every_format() -> None:
    # Formats of conformance are in the order of the standard.
    assert set(WRITERS) - set(CONFORMANCE_FORMATS) | {f"export.{name}" for name in FORMATS} <= {*FLAT, *NESTED}


def test_gate_lists_critical_findings_first() -> None:
    (complaint,) = Gate(fail_on=LOW).complaints(SHOP)
    assert ": git is wrong, env is wrong, header-0 is wrong, and 47 more." in complaint
    assert titles(page(SHOP), "//ol[@class='first']/li/a")[:3] == ["git", "env", "header-0"]
