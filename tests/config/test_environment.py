"""Tests for variables that name files with secrets.

SECRET_KEY_FILE is one of them.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_line import ROOT, environment, run

KEY = "k" * 40


def settings_with(**variables: str) -> list[str]:
    code = "from config.settings import SECRET_KEY; from website_scan.environment import problems; "
    code += "print(SECRET_KEY); print(*problems)"
    variables_of_process = environment(**variables)
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=variables_of_process, capture_output=True, text=True, check=True
    )
    return ran.stdout.splitlines()


def test_secret_is_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_text(f"{KEY}\n")
    assert settings_with(SECRET_KEY_FILE=str(path)) == [KEY, ""]
    assert settings_with(SECRET_KEY_FILE=str(path), SECRET_KEY="") == [KEY, ""]


@pytest.mark.parametrize("content", [None, b"short", b"\xff" * 40])
def test_unusable_secret_file_is_reported(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "key"
    if content is not None:
        path.write_bytes(content)
    key, problem = settings_with(SECRET_KEY_FILE=str(path))
    assert key == ""
    assert "(environment.SECRET_KEY)" in problem


def test_secret_in_variable_and_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_text("o" * 40)
    ran = run("check", SECRET_KEY=KEY, SECRET_KEY_FILE=str(path))
    assert ran.returncode == 1
    assert "SECRET_KEY can't be used: SECRET_KEY_FILE is set as well." in ran.stderr


def test_empty_secret_file_is_ignored(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    path.touch()
    assert settings_with(SECRET_KEY=KEY, ENCRYPTION_KEYS_FILE=str(path)) == [KEY, ""]


def test_only_secrets_are_read_from_files(tmp_path: Path) -> None:
    path = tmp_path / "drain"
    path.write_text("nonsense")
    assert settings_with(SECRET_KEY=KEY, DRAIN_S_FILE=str(path)) == [KEY, ""]
