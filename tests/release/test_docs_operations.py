"""docs/operations.md: no variable is missing, the SQL queries run, and the log lines exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.db import connection

from tests.project import PACKAGES
from website_scan import environment

ROOT = Path(__file__).resolve().parents[2]
DOC = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")

# Variables that terminals set, which are no settings.
TERMINAL_VARIABLES = {"NO_COLOR", "TERM"}


def rows(first_column: str) -> list[list[str]]:
    """Return the cells of the table whose first column has this heading, without backticks."""
    match = re.search(rf"^\| {first_column} \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", DOC, re.MULTILINE)
    assert match, f"no table of {first_column}"
    return [[cell.strip().strip("`") for cell in row.strip("|").split(" | ")] for row in match[1].splitlines()]


def test_modules_read_only_documented_environment_variables() -> None:
    """The command `up` runs before the settings can be used, but it also reads only variables of the table."""
    # The pattern does not match variables that are only passed on. Tests and benchmarks are not searched.
    pattern = re.compile(r"""os\.(?:environ(?:\.get\(|\[)|getenv\()\s*["'](\w+)["']""")
    variables = {
        name
        for app in PACKAGES
        for path in (ROOT / app).rglob("*.py")
        for name in pattern.findall(path.read_text(encoding="utf-8"))
    }
    assert variables - TERMINAL_VARIABLES <= environment.defaults.keys(), "read it in config/settings.py"


@pytest.mark.parametrize("query", re.findall(r"^```sql\n(.*?)^```$", DOC, re.MULTILINE | re.DOTALL))
def test_every_documented_query_runs(query: str, db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(query)
        assert cursor.description


def test_every_documented_log_line_exists_with_its_level() -> None:
    logging_calls = [
        call
        for app in PACKAGES
        for path in (ROOT / app).rglob("*.py")
        for call in re.findall(r'logger\.(\w+)\("([^"]+)"', path.read_text(encoding="utf-8"))
    ]
    documented = rows("log line holds")
    assert len(documented) > 5
    for phrase, level, _ in documented:
        levels = {"error" if name == "exception" else name for name, text in logging_calls if phrase in text}
        assert levels == {level}, phrase
