"""Installation of the command by pip and uv, beside that of four tools by npm: packages, size, processor time, time.

Each row begins in an empty folder, and makes the environment, too. "cold" has an empty cache and downloads everything;
"warm" repeats it with the cache of the row before. Browsers are not downloaded: Playwright's package brings none, and
Puppeteer's does not where PUPPETEER_SKIP_DOWNLOAD is set. Elapsed time depends on the network and on other processes.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.table import Table
from tests.command_line import ROOT
from tests.website_scan.command.composite import Action

TIMEOUT_S = 1200
COLUMNS = ("packages", "MB", "CPU s", "s")
# Packages and megabytes, without a browser's driver.
GOAL = (40.0, 120.0)
ACTION_GOAL_S = 15.0
EXTRAS = ("", "[browser]", "[mcp]")
NPM_TOOLS = ("pa11y", "pa11y-ci", "lighthouse", "@lhci/cli")
SOURCES = ("pyproject.toml", "README.md", "LICENSE", "action.yml", "requirements", "website_scan")
# They come with every environment of pip.
OF_PIP = ("pip", "setuptools")

Install = Callable[[Path, Path], Sequence[Sequence[str | Path]]]


def measure(table: Table, share: float) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source = _source(Path(folder) / "source")
        table.head("installation", *COLUMNS)
        for extra in EXTRAS[: max(1, round(len(EXTRAS) * share))]:
            goal = GOAL if not extra else ()
            for name, install in (("pip", _by_pip(source, extra)), ("uv", _by_uv(source, extra))):
                _rows(table, f"website-scan{extra}, {name}", install, _of_python, goal)
        for tool in NPM_TOOLS[: max(1, round(len(NPM_TOOLS) * share))]:
            _rows(table, f"{tool}, npm", _by_npm(tool), _of_npm, ())
        table.head("installing step of the action, with an empty cache", "s", "CPU s")
        for title, browser in (("without a browser", "false"), ("with Playwright", "true")):
            runner = Path(tempfile.mkdtemp(dir=folder))
            began, cpu_began = time.perf_counter(), _cpu_s()
            ran = Action(source, runner).run(
                until="install", environment={"UV_CACHE_DIR": str(runner / "cache")}, browser=browser
            )
            took_s, cpu_s = time.perf_counter() - began, _cpu_s() - cpu_began
            assert ran.status == 0, ran.log
            table.row(title, took_s, cpu_s, most=(ACTION_GOAL_S,))


def _source(folder: Path) -> Path:
    """Copy what the distribution is built from, because building may write beside it."""
    folder.mkdir()
    for each in SOURCES:
        path = ROOT / each
        if path.is_dir():
            shutil.copytree(path, folder / each, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(path, folder)
    return folder


def _by_pip(source: Path, extra: str) -> Install:
    def commands(made: Path, cache: Path) -> Sequence[Sequence[str | Path]]:
        install = (made / "bin" / "pip", "install", "--quiet", "--cache-dir", cache, f"{source}{extra}")
        return (sys.executable, "-m", "venv", made), install

    return commands


def _by_uv(source: Path, extra: str) -> Install:
    def commands(made: Path, cache: Path) -> Sequence[Sequence[str | Path]]:
        uv = (sys.executable, "-m", "uv", "--quiet", "--cache-dir", cache)
        install = (*uv, "pip", "install", "--python", made / "bin" / "python", f"{source}{extra}")
        return (*uv, "venv", "--python", sys.executable, made), install

    return commands


def _by_npm(tool: str) -> Install:
    return lambda made, cache: [("npm", "install", "--silent", "--prefix", made, "--cache", cache, tool)]


def _rows(
    table: Table, title: str, install: Install, installed: Callable[[Path], tuple[int, float]], goal: tuple[float, ...]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder) / "cache"
        for state in ("cold", "warm"):
            made = Path(folder) / state
            began, cpu_began = time.perf_counter(), _cpu_s()
            for command in install(made, cache):
                _run(command, Path(folder))
            took_s, cpu_s = time.perf_counter() - began, _cpu_s() - cpu_began
            table.row(f"{title}, {state}", *installed(made), cpu_s, took_s, most=goal)


def _run(command: Sequence[str | Path], folder: Path) -> None:
    environment = {**os.environ, "PUPPETEER_SKIP_DOWNLOAD": "1"}
    subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, timeout=TIMEOUT_S, check=True)


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _of_python(environment: Path) -> tuple[int, float]:
    """Return the number and the megabytes of the distributions, without those of pip itself."""
    (packages,) = environment.glob("lib/python*/site-packages")
    names = {path.name.partition("-")[0] for path in packages.glob("*.dist-info")}
    own = [path for path in packages.iterdir() if path.name.partition("-")[0] not in OF_PIP]
    return len(names.difference(OF_PIP)), sum(map(_megabytes, own))


def _of_npm(prefix: Path) -> tuple[int, float]:
    modules = prefix / "node_modules"
    packages = json.loads((modules / ".package-lock.json").read_text(encoding="utf-8"))["packages"]
    return len(packages), _megabytes(modules)


def _megabytes(path: Path) -> float:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(each.stat().st_size for each in files if each.is_file() and not each.is_symlink()) / 1e6
