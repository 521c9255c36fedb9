from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_line import ROOT

FILES = ("pyproject.toml", "README.md", "LICENSE", "action.yml", ".pre-commit-hooks.yaml")
FOLDERS = ("website_scan", "requirements")


@pytest.fixture(scope="session")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the source files of the distribution."""
    source = tmp_path_factory.mktemp("repository")
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, source / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for file in FILES:
        shutil.copy(ROOT / file, source)
    return source


@pytest.fixture(scope="session")
def installed(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the installed package.

    Its dependencies are not installed there.
    """
    packages = tmp_path_factory.mktemp("installed") / "packages"
    options = ("--offline", "--no-deps", "--no-build-isolation", "--python", sys.executable, "--quiet")
    subprocess.run(
        [sys.executable, "-m", "uv", "pip", "install", *options, "--target", packages, repository],
        check=True,
        timeout=300,
    )
    return packages
