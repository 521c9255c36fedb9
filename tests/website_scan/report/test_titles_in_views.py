"""Tests that a failing check has the same name in all views."""

from __future__ import annotations

import html
import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

import pytest

from scans.check_catalogue import failure_title
from tests.results import check_of
from tests.website_scan.command.reports import judged_categories
from website_scan.catalogue import checks
from website_scan.command.formats.markdown import escaped
from website_scan.command.formats.text import text
from website_scan.command.gate import CommandReport, CommandResult
from website_scan.command.output import formatted
from website_scan.findings import HIGH, ScanType
from website_scan.report.diff import diff
from website_scan.report.report_page import report_page
from website_scan.result import CategoryResult
from website_scan.values import outline

CHECKS_DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "checks.md"


def rounds_of_titles(scan_type: ScanType) -> Iterator[Mapping[str, str]]:
    """Yield titles of findings by check ID, until all outcomes of all checks had their turn."""
    titles = {check.id: [outline(check.outcome(name).title) for name in check.outcomes] for check in checks(scan_type)}
    for number in range(max(map(len, titles.values()))):
        yield {id: own[number % len(own)] for id, own in titles.items()}


def report_of(titles: Mapping[str, str], scan_type: ScanType, status: str = "fail") -> CommandReport:
    """Return a report in which all checks of a type failed with these titles, or passed."""
    results = [
        check_of(check.id, check.name, titles[check.id], "fail", HIGH, HIGH, "Seen.", "Mend it.")
        if status == "fail"
        else check_of(check.id, check.name, check.name, "pass", None, HIGH, "Seen.")
        for check in checks(scan_type)
    ]
    return judged_categories([CategoryResult("all", "All", 1, tuple(results))], type=scan_type)


def written(name: str, report: CommandReport) -> str:
    return html.unescape(formatted(name, CommandResult([report], [], 1)))


def lines_of_text(report: CommandReport) -> str:
    return "\n".join(text(report))


def sarif_messages(report: CommandReport) -> str:
    rules = json.loads(written("sarif", report))["runs"][0]["tool"]["driver"]["rules"]
    return "\n".join(rule["shortDescription"]["text"] for rule in rules)


def descriptions(report: CommandReport) -> str:
    return "\n".join(problem["description"] for problem in json.loads(written("codequality", report)))


def cards(report: CommandReport) -> str:
    return "\n".join(
        card.name for category in report_page(report.export, report.facts).categories for card in category.failed
    )


def comparison(report: CommandReport) -> str:
    passed = report_of({}, ScanType(report.type), "pass")
    return "\n".join(change.title for change in diff(passed.export, report.export).new)


VIEWS: Mapping[str, Callable[[CommandReport], str]] = {
    "text": lines_of_text,
    "SARIF": sarif_messages,
    "Code Quality": descriptions,
    "report page": cards,
    "comparison": comparison,
    **{name: partial(written, name) for name in ("html", "markdown", "junit")},
}


@pytest.mark.parametrize("scan_type", ScanType)
@pytest.mark.parametrize("view", VIEWS)
def test_failing_check_has_its_title_in_each_view(view: str, scan_type: ScanType) -> None:
    for titles in rounds_of_titles(scan_type):
        shown = VIEWS[view](report_of(titles, scan_type))
        spell = escaped if view == "markdown" else str
        assert not [title for title in titles.values() if html.unescape(spell(title)) not in shown]


def test_lists_count_failures_under_a_title_of_the_check() -> None:
    for check in itertools.chain.from_iterable(map(checks, ScanType)):
        assert failure_title(check.id) == outline(check.outcome(next(iter(check.outcomes))).title)
    assert failure_title("x-content-type-options") == "No X-Content-Type-Options header"
    assert failure_title("removed-check", "Old name") == "Old name"
    assert failure_title("removed-check") == "removed-check"


def test_documentation_has_the_titles_of_all_outcomes() -> None:
    document = html.unescape(CHECKS_DOCUMENT.read_text(encoding="utf-8")).replace("\\", "")
    for scan_type in ScanType:
        for titles in rounds_of_titles(scan_type):
            assert not [title for title in titles.values() if title not in document]
