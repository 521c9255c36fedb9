from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from website_scan.command.main import run

Init = Callable[..., tuple[int, str]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty working directory."""
    working_directory = tmp_path / "repository"
    working_directory.mkdir()
    monkeypatch.chdir(working_directory)
    return working_directory


@pytest.fixture
def init(folder: Path, capsys: pytest.CaptureFixture[str]) -> Init:
    """Return a function that runs `website-scan init`, and returns the exit status and the output with errors."""

    def run_init(*arguments: str) -> tuple[int, str]:
        status = run(["init", *arguments])
        captured = capsys.readouterr()
        return status, captured.out + captured.err

    return run_init


def create(folder: Path, files: Mapping[str, str]) -> None:
    """Create files by their paths, and folders by paths that end with a slash."""
    for name, content in files.items():
        path = folder / name
        if name.endswith("/"):
            path.mkdir(parents=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)


def file_names(folder: Path) -> set[str]:
    """Return the paths of all files in the folder, relative to it."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
