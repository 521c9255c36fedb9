"""docs/operations.md: no variable is missing, the queries run, the log lines exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.db import connection

from tests.project import PACKAGES
from website_scan import environment

ROOT = Path(__file__).resolve().parents[2]
DOC = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")

# Variables that terminals set are no settings.
OF_TERMINALS = {"NO_COLOR", "TERM"}


def rows(first_column: str) -> list[list[str]]:
    """Return the cells of the table whose first column has this head, without backticks."""
    match = re.search(rf"^\| {first_column} \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", DOC, re.MULTILINE)
    assert match, f"no table of {first_column}"
    return [[cell.strip().strip("`") for cell in row.strip("|").split(" | ")] for row in match[1].splitlines()]


def test_no_module_reads_the_environment_behind_the_settings_back() -> None:
    """The command `up` runs before the settings are usable, but reads only variables of the table, too."""
    # Does not match variables that are only passed on; tests and benchmarks are not searched.
    reading = re.compile(r"""os\.(?:environ(?:\.get\(|\[)|getenv\()\s*["'](\w+)["']""")
    found = {
        name
        for app in PACKAGES
        for path in (ROOT / app).rglob("*.py")
        for name in reading.findall(path.read_text(encoding="utf-8"))
    }
    assert found - OF_TERMINALS <= environment.defaults.keys(), "read it in config/settings.py"


@pytest.mark.parametrize("query", re.findall(r"^```sql\n(.*?)^```$", DOC, re.MULTILINE | re.DOTALL))
def test_every_query_runs(query: str, db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(query)
        assert cursor.description


def test_every_log_line_is_written_somewhere() -> None:
    logging_calls = [
        call
        for app in PACKAGES
        for path in (ROOT / app).rglob("*.py")
        for call in re.findall(r'logger\.(\w+)\("([^"]+)"', path.read_text(encoding="utf-8"))
    ]
    listed = rows("log line holds")
    assert len(listed) > 5
    for phrase, level, _ in listed:
        levels = {"error" if name == "exception" else name for name, text in logging_calls if phrase in text}
        assert levels == {level}, phrase
