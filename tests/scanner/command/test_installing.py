"""`website-scan` as `pip`, `pipx` and `uv tool` install it: away from the repository, with all that it needs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sites.server import Site

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


def website_scan(
    installed: Path, *arguments: str, cwd: Path | str = "/", **variables: str
) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(installed), "SCAN_BROWSER": "off"} | variables
    command = [sys.executable, str(installed / "bin" / "website-scan"), *arguments]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=100)


def test_it_scans_and_shows_without_the_repository(installed: Path, shop: Site, tmp_path: Path) -> None:
    """Data, templates and style sheets are installed, and what is started can be."""
    url = f"{shop.url_as('localhost')}/"
    allowed = ("--allow-network", "127.0.0.0/8", "--format", "html", "--output", "report.html")
    ran = website_scan(installed, url, *allowed, cwd=tmp_path, SCAN_CA_BUNDLE=str(shop.ca_file))
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    shown = (tmp_path / "report.html").read_text()
    assert all(f"{each} report" in shown for each in ("Security", "Performance", "Accessibility", "SEO"))
    assert all(
        os.access(installed / each, os.X_OK) for each in ("scanner/net/start-as-user", "scanner/browser/start-driver")
    )


def test_help_fits_a_screen_and_loads_nothing_heavy(installed: Path) -> None:
    ran = website_scan(installed, "--help", COLUMNS="100")
    assert ran.returncode == 0
    assert ran.stdout.startswith("usage: website-scan URL… [options]\n")
    assert len(ran.stdout.splitlines()) <= 48
    assert max(map(len, ran.stdout.splitlines())) <= 100
    code = f"import sys, scanner.command.main; print([each for each in {HEAVY} if each in sys.modules])"
    environment = {"PYTHONPATH": str(installed)}
    loaded = subprocess.run([sys.executable, "-c", code], env=environment, cwd="/", capture_output=True, text=True)
    assert loaded.stdout == "[]\n"


def test_version_and_completion(installed: Path) -> None:
    assert website_scan(installed, "--version").stdout.startswith("website-scan 0.")
    completion = website_scan(installed, "--print-completion", "bash")
    assert "--fail-under" in completion.stdout
    checked = subprocess.run(["bash", "-n"], input=completion.stdout, text=True, capture_output=True)
    assert (checked.returncode, checked.stderr) == (0, "")
