"""Labels of evidence: every name in a check's evidence has a label for people, and every label has a name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from website_scan.report.evidence.columns import COLUMNS, Column, column

from tests.furnished import real_result
from website_scan.findings import ScanType

ENGINE = Path(__file__).parents[4] / "website_scan"
# Names that `contrasts` makes from a sentence, and `exhibits` from redirects.
MADE_HERE = {"contrast", "from", "to"}
# Names that the page shows in another way, or not at all.
UNSHOWN = {"ancestry", "host_ms"}


def names_in_source() -> set[str]:
    """Return the keys of dictionaries in functions that build evidence."""
    sources = [
        path for path in ENGINE.rglob("*.py") if "EvidenceItem" in path.read_text() or path.parent.name == "checks"
    ]
    return {name for path in sources for name in _names(ast.parse(path.read_text()))}


def _names(tree: ast.Module) -> Iterator[str]:
    for item in _items(tree):
        yield from item


def _items(tree: ast.Module) -> Iterator[list[str]]:
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Dict):
                    keys = [key.value for key in node.keys if isinstance(key, ast.Constant)]
                    yield [key for key in keys if isinstance(key, str)]


def test_every_name_has_a_label_and_every_label_a_name() -> None:
    assert names_in_source() - UNSHOWN == set(COLUMNS) - MADE_HERE


def test_no_two_columns_of_a_table_have_the_same_head() -> None:
    items = [item for path in ENGINE.rglob("*.py") for item in _items(ast.parse(path.read_text()))]
    # Tables of unused code have sizes and shares.
    for item in [*items, ["url", "wire_bytes", "unused_bytes", "unused_percent"]]:
        labels = [COLUMNS[name].label for name in item if name in COLUMNS]
        assert len(labels) == len(set(labels)), item


@pytest.mark.parametrize("scan_type", ScanType)
def test_reports_of_a_real_site_show_no_raw_names(scan_type: ScanType) -> None:
    result = real_result(scan_type)
    names = {name for check in result.checks for item in check.evidence for name in item}
    assert names
    assert names - UNSHOWN <= set(COLUMNS)


def test_labels_are_words_for_people() -> None:
    for name, each in COLUMNS.items():
        assert each.label[:1].isupper() or each.label in (
            "hreflang",
            "font-display",
            "gzip would save",
            "robots.txt",
        ), name
        assert "_" not in each.label


def test_a_name_of_a_former_version_is_shown_in_words() -> None:
    assert column("final_url") == Column("Final URL")
    assert column("seen_s_bytes") == Column("Seen s", "number", "bytes")
    assert column("<b>") == Column("<b>")
