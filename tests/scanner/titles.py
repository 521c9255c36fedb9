"""Rules for the titles of findings: one fact, short, in sentence case."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from scanner.catalogue import checks
from scanner.findings import ScanType

MOST = 60  # characters
ALTERNATIVES = re.compile(r",|;|/|\bor\b")
ROOT = Path(__file__).parents[2] / "scanner"


def faults_of_titles(scan_type: ScanType) -> list[str]:
    """Return the titles of the type's findings that list alternatives, are too long or end with a full stop."""
    titles = [each.found for each in checks(scan_type)] + list(_written(scan_type))
    return [each for each in titles if ALTERNATIVES.search(each) or len(each) > MOST or each.endswith(".")]


def _written(scan_type: ScanType) -> Iterator[str]:
    """Yield the titles that the type's source gives to findings. Values in them count as one character."""
    for path in (ROOT / scan_type).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                given = [each.value for each in node.keywords if each.arg == "title"]
                yield from (_text(branch) for each in given for branch in _branches(each))


def _branches(node: ast.expr) -> list[ast.expr]:
    return [node.body, node.orelse] if isinstance(node, ast.IfExp) else [node]


def _text(node: ast.expr) -> str:
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    return "".join(str(each.value) if isinstance(each, ast.Constant) else "?" for each in parts)
