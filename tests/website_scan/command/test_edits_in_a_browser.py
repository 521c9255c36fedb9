"""Tests for baselines of an edited page, scanned with a browser."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from functools import reduce
from pathlib import Path

import pytest

from tests.command_line import run_here
from tests.targets.server import Site
from tests.website_scan.command.edited_page import HARMLESS, PAGE, answer, replacing_edit
from website_scan.browser.warm import WarmBrowser
from website_scan.command import local
from website_scan.net.browser import find_browser, sandbox_problem

TYPES = ("--type", "accessibility", "--type", "seo")


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    program = find_browser("auto")
    assert program is not None, "no browser; `make browser` installs one"
    browser = WarmBrowser(program, sandbox=not sandbox_problem(program))
    with Site() as running, browser, pytest.MonkeyPatch.context() as patch:
        patch.setattr(local, "browser", lambda: browser)
        yield running


@pytest.fixture(scope="module")
def baseline(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("baseline") / "known.json"
    assert scan(site, PAGE, "--write-baseline", str(path)).returncode == 0
    assert "p #bbbbbb on #ffffff" in path.read_text("utf-8")
    return path


def scan(site: Site, page: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    site.routes["/"] = answer(page)
    url = site.url_as("localhost") + "/"
    return run_here("scan", url, *arguments, *TYPES, "--allow-network", "127.0.0.0/8", "--format", "csv", "--quiet")


def test_all_harmless_edits_pass_together(site: Site, baseline: Path) -> None:
    page = reduce(lambda page, edit: edit(page), HARMLESS.values(), PAGE)
    ran = scan(site, page.replace("We bake", "All of us bake"), "--baseline", str(baseline))
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.parametrize(
    "fault",
    [
        '<p style="color: #bbbbbb">The same colours once more.</p>',
        '<p style="color: #cc9999">Other colours.</p>',
        '<img src="/hero.3f2a1b9c.jpg" width="4" height="3">',
        '<script nonce="r4nd0m">document.write("<button></bu" + "tton>")</script>',
    ],
)
def test_new_fault_fails_the_gate_in_a_browser(site: Site, baseline: Path, fault: str) -> None:
    ran = scan(site, replacing_edit("</main>", f"{fault}</main>")(PAGE), "--baseline", str(baseline))
    assert ran.returncode == 1, ran.stderr
    assert ran.stderr.startswith("Gate failed")


def test_baseline_with_a_browser_causes_only_a_warning(
    site: Site, baseline: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "browser", lambda: None)
    ran = scan(site, PAGE, "--baseline", str(baseline))
    assert ran.returncode == 0, ran.stderr
    (sentence,) = ran.stderr.splitlines()
    assert sentence.startswith(f"Warning: {baseline} was written with a browser, this run without one")


def test_baseline_without_a_browser_causes_only_a_warning(site: Site, tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local, "browser", lambda: None)
        assert scan(site, PAGE, "--write-baseline", str(path)).returncode == 0
    ran = scan(site, PAGE, "--baseline", str(path))
    assert ran.returncode == 0, ran.stderr
    (sentence,) = ran.stderr.splitlines()
    assert sentence.startswith(f"Warning: {path} was written without a browser, this run with one")
