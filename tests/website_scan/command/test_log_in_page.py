"""Test that a log-in page fails the gate.

Every format names the final page.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.command_line import run_here
from tests.targets.server import Answer, Site

LOG_IN_PAGE = (
    "<!doctype html><html lang=en><title>Boats for hire at the old pier</title><main><h1>Sign in</h1><form>"
    "<label>User <input autocomplete=username></label><label>Password <input type=password></label></form></main>"
)
LOOPBACK = ("--allow-network", "127.0.0.0/8", "--type", "accessibility")
FORMATS = ("text", "json", "full", "markdown", "html", "csv", "junit", "sarif", "codequality", "conformance", "earl")


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    routes = {
        "/account": Answer.redirect("/sign-in.html"),
        "/sign-in.html": Answer(LOG_IN_PAGE),
        "/old": Answer.redirect("/new"),
        "/new": Answer("<!doctype html><html lang=en><title>Boats</title><main><h1>Boats</h1>"),
    }
    with Site(routes) as running:
        yield running


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_shows_the_log_in_address(site: Site, tmp_path: Path, format: str) -> None:
    file = tmp_path / "report"
    ran = run_here("scan", f"{site.url}/account", *LOOPBACK, "--format", format, "--output", str(file))
    assert ran.returncode == 1
    assert f"{site.url}/account: the site asked for a log-in" in ran.stderr
    assert "/sign-in.html" in file.read_text("utf-8").replace("<wbr>", "").replace("\\", "")


def test_text_begins_with_the_log_in_notice(site: Site) -> None:
    first, *rest = run_here("scan", f"{site.url}/account", *LOOPBACK).stdout.splitlines()
    assert first.startswith(f"{site.url}/account → {site.url}/sign-in.html  accessibility  ")
    notice = " ".join(" ".join(rest).split())
    assert notice.startswith("The site asked for a log-in, so its answer was judged in place of the requested page.")


def test_json_has_the_final_url(site: Site) -> None:
    report = json.loads(run_here("scan", f"{site.url}/account", *LOOPBACK, "--format", "json").stdout)
    assert (report["final_url"], report["needs_log_in"]) == (f"{site.url}/sign-in.html", True)
    assert report["gate"]["passed"] is False
    report = json.loads(run_here("scan", f"{site.url}/old", *LOOPBACK, "--format", "json").stdout)
    assert (report["final_url"], report["needs_log_in"]) == (f"{site.url}/new", False)
    assert report["gate"]["passed"] is True


def test_allowed_log_in_page_passes_the_gate(site: Site, tmp_path: Path) -> None:
    assert run_here("scan", f"{site.url}/account", *LOOPBACK, "--allow-login").returncode == 0
    config = tmp_path / "website-scan.toml"
    config.write_text("allow-login = true\n")
    assert run_here("scan", f"{site.url}/account", *LOOPBACK, "--config", str(config)).returncode == 0
    config.write_text("allow-login = 1\n")
    assert run_here("scan", f"{site.url}/account", *LOOPBACK, "--config", str(config)).returncode == 2


def test_ordinary_redirect_passes_the_gate(site: Site) -> None:
    for path in ("/old", "/sign-in.html"):
        assert run_here("scan", f"{site.url}{path}", *LOOPBACK).returncode == 0


def test_junit_fails_only_if_the_gate_fails(site: Site) -> None:
    for options, failures in (((), 1), (("--allow-login",), 0)):
        ran = run_here("scan", f"{site.url}/account", *LOOPBACK, "--format", "junit", *options)
        suite = ElementTree.fromstring(ran.stdout).find("testsuite")
        assert suite is not None
        assert suite.find("testcase[@name='the requested page was judged']") is not None
        assert suite.get("failures") == str(failures)
