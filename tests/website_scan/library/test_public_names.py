"""Test the public names of the package: what is exported, typed and imported."""

from __future__ import annotations

import ast
import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

import website_scan
from tests.command_line import ROOT

MAX_IMPORT_S = 0.1
# Modules that scans need, but neither the package nor reading of stored results.
ENGINE = ("requests", "selectolax", "website_scan.run", "website_scan.net.client", "argparse", "typing", "importlib")
FOR_SCANS = ("website_scan.run", "website_scan.library.scanning", "website_scan.browser.warm", "asyncio", "jinja2")
CONSUMER = """
import website_scan
from website_scan import Browser, Credentials, Finding, PageResult, Progress, ScanType


def worst(page: PageResult) -> Finding | None:
    return next((finding for finding in page.findings if finding.severity == "critical"), None)


def show(progress: Progress) -> None:
    print(progress.percent + 1, progress.url.upper())


with Browser(processes=2) as browser:
    pages = website_scan.scan_pages(
        ["https://example.com/"],
        ["seo", "security"],
        browser=browser,
        credentials={"https://example.com": Credentials(headers={"X-Key": "1"})},
        color_scheme="dark",
        workers=2,
        progress=show,
    )
    for page in pages:
        reveal_type(page)
        reveal_type(worst(page))
        reveal_type(page["seo"].score)
        for finding in page.findings:
            reveal_type([place.row for place in finding.places])
reveal_type(website_scan.document(page, "html"))
reveal_type(website_scan.read("{}"))
reveal_type(website_scan.diff(page, page).new[0].new_places)
reveal_type(website_scan.conformance([page]).failed[0].result)
website_scan.scan("https://example.com/", "speed")
page.url = "https://example.org/"
page["seo"].mood
website_scan.moods
"""
REVEALED = [
    "PageResult",
    "Finding | None",
    "int | None",
    "list[typing.Mapping[str, str | int | float | bool | None]]",
    "str",
    "tuple[website_scan.library.results.PageResult, ...]",
    "tuple[website_scan.library.comparison.ChangedPlace, ...]",
    "Literal['fails'] | Literal['needs-review'] | Literal['no-automatic-failure'] | Literal['not-tested']",
]
ERRORS = ["arg-type", "misc", "attr-defined", "attr-defined"]


def run_python(code: str, *arguments: str, path: Path = ROOT) -> str:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(path)}
    ran = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd="/", env=environment, capture_output=True, text=True, timeout=100
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_import_of_the_name_costs_nothing() -> None:
    code = (
        "import sys, time; began = time.perf_counter(); import website_scan; print(time.perf_counter() - began);"
        f" print([name for name in {ENGINE} if name in sys.modules])"
    )
    runs = [run_python(code).splitlines() for _ in range(3)]
    assert min(float(seconds) for seconds, _ in runs) < MAX_IMPORT_S
    before = run_python(f"import sys; print([name for name in {ENGINE} if name in sys.modules])").strip()
    assert {loaded for _, loaded in runs} == {before}


def test_reading_results_does_not_import_the_engine() -> None:
    code = (
        "import sys, website_scan\n"
        "try: website_scan.read('{}')\n"
        "except website_scan.InvalidDocument: pass\n"
        f"print([name for name in {FOR_SCANS} if name in sys.modules])"
    )
    assert run_python(code) == "[]\n"


def test_every_name_is_importable_and_listed() -> None:
    for name in website_scan.__all__:
        assert getattr(website_scan, name) is not None
        assert name in dir(website_scan)
    with pytest.raises(AttributeError, match="moods"):
        website_scan.moods  # type: ignore[attr-defined]  # noqa: B018
    lazy = {name for names in website_scan._MODULES.values() for name in names}
    assert {*website_scan.__all__} == lazy | {"__version__"}
    branch, _ = [node for node in ast.parse(inspect.getsource(website_scan)).body if isinstance(node, ast.If)]
    typed = {alias.name for node in branch.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert typed == lazy


def test_every_public_name_has_a_docstring() -> None:
    for name in website_scan.__all__:
        value = getattr(website_scan, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert inspect.getdoc(value), name


def test_star_import_gives_the_public_names() -> None:
    names = run_python(
        "from website_scan import *; print(*sorted(name for name in dir() if name[0].isalpha()))"
    ).split()
    assert names == sorted(name for name in website_scan.__all__ if name[0].isalpha())


def test_installed_package_is_typed(installed: Path, tmp_path: Path) -> None:
    assert (installed / "website_scan" / "py.typed").exists()
    consumer = tmp_path / "consumer.py"
    consumer.write_text(CONSUMER)
    ran = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--hide-error-context", "--cache-dir", tmp_path / "cache", consumer],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "MYPYPATH": "", "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        timeout=280,
    )
    lines = ran.stdout.splitlines()
    notes = [line.partition('Revealed type is "')[2].rstrip('"') for line in lines if "Revealed type" in line]
    assert len(notes) == len(REVEALED), ran.stdout + ran.stderr
    for note, expected in zip(notes, REVEALED, strict=True):
        assert expected in note.replace("builtins.", ""), note
    errors = [line.rpartition("[")[2].rstrip("]") for line in lines if ": error: " in line]
    assert errors == ERRORS, ran.stdout
