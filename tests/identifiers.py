"""Check identifiers for words that docs/glossary.md replaces.

`make lint` runs this check.

Migrations are left out, because they name columns as they were.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.project import ROOT

GLOSSARY = ROOT / "docs/glossary.md"
HEADING = "## Words that no identifier has"
ROW = re.compile(r"^\| `(\w+)` \| (.+) \|$", re.MULTILINE)
# Names of database columns and JSON keys stay.
STORED = frozenset({"told", "told_by", "TOLD_BY", "TOLD_BY_ANOTHER", "is_told", "is_down_told", "is_outage_told"})
WORDS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")


def replacements() -> dict[str, str]:
    """Return the replacement for each word in the glossary's table."""
    return dict(ROW.findall(GLOSSARY.read_text(encoding="utf-8").partition(HEADING)[2]))


def words_of(identifier: str) -> list[str]:
    """Return the words of an identifier in lower case.

    `SCAN_places` and `scanPlaces` consist of scan and places.
    """
    return [word.lower() for word in WORDS.findall(identifier)]


def definitions(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and name of each identifier in the source.

    Identifiers are functions, classes, parameters and variables.
    """
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield node.lineno, name
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield node.lineno, name


def complaints(root: Path) -> Iterator[str]:
    """Yield a line for each identifier with a forbidden word."""
    forbidden = replacements()
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=root, capture_output=True, text=True, check=True).stdout
    for path in listed.split():
        if "/migrations/" in path or not (root / path).exists():
            continue
        for line, identifier in definitions((root / path).read_text(encoding="utf-8")):
            for word in words_of(identifier):
                if word in forbidden and identifier not in STORED:
                    yield f"{path}:{line}: {identifier} has “{word}”: write {forbidden[word]}"


if __name__ == "__main__":
    sys.exit("\n".join(sorted(set(complaints(ROOT)))) or None)
