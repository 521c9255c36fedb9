from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.command_line import ROOT
from tests.targets.sample import sample_site
from tests.targets.server import Answer, Site
from tests.website_scan.command.composite import Action, RunResult

FILES = ("pyproject.toml", "README.md", "LICENSE", "action.yml", ".pre-commit-hooks.yaml")
FOLDERS = ("website_scan", "requirements")
# Error messages of pip and uv without a registry.
NO_REGISTRY_ERRORS = (
    *("No matching distribution found", "NewConnectionError", "Connection refused", "Read timed out"),
    *("Failed to fetch", "error sending request"),
)


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


@pytest.fixture(scope="session")
def action(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Action:
    """Install the action once for all tests."""
    action = Action(repository, tmp_path_factory.mktemp("runner"))
    ran: RunResult = action.run(until="install", browser="false")
    skip_without_registry(ran.status, ran.log)
    assert ran.status == 0, ran.log
    return action


def skip_without_registry(status: int, log: str) -> None:
    """Skip the test if the package registry was unreachable."""
    if status and any(error in log for error in NO_REGISTRY_ERRORS):
        pytest.skip(f"no registry of packages: {log.strip().splitlines()[-1]}")


@pytest.fixture(scope="session")
def shop() -> Iterator[Site]:
    """Sample site with the additional page /shop."""
    with sample_site() as running:
        running.routes["/shop"] = Answer(
            "<!doctype html><html lang=en><title>Shop</title><h1>Shop</h1>", headers={"Content-Type": "text/html"}
        )
        yield running
