"""Tests for `manage.py checks`.

The command prints the catalogue as Markdown or JSON.
"""

from __future__ import annotations

import html
import json
import re

import pytest

from tests.command_line import run, run_here, start
from website_scan.catalogue import Category, catalogue_version, checks
from website_scan.findings import ScanType
from website_scan.plan import judges_journeys_only, needs_browser
from website_scan.report.serialization import stored_fix
from website_scan.result import HowToFix
from website_scan.values import outline
from website_scan.wording import catalogue_fix

CATALOGUE = [check for scan_type in ScanType for check in checks(scan_type)]
FIELDS = {
    *("id", "name", "found", "why", "judged", "type", "category", "category_weight", "category_weight_without_browser"),
    *(
        "share_percent",
        "severity",
        "evidence",
        "caps",
        "html_only",
        "error_pages",
        "measured",
        "needs_browser",
        "fix",
        "journeys_only",
    ),
    *("references", "weight_of_all", "outcomes", "how_to_fix"),
}


@pytest.fixture(scope="module")
def markdown() -> str:
    execution = run_here("checks")
    assert (execution.returncode, execution.stderr) == (0, "")
    return execution.stdout


def rendered(cell: str) -> str:
    """Return a table cell's text as rendered from Markdown."""
    return html.unescape(re.sub(r"\\([\\`*_\[\]<>|~])", r"\1", cell))


def test_json_lists_every_check() -> None:
    execution = run("checks", "--format", "json")
    assert (execution.returncode, execution.stderr) == (0, "")
    catalogue = json.loads(execution.stdout)
    assert catalogue["versions"] == {entry.value: catalogue_version(entry) for entry in ScanType}
    assert [entry["id"] for entry in catalogue["checks"]] == [check.id for check in CATALOGUE]
    for entry, check in zip(catalogue["checks"], CATALOGUE, strict=True):
        assert set(entry) == FIELDS
        assert (entry["type"], entry["category"]) == (check.type, check.category.name)
        assert entry["severity"] in ("critical", "high", "medium", "low")
        assert entry["fix"] == catalogue_fix(check.own_fix)
        assert entry["how_to_fix"] == stored_fix(
            HowToFix(check.own_fix.text, tuple(check.own_fix.snippets_for(None).items()))
        )
        assert [outcome["name"] for outcome in entry["outcomes"]] == list(check.outcomes)
        assert entry["evidence"]
        assert entry["needs_browser"] is needs_browser(check)
        assert entry["journeys_only"] is judges_journeys_only(check)


def test_markdown_has_a_row_for_every_check(markdown: str) -> None:
    assert markdown.startswith("# Checks\n")
    versions = re.findall(r"^Catalogue version `(.+)`\.$", markdown, re.MULTILINE)
    assert versions == [catalogue_version(scan_type) for scan_type in ScanType]
    assert re.findall(r"^\| `([^`]+)` \|", markdown, re.MULTILINE) == [check.id for check in CATALOGUE]
    assert re.findall(r"^## (.+)$", markdown, re.MULTILINE) == ["Security", "Performance", "Accessibility", "SEO"]
    categories = list(dict.fromkeys((check.type, check.category) for check in CATALOGUE))
    assert re.findall(r"^### (.+)$", markdown, re.MULTILINE) == [
        f"{category.name} (weight {category.weight}{_static_weight(category)})" for _, category in categories
    ]


def _static_weight(category: Category) -> str:
    """Format the category's weight in scans without a browser."""
    return f", {category.static_weight} without a browser" if category.static_weight is not None else ""


def test_table_row_shows_all_fields(markdown: str) -> None:
    rows = [line for line in markdown.splitlines() if line.startswith("| `")]
    for row, check in zip(rows, CATALOGUE, strict=True):
        in_journeys, needs = judges_journeys_only(check), needs_browser(check)
        name = f"{check.name}{' (in journeys only)' if in_journeys else ' (needs a browser)' if needs else ''}"
        cells = [rendered(cell.strip()) for cell in re.split(r"(?<!\\)\|", row.strip("|"))[1:]]
        outcomes = "<br>".join(f"`{name}`: {outline(check.outcome(name).title)}" for name in check.outcomes)
        fix, references = catalogue_fix(check.own_fix), "; ".join(check.references)
        assert cells == [name, outcomes, check.severity, fix, references]


def test_markup_in_fixes_is_escaped(markdown: str) -> None:
    assert any("<" in catalogue_fix(check.own_fix) for check in CATALOGUE)
    assert "<" not in markdown.replace("<br>", "")


def test_unknown_format_is_a_usage_error() -> None:
    execution = run_here("checks", "--format", "pdf")
    assert (execution.returncode, execution.stdout) == (2, "")
    assert "invalid choice: 'pdf'" in execution.stderr


def test_closed_pipe_causes_no_traceback() -> None:
    with start("checks") as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == ""
        assert process.wait(30) == 141
