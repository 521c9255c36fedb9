"""docs/operations.md is true: the variables are those that are read, the queries run, the log lines exist."""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from django.db import connection

from tests.house import PACKAGES

ROOT = Path(__file__).resolve().parents[2]
DOC = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")

# What terminals say of themselves is nobody's setting.
OF_TERMINALS = {"NO_COLOR", "TERM"}
# Reads the settings as they are without any environment, and notes what they ask for.
NOTING = """
import json, pathlib
from scanner import environment

asked = {}

def noting(name, parse, default, hint):
    asked[name] = default
    return default

environment.read = noting
import config.settings

def shown(value):
    match value:
        case bool():
            return str(int(value))
        case pathlib.Path():
            return str(value.relative_to(config.settings.BASE_DIR))
        case frozenset():
            return ",".join(map(str, sorted(value)))
        case list() | tuple():
            return ",".join(map(str, value))
        case None:
            return ""
    return str(value)

print(json.dumps({name: shown(value) for name, value in asked.items()}))
"""


def rows(first_column: str) -> list[list[str]]:
    """The table whose head begins so, cell by cell, without the marks of code."""
    match = re.search(rf"^\| {first_column} \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", DOC, re.MULTILINE)
    assert match, f"no table of {first_column}"
    return [[cell.strip().strip("`") for cell in row.strip("|").split(" | ")] for row in match[1].splitlines()]


@functools.cache
def read_variables() -> Mapping[str, str]:
    """Every variable that the settings read, with its default as text."""
    ran = subprocess.run(
        [sys.executable, "-c", NOTING],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=True,
    )
    variables: dict[str, str] = json.loads(ran.stdout)
    return variables


def test_every_variable_is_listed_with_its_default() -> None:
    listed = {name: "" if default == "none" else default for name, default, _ in rows("variable")}
    assert listed == read_variables()


def test_no_module_reads_the_environment_behind_the_settings_back() -> None:
    """`up` runs before there are settings that could be used; it reads what the table lists too."""
    # Not what the tests and benchmarks set, nor what is only passed on.
    reading = re.compile(r"""os\.(?:environ(?:\.get\(|\[)|getenv\()\s*["'](\w+)["']""")
    found = {
        name
        for app in PACKAGES
        for path in (ROOT / app).rglob("*.py")
        for name in reading.findall(path.read_text(encoding="utf-8"))
    }
    assert found - OF_TERMINALS <= set(read_variables()), (
        "list it in docs/operations.md and read it in config/settings.py"
    )


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
