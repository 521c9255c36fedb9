"""Tests that docs/operations.md lists all variables.

Its SQL queries run, and its log lines exist.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.db import connection

from tests.project import PACKAGES
from website_scan import environment

ROOT = Path(__file__).resolve().parents[2]
DOC = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")

# Terminals set these variables, which are not settings.
TERMINAL_VARIABLES = {"NO_COLOR", "TERM"}


def rows(first_column: str) -> list[list[str]]:
    """Return the table whose first column has this heading.

    Backticks in the cells are removed.
    """
    match = re.search(rf"^\| {first_column} \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", DOC, re.MULTILINE)
    assert match, f"no table of {first_column}"
    return [[cell.strip().strip("`") for cell in row.strip("|").split(" | ")] for row in match[1].splitlines()]


def test_environment_variables_are_documented() -> None:
    """`manage.py up` reads only documented variables.

    It runs before the settings are available.
    """
    # Tests, benchmarks and variables that are only passed on are left out.
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


def test_documented_log_lines_exist() -> None:
    logging_calls = [
        call
        for app in PACKAGES
        for path in (ROOT / app).rglob("*.py")
        for call in re.findall(r'logger\.(\w+)\("([^"]+)"', path.read_text(encoding="utf-8"))
    ]
    documented = rows("log line contains")
    assert len(documented) > 5
    for phrase, level, _ in documented:
        levels = {"error" if name == "exception" else name for name, text in logging_calls if phrase in text}
        assert levels == {level}, phrase
