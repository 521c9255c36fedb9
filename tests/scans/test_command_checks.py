"""`manage.py checks`: output of the catalogue as Markdown and JSON."""

from __future__ import annotations

import html
import json
import re

import pytest

from tests.command_line import run, run_here, start
from website_scan.catalogue import Category, catalogue_version, checks
from website_scan.findings import ScanType
from website_scan.plan import needs_browser
from website_scan.report.serialization import stored_fix
from website_scan.result import HowToFix
from website_scan.values import outline
from website_scan.wording import catalogue_fix

CATALOGUE = [check for scan_type in ScanType for check in checks(scan_type)]
FIELDS = {
    *("id", "name", "found", "why", "judged", "type", "category", "category_weight", "category_weight_without_browser"),
    *("share_percent", "severity", "evidence", "caps", "html_only", "error_pages", "measured", "needs_browser", "fix"),
    *("references", "weight_of_all", "outcomes", "how_to_fix"),
}


@pytest.fixture(scope="module")
def markdown() -> str:
    ran = run_here("checks")
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


def shown(cell: str) -> str:
    """Return the text of a table's cell as Markdown renders it."""
    return html.unescape(re.sub(r"\\([\\`*_\[\]<>|~])", r"\1", cell))


def test_json_lists_every_check() -> None:
    ran = run("checks", "--format", "json")
    assert (ran.returncode, ran.stderr) == (0, "")
    catalogue = json.loads(ran.stdout)
    assert catalogue["versions"] == {each.value: catalogue_version(each) for each in ScanType}
    assert [each["id"] for each in catalogue["checks"]] == [check.id for check in CATALOGUE]
    for each, check in zip(catalogue["checks"], CATALOGUE, strict=True):
        assert set(each) == FIELDS
        assert (each["type"], each["category"]) == (check.type, check.category.name)
        assert each["severity"] in ("critical", "high", "medium", "low")
        assert each["fix"] == catalogue_fix(check.own_fix)
        assert each["how_to_fix"] == stored_fix(
            HowToFix(check.own_fix.text, tuple(check.own_fix.snippets_for(None).items()))
        )
        assert [outcome["name"] for outcome in each["outcomes"]] == list(check.outcomes)
        assert each["evidence"]
        assert each["needs_browser"] is needs_browser(check)


def test_markdown_has_a_row_for_every_check_in_the_order_of_a_report(markdown: str) -> None:
    assert markdown.startswith("# Checks\n")
    versions = re.findall(r"^Catalogue version `(.+)`\.$", markdown, re.MULTILINE)
    assert versions == [catalogue_version(each) for each in ScanType]
    assert re.findall(r"^\| `([^`]+)` \|", markdown, re.MULTILINE) == [check.id for check in CATALOGUE]
    assert re.findall(r"^## (.+)$", markdown, re.MULTILINE) == ["Security", "Performance", "Accessibility", "SEO"]
    categories = list(dict.fromkeys((check.type, check.category) for check in CATALOGUE))
    assert re.findall(r"^### (.+)$", markdown, re.MULTILINE) == [
        f"{category.name} (weight {category.weight}{_without_a_browser(category)})" for _, category in categories
    ]


def _without_a_browser(category: Category) -> str:
    return f", {category.static_weight} without a browser" if category.static_weight is not None else ""


def test_a_row_shows_a_check_as_it_is_written(markdown: str) -> None:
    rows = [line for line in markdown.splitlines() if line.startswith("| `")]
    for row, check in zip(rows, CATALOGUE, strict=True):
        name = f"{check.name} (needs a browser)" if needs_browser(check) else check.name
        cells = [shown(cell.strip()) for cell in re.split(r"(?<!\\)\|", row.strip("|"))[1:]]
        outcomes = "<br>".join(f"`{each}`: {outline(check.outcome(each).title)}" for each in check.outcomes)
        fix, references = catalogue_fix(check.own_fix), "; ".join(check.references)
        assert cells == [name, outcomes, check.severity, fix, references]


def test_markup_in_a_fix_is_shown_and_not_obeyed(markdown: str) -> None:
    assert any("<" in catalogue_fix(check.own_fix) for check in CATALOGUE)
    assert "<" not in markdown.replace("<br>", "")


def test_an_unknown_format_is_wrong_usage() -> None:
    ran = run_here("checks", "--format", "pdf")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "invalid choice: 'pdf'" in ran.stderr


def test_a_reader_that_leaves_ends_the_command_without_a_traceback() -> None:
    with start("checks") as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == ""
        assert process.wait(30) == 141
