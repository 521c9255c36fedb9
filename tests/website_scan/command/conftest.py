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
from tests.website_scan.command.composite import Action, Ran

FILES = ("pyproject.toml", "README.md", "LICENSE", "action.yml", ".pre-commit-hooks.yaml")
FOLDERS = ("website_scan", "requirements")
# Messages of pip and uv without a registry.
NO_REGISTRY = (
    *("No matching distribution found", "NewConnectionError", "Connection refused", "Read timed out"),
    *("Failed to fetch", "error sending request"),
)


@pytest.fixture(scope="session")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources of the distribution, without what else is in the folders of a developer."""
    source = tmp_path_factory.mktemp("repository")
    for each in FOLDERS:
        shutil.copytree(ROOT / each, source / each, ignore=shutil.ignore_patterns("__pycache__"))
    for each in FILES:
        shutil.copy(ROOT / each, source)
    return source


@pytest.fixture(scope="session")
def installed(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the installed packages. Dependencies are the interpreter's own."""
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
    """The action, ready to scan: installed from the registry into an environment of its own, once."""
    made = Action(repository, tmp_path_factory.mktemp("runner"))
    ran: Ran = made.run(until="install", browser="false")
    skip_without_registry(ran.status, ran.log)
    assert ran.status == 0, ran.log
    return made


def skip_without_registry(status: int, log: str) -> None:
    """Skip the test if the log of an installation says that there was no registry of packages."""
    if status and any(each in log for each in NO_REGISTRY):
        pytest.skip(f"no registry of packages: {log.strip().splitlines()[-1]}")


@pytest.fixture(scope="session")
def shop() -> Iterator[Site]:
    """The sample site with one more page."""
    with sample_site() as running:
        running.routes["/shop"] = Answer(
            "<!doctype html><html lang=en><title>Shop</title><h1>Shop</h1>", headers={"Content-Type": "text/html"}
        )
        yield running
