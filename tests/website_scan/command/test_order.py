"""Order of findings: every format lists them by priority."""

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

from tests.website_scan.command.reports import found, judged_categories
from website_scan.catalogue import caps
from website_scan.command.formats import WRITERS
from website_scan.command.formats.changes import changes
from website_scan.command.formats.text import text
from website_scan.command.judged import Gate, Judged, Outcome
from website_scan.command.output import formatted
from website_scan.findings import CRITICAL, HIGH, LOW, MEDIUM, ScanType, Severity
from website_scan.priority import Priority, priority_of
from website_scan.report.diff import diff
from website_scan.report.exports import FORMATS
from website_scan.report.storage import stored_text
from website_scan.report_json import ExportedCheck, checks_of
from website_scan.result import CategoryResult, CheckResult

# The formats with one list of findings. Those with a list for each category or status are tested by themselves.
FLAT: dict[str, Callable[[Judged], list[str]]] = {
    "text": lambda judged: re.findall(r"^    [✗!] (\S+) is wrong", "\n".join(text(judged)), re.MULTILINE),
    "markdown": lambda judged: re.findall(r"^- \*\*(\S+) is wrong", written("markdown", judged), re.MULTILINE),
    "csv": lambda judged: rows(written("csv", judged)),
    "junit": lambda judged: [
        str(case.get("name")).removesuffix(" is well")
        for case in ElementTree.fromstring(written("junit", judged)).iter("testcase")
        if case.find("failure") is not None or case.find("system-out") is not None
    ],
    "codequality": lambda judged: [
        entry["check_name"].removeprefix("security/") for entry in json.loads(written("codequality", judged))
    ],
    "sarif": lambda judged: results(written("sarif", judged)),
    "export.csv": lambda judged: rows(exported("csv", judged)),
    "export.sarif": lambda judged: results(exported("sarif", judged)),
    "gate": lambda judged: [check["id"] for check in Gate(fail_on=LOW).failing(judged)],
    "diff": lambda judged: [each.id for each in diff(all_passed(judged).document, judged.document).new],
    "diff in Markdown": lambda judged: re.findall(
        r"^- \*\*(\S+) is wrong",
        changes([diff(all_passed(judged).document, judged.document)]),
        re.MULTILINE,
    ),
}
# The findings of each list, the lists in order. The page has one for failures and one for warnings.
NESTED: dict[str, Callable[[Judged], list[list[str]]]] = {
    "json": lambda judged: nested(written("json", judged)),
    "full": lambda judged: nested(written("full", judged)),
    "export.json": lambda judged: nested(exported("json", judged)),
    "html": lambda judged: [titles(group, ".//h4") for group in page(judged).xpath("//div[@class='group']")],
}


def written(name: str, judged: Judged) -> str:
    return formatted(name, Outcome([judged], [], 1, gate=Gate(fail_on=LOW)))


def exported(name: str, judged: Judged) -> str:
    return FORMATS[name].render(stored_text(judged.document), lambda document: {}, "")


def rows(table: str) -> list[str]:
    return [row["id"] for row in csv.DictReader(io.StringIO(table)) if row["status"] in ("fail", "warn")]


def results(log: str) -> list[str]:
    (run,) = json.loads(log)["runs"]
    return [result["ruleId"] for result in run["results"]]


def nested(document: str) -> list[list[str]]:
    return [
        [check["name"].removesuffix(" is well") for check in category["checks"] if check["status"] != "pass"]
        for category in json.loads(document)["categories"]
    ]


def page(judged: Judged) -> html.HtmlElement:
    return html.fromstring(written("html", judged))


def titles(element: html.HtmlElement, path: str) -> list[str]:
    return [str(each.text_content()).strip().removesuffix(" is wrong") for each in element.xpath(path)]


def reported(*categories: Sequence[CheckResult]) -> Judged:
    """Return a security report with these checks by category."""
    made = [CategoryResult(f"c{n}", f"Category {n}", 10, tuple(checks)) for n, checks in enumerate(categories)]
    return judged_categories(made, caps(ScanType.SECURITY))


def all_passed(judged: Judged) -> Judged:
    """Return the report of an earlier visit, in which all checks had passed."""
    return reported([found(check["id"], "pass") for _, check in checks_of(judged.document)])


