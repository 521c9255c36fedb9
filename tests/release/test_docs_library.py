"""Test that the examples of docs/library.md, and the example of fifty pages, run as they are written."""

from __future__ import annotations

import csv
import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import website_scan
from documentation import library_names
from tests.project import ROOT
from tests.targets.many_pages import shop_site
from tests.targets.sample import sample_site
from tests.targets.server import Answer, Request, Site
from tests.website_scan.net.loopback import NETWORKS
from website_scan import settings as scanning
from website_scan.net.browser import find_browser, sandbox_problem

DOC = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^## (.+?)$|^```python\n(.*?)^```$", DOC, re.MULTILINE | re.DOTALL)
HTML = {"Content-Type": "text/html; charset=utf-8"}
FIFTY_PAGES = ROOT / "examples" / "fifty_pages.py"


def examples() -> Iterator[Any]:
    """Yield the examples with the titles of their sections."""
    title, number = "", 0
    for heading, code in EXAMPLES:
        if heading:
            title, number = heading, 0
        else:
            number += 1
            yield pytest.param(code, id=f"{title} {number}")


def hang_up(request: Request) -> None:
    request.connection.close()


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with sample_site() as running:
        running.routes["/shop"] = Answer("<!doctype html><html lang=en><title>Shop</title><h1>Shop</h1>", headers=HTML)
        running.routes["/account"] = Answer(
            "<!doctype html><html lang=en><title>Account</title><h1>Account</h1>", headers=HTML
        )
        yield running


@pytest.fixture
def local_site() -> Iterator[Site]:
    with Site({"*": Answer("<!doctype html><html lang=en><title>Tea</title><h1>Tea</h1>", headers=HTML)}) as running:
        yield running


@pytest.fixture
def _loopback_settings(site: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = find_browser("auto")
    assert program is not None, "no browser; `make browser` installs one"
    monkeypatch.setattr(scanning, "SCAN_BROWSER", str(program))
    monkeypatch.setattr(scanning, "SCAN_BROWSER_SANDBOX", not sandbox_problem(program))
    monkeypatch.setattr(scanning, "SCAN_CA_BUNDLE", site.ca_file)
    monkeypatch.setattr(scanning, "SCAN_ALLOWED_NETWORKS", NETWORKS)
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("_loopback_settings")
@pytest.mark.parametrize("code", [*examples()])
def test_every_example_runs(code: str, site: Site, local_site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    places = {
        "https://example.com": site.url_as("localhost"),
        "https://staging.example.com": site.url,
        "localhost:8000": f"localhost:{local_site.port}",
        ":8000": f":{local_site.port}",
    }
    names = execute(code, places)
    for page in names.values():
        assert not isinstance(page, website_scan.PageResult) or page.error is None
    if test := names.get("test_start_page_has_no_severe_finding"):
        with pytest.raises(AssertionError):
            test()
        execute(code, {"https://example.com": local_site.url})["test_start_page_has_no_severe_finding"]()
    else:
        assert capsys.readouterr().out or any(Path().iterdir())


def execute(code: str, places: Mapping[str, str]) -> dict[str, Any]:
    """Run an example with other addresses and return its variables."""
    for address, replacement in places.items():
        code = code.replace(address, replacement)
    assert "example.com" not in code
    names: dict[str, Any] = {"__name__": "example"}
    exec(compile(code, "docs/library.md", "exec"), names)
    return names


def test_examples_use_every_function_and_most_classes() -> None:
    code = "\n".join(code for _, code in EXAMPLES)
    functions = {name for name, *_ in library_names.functions("")} - {"function"}
    assert {name for name in functions if f"website_scan.{name.strip('`')}(" not in code} == set()
    for name in ("Browser(", "Credentials(", "InvalidUrl", "Progress"):
        assert f"website_scan.{name}" in code


def test_documented_exceptions_are_all_exceptions() -> None:
    section = DOC.partition("## Errors")[2].partition("\n## ")[0]
    exceptions = {
        name
        for name in website_scan.__all__
        if isinstance(value := getattr(website_scan, name), type) and issubclass(value, Exception)
    }
    assert {name for name in exceptions if f"`{name}`" not in section} == set()


def test_fifty_pages_become_a_table(tmp_path: Path) -> None:
    with shop_site(50, with_sitemap=False) as site:
        site.routes["/list-a"] = hang_up
        urls = [f"{site.url}{path}" for path in site.routes if path != "/robots.txt"]
        assert len(urls) == 50
        (tmp_path / "urls.txt").write_text("\n".join(urls))
        ran = subprocess.run(
            [sys.executable, FIFTY_PAGES, "urls.txt"],
            cwd=tmp_path,
            env={
                "PATH": os.environ["PATH"],
                "PYTHONPATH": str(ROOT),
                "SCAN_BROWSER": "off",
                "SCAN_ALLOWED_NETWORKS": "127.0.0.0/8",
            },
            capture_output=True,
            text=True,
            timeout=280,
        )
    assert ran.returncode == 0, ran.stderr
    rows = list(csv.DictReader(io.StringIO(ran.stdout)))
    assert [row["page"] for row in rows] == urls
    good = [row for row in rows if not row["page"].endswith("/list-a")]
    assert all(row[type] in ("A+", "A", "B", "C", "D", "F") for row in good for type in website_scan.TYPES)
    assert all(row["security worst"].endswith(("(critical)", "(high)", "(medium)", "(low)")) for row in good)
    (failed,) = [row for row in rows if row not in good]
    assert (failed["seo"], failed["seo score"]) == ("", "")
    assert "connection" in failed["seo worst"]
    lines = ran.stderr.splitlines()
    assert f"50/50 {urls[-1]}" in lines
    assert re.fullmatch(r" +\d+ of 50 pages: .+ \((critical|high)\)", lines[-1])
