"""`website-scan` as `pip`, `pipx` and `uv tool` install it: away from the repository, with all that it needs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.command_line import ROOT
from tests.sites.sample import sample_site
from tests.sites.server import Site

FOLDERS = ("accounts", "config", "reports", "scans", "static", "templates", "webhooks")
FILES = ("pyproject.toml", "README.md", "LICENSE")
# What takes long to load, and neither help nor a refusal needs.
HEAVY = (
    "celery",
    "django",
    "psycopg",
    "redis",
    "requests",
    "rest_framework",
    "bs4",
    "cryptography",
    "lxml",
    "playwright",
)

pytestmark = pytest.mark.xdist_group("installed")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the packages are; what they depend on is the interpreter's own."""
    folder = tmp_path_factory.mktemp("installed")
    source = folder / "source"
    source.mkdir()
    for each in FOLDERS:
        shutil.copytree(ROOT / each, source / each, ignore=shutil.ignore_patterns("__pycache__"))
    for each in FILES:
        shutil.copy(ROOT / each, source)
    options = ("--offline", "--no-deps", "--no-build-isolation", "--python", sys.executable, "--quiet")
    subprocess.run(
        [sys.executable, "-m", "uv", "pip", "install", *options, "--target", folder / "packages", source],
        check=True,
        timeout=300,
    )
    return folder / "packages"


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with sample_site() as running:
        yield running


def website_scan(
    installed: Path, *arguments: str, cwd: Path | str = "/", **variables: str
) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(installed), "SCAN_BROWSER": "off"} | variables
    command = [sys.executable, str(installed / "bin" / "website-scan"), *arguments]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=100)


def test_it_scans_and_shows_without_the_repository(installed: Path, site: Site, tmp_path: Path) -> None:
    """Data, templates and style sheets are installed, and what is started can be."""
    url = f"{site.url_as('localhost')}/"
    allowed = ("--allow-network", "127.0.0.0/8", "--format", "html", "--output", "report.html")
    ran = website_scan(installed, url, *allowed, cwd=tmp_path, SCAN_CA_BUNDLE=str(site.ca_file))
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    shown = (tmp_path / "report.html").read_text()
    assert all(f"{each} report" in shown for each in ("Security", "Performance", "Accessibility", "SEO"))
    assert all(
        os.access(installed / each, os.X_OK)
        for each in ("scans/net/start-as-user", "scans/engine/browser/start-driver")
    )


def test_help_fits_a_screen_and_loads_nothing_heavy(installed: Path) -> None:
    ran = website_scan(installed, "--help", COLUMNS="100")
    assert ran.returncode == 0
    assert ran.stdout.startswith("usage: website-scan URL… [options]\n")
    assert len(ran.stdout.splitlines()) <= 48
    assert max(map(len, ran.stdout.splitlines())) <= 100
    code = f"import sys, scans.command.main; print([each for each in {HEAVY} if each in sys.modules])"
    environment = {"PYTHONPATH": str(installed)}
    loaded = subprocess.run([sys.executable, "-c", code], env=environment, cwd="/", capture_output=True, text=True)
    assert loaded.stdout == "[]\n"


def test_version_and_completion(installed: Path) -> None:
    assert website_scan(installed, "--version").stdout.startswith("website-scan 0.")
    completion = website_scan(installed, "--print-completion", "bash")
    assert "--fail-under" in completion.stdout
    checked = subprocess.run(["bash", "-n"], input=completion.stdout, text=True, capture_output=True)
    assert (checked.returncode, checked.stderr) == (0, "")
