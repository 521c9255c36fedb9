"""The command from its start to its end: imports, help, and scans without a browser beside sslyze and html-validate.

sslyze asks a server what TLS it supports, as our security scan does besides much else. html-validate judges a file with
its recommended rules for HTML and accessibility, and requests nothing. All start once for each figure, in turns.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchmarks.lighthouse import little_environment
from benchmarks.real_pages import real_pages
from benchmarks.static_host import StaticHost, authority
from benchmarks.table import Table
from benchmarks.usage import SAMPLE_EVERY_S, memory_mib
from tests.command_line import ROOT
from website_scan.written_urls import split_url

ROUNDS = 10
# A template with 35 references and 250 kB of CSS.
PAGE = "startbootstrap-agency"
COLUMNS = ("CPU-s", "least CPU-s", "s", "MiB")
SCRIPT = ROOT / "website_scan" / "command" / "website-scan"
# All modules of a scan of four types that no page can do without, loaded as the command loads them.
IMPORTS = """
from website_scan.command.terminal import ended_by

def load():
    from website_scan.command import local, scanning
    from website_scan.catalogue import checks, probes
    from website_scan.findings import ScanType
    probes()
    for each in ScanType:
        checks(each)

ended_by(load)
"""
WITH_LATE = IMPORTS.replace(
    "    probes()", "    from website_scan.late_modules import import_late_modules as late; late(); probes()"
)
IMPORTS_S, CHECKS_S, SCAN_S = 0.35, 0.5, 0.9


@dataclass(frozen=True, slots=True)
class Run:
    """Cost of a process with its children: processor seconds, elapsed seconds, and the most MiB (PSS), by samples."""

    cpu_s: float
    seconds: float
    mib: float


def measure(table: Table, share: float) -> None:
    rounds = max(1, round(ROUNDS * share))
    table.head("starts of the command", *COLUMNS)
    starts: dict[str, Sequence[str | Path]] = {
        "website-scan --help": (SCRIPT, "--help"),
        "website-scan --version": (SCRIPT, "--version"),
        "imports of a scan": ("-c", IMPORTS),
        "imports of a scan, with those that pages need late": ("-c", WITH_LATE),
        "manage.py checks": (ROOT / "manage.py", "checks"),
    }
    goals = {"imports of a scan": IMPORTS_S, "manage.py checks": CHECKS_S}
    _rows(table, {name: (sys.executable, *arguments) for name, arguments in starts.items()}, rounds, goals)
    page = next(each for each in real_pages() if PAGE in each.package)
    with StaticHost(page.folder) as host:
        url = f"{host.url}/{page.path}"
        options = ("--format", "json", "--output", os.devnull, "--allow-network", "127.0.0.0/8")
        scan = (sys.executable, SCRIPT, url, *options)
        scans: dict[str, Sequence[str | Path]] = {
            "security": (*scan, "--type", "security"),
            "accessibility and seo": (*scan, "--type", "accessibility", "--type", "seo"),
            "all four types": scan,
        }
        table.head("scans of a page without a browser, cold", *COLUMNS)
        _rows(table, scans | _others(url, page.folder / page.path), rounds, {"all four types": SCAN_S})


def _others(url: str, file: Path) -> Mapping[str, Sequence[str | Path]]:
    """Return the commands of the other tools; say which are not installed."""
    found: dict[str, Sequence[str | Path]] = {}
    if sslyze := shutil.which("sslyze"):
        found["  sslyze"] = (sslyze, split_url(url).netloc)
    if html_validate := shutil.which("html-validate"):
        found["  html-validate"] = (html_validate, file)
    for name in ("sslyze", "html-validate"):
        if f"  {name}" not in found:
            print(f"{name} is not on PATH: our own figures stand without it.", file=sys.stderr)
    return found


def _rows(table: Table, commands: Mapping[str, Sequence[str | Path]], rounds: int, goals: Mapping[str, float]) -> None:
    runs: dict[str, list[Run]] = {name: [] for name in commands}
    for number in range(-1, rounds):
        for name, command in commands.items():
            run = _run(command)
            if number >= 0:  # the first round compiles, and reads files from the disk
                runs[name].append(run)
    for name, of in runs.items():
        cpu_s = [each.cpu_s for each in of]
        least = tuple(statistics.median(getattr(each, field) for each in of) for field in ("seconds", "mib"))
        table.row(name, statistics.median(cpu_s), min(cpu_s), *least, most=(goals[name],) if name in goals else ())


def _run(command: Sequence[str | Path]) -> Run:
    ours = {"PYTHONPATH": str(ROOT), "SCAN_CA_BUNDLE": str(authority()), "SCAN_BROWSER": "off"}
    began = time.monotonic()
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            command, cwd="/", env=little_environment() | ours, stdout=subprocess.DEVNULL, stderr=errors
        )
        running, most = psutil.Process(process.pid), 0.0
        # Not `wait`: this tells the usage of this process and its own children alone.
        while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
            most = max(most, memory_mib(running))
            time.sleep(SAMPLE_EVERY_S)
        seconds = time.monotonic() - began
        _, status, usage = ended
        process.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        # The other tools end with 1 if they have findings.
        assert process.returncode in (0, 1), errors.read().decode(errors="replace")
    return Run(usage.ru_utime + usage.ru_stime, seconds, most)
