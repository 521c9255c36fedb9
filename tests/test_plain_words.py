"""Tests for the word checks.

They are in tests/identifiers.py and .githooks/commit-msg.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests import identifiers
from tests.project import ROOT

HOOK = ROOT / ".githooks/commit-msg"


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("def told_elsewhere(): ...", ["told_elsewhere"]),
        ("class Teller: ...", ["Teller"]),
        ("TELLER = 1", ["TELLER"]),
        ("def f(whatTold): ...", ["whatTold"]),
        ("self.furnished_lists = 1", ["furnished_lists"]),
        ("stolde = untold = f(told)", []),
    ],
)
def test_forbidden_words_are_found(source: str, names: list[str], tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(source)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
    assert [complaint.split()[1] for complaint in identifiers.complaints(tmp_path)] == names


def test_project_has_no_forbidden_identifiers() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "tests.identifiers"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")


def test_forbidden_word_has_a_replacement() -> None:
    assert all(identifiers.replacements().values())
    assert "told" in identifiers.replacements()


@pytest.mark.parametrize(
    ("message", "status"),
    [
        ("Reserve worker slots\n\nOne third is for others.\n", 0),
        ("Reserve worker slots\n", 0),
        ("R" * 72 + "\n", 0),
        ("é" * 72 + "\n", 0),
        ("R" * 73 + "\n", 1),
        ("Reserve worker slots.\n", 1),
        ("Reserve worker slots\nfor other organizations\n", 1),
        ("Merge branch '" + "m" * 80 + "'\n", 0),
    ],
)
def test_hook_checks_the_commit_subject(message: str, status: int, tmp_path: Path) -> None:
    (tmp_path / "message").write_text(message, encoding="utf-8")
    ran = subprocess.run([HOOK, tmp_path / "message"], env={"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"}, check=False)
    assert ran.returncode == status