def by_priority(judged: Judged) -> list[ExportedCheck]:
    findings = [check for _, check in checks_of(judged.document) if check["status"] != "pass"]
    return sorted(findings, key=priority_of)


STATUSES = st.sampled_from(("fail", "fail", "warn", "pass"))


@st.composite
def reports(draw: st.DrawFn) -> Judged:
    """Draw a report with up to thirty findings, of which any may hold the score."""
    sizes = draw(st.lists(st.integers(1, 10), min_size=1, max_size=3))
    categories = []
    for number, size in enumerate(sizes):
        checks = []
        for place in range(size):
            status = draw(STATUSES)
            severity = draw(st.sampled_from([each for each in Severity if status == "fail" or each is not CRITICAL]))
            weighs = status != "warn" or draw(st.booleans())
            checks.append(found(f"x{number}-{place}", status, severity, weighs=weighs))
        categories.append(checks)
    return reported(*categories)


def assert_in_order(priorities: Sequence[Priority]) -> None:
    assert list(priorities) == sorted(priorities)


def priorities_of(judged: Judged) -> dict[str, Priority]:
    return {check["id"]: priority_of(check) for _, check in checks_of(judged.document)}


@pytest.mark.parametrize("name", FLAT)
@given(judged=reports())
def test_every_format_lists_findings_by_priority(name: str, judged: Judged) -> None:
    priorities = priorities_of(judged)
    listed = FLAT[name](judged)
    assert_in_order([priorities[id] for id in listed])
    fails = [check for check in by_priority(judged) if name != "gate" or check["status"] == "fail"]
    assert sorted(listed) == sorted(check["id"] for check in fails)


@pytest.mark.parametrize("name", [name for name in NESTED if name != "html"])
@given(judged=reports())
def test_documents_list_categories_and_their_checks_by_priority(name: str, judged: Judged) -> None:
    priorities = priorities_of(judged)
    lists = [[priorities[id] for id in each] for each in NESTED[name](judged)]
    for each in lists:
        assert_in_order(each)
    assert_in_order([each[0] for each in lists if each])
    assert sum(map(len, lists)) == len(by_priority(judged))


@given(judged=reports())
@settings(max_examples=10)
def test_page_lists_what_to_fix_first_and_each_group_by_priority(judged: Judged) -> None:
    priorities, shown = priorities_of(judged), page(judged)
    first = titles(shown, "//ol[@class='first']/li/a")
    findings = [check["id"] for check in by_priority(judged) if check["later"] or check["holds"]]
    assert [priorities[id] for id in first] == [priorities[id] for id in findings[:5]]
    for group in NESTED["html"](judged):
        assert_in_order([priorities[id] for id in group])


SHOP = reported(
    [found(f"header-{n}", "fail", HIGH) for n in range(6)] + [found(f"hint-{n}", "warn", MEDIUM) for n in range(12)],
    [found(f"cookie-{n}", "fail", MEDIUM) for n in range(21)] + [found(f"ok-{n}", "pass") for n in range(9)],
    [found(f"file-{n}", "fail", LOW) for n in range(21)]
    + [found("git", "fail", CRITICAL), found("env", "fail", CRITICAL)]
    + [found(f"probe-{n}", "pass", CRITICAL) for n in range(60)],
)


def test_the_shop_has_sixty_findings_that_win_more_than_its_two_emergencies() -> None:
    points = {check["id"]: check["later"] for check in by_priority(SHOP)}
    assert len(points) == 62
    assert points["git"] == points["env"] < min(points[f"header-{n}"] for n in range(6))


@pytest.mark.parametrize("name", [*FLAT, *NESTED])
def test_two_emergencies_among_sixty_other_findings_come_first_in_every_format(name: str) -> None:
    listed = FLAT[name](SHOP) if name in FLAT else NESTED[name](SHOP)[0]
    assert listed[:2] == ["git", "env"]


def test_every_format_is_tested() -> None:
    assert set(WRITERS) | {f"export.{name}" for name in FORMATS} <= {*FLAT, *NESTED}


def test_the_gate_and_the_page_name_the_emergencies_first() -> None:
    (complaint,) = Gate(fail_on=LOW).complaints(SHOP)
    assert ": git is wrong, env is wrong, header-0 is wrong, and 47 more." in complaint
    assert titles(page(SHOP), "//ol[@class='first']/li/a")[:3] == ["git", "env", "header-0"]
