"""Compare cold scans with other tools: Lighthouse, pa11y, html-validate (npm) and sslyze (PyPI).

The tools are not installed by this benchmark. It measures those that are on PATH, or in the folders of `--tools`, such
as `--tools /opt/tools/node_modules/.bin`. All commands take turns on each page. A figure is the processor time of a
command with all its processes, from start to end, so it includes the start of Python, Node and Chromium. It needs Linux
and root, for a control group.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import requests
from msgspec import Struct

from benchmarks.control_group import control_group
from benchmarks.peer_pages import run_peer_pages
from benchmarks.table import Table
from website_scan.net.browser import find_browser
from website_scan.urls import host_and_port_of

ROUNDS = 5
COMMAND_TIMEOUT_S, END_TIMEOUT_S = 240.0, 20.0
MAX_ERROR_CHARACTERS = 600
BASE_DIR = Path(__file__).parent.parent
CHROMIUM_FLAGS = ("--headless", "--no-sandbox", "--ignore-certificate-errors", "--disable-dev-shm-usage")
# Highest ratios of our processor time to that of the other tool (docs/benchmarks.md).
MAX_LIGHTHOUSE_RATIO, MAX_ONE_WIDTH_RATIO, MAX_TWO_WIDTHS_RATIO = 1 / 3, 1.1, 1.35
# How a tool is installed, and the argument that prints its version.
TOOLS = {
    "lighthouse": "npm install lighthouse",
    "pa11y": "npm install pa11y",
    "html-validate": "npm install html-validate",
    "sslyze": "pip install sslyze",
}
OURS = ("--format", "json", "--allow-network", "127.0.0.0/8")

Command = Sequence[str]


class Comparison(Struct, frozen=True):
    """A scan of ours that is compared with a tool. `goal` limits the ratio of their processor times."""

    name: str
    options: tuple[str, ...]
    has_browser: bool
    tool: str
    goal: tuple[float, ...] = ()


COMPARISONS = (
    Comparison("four types with a browser", (), True, "lighthouse", (MAX_LIGHTHOUSE_RATIO,)),
    Comparison(
        "accessibility, one width", ("--type", "accessibility", "--width", "412"), True, "pa11y", (MAX_ONE_WIDTH_RATIO,)
    ),
    Comparison("accessibility, two widths", ("--type", "accessibility"), True, "pa11y", (MAX_TWO_WIDTHS_RATIO,)),
    Comparison("security without a browser", ("--type", "security"), False, "sslyze"),
    Comparison("accessibility without a browser", ("--type", "accessibility"), False, "html-validate"),
    Comparison("four types without a browser", (), False, ""),
)


class CommandFailed(Exception):
    """Raised if a command has no result. The message has the end of its output."""


def measure(table: Table, share: float) -> None:
    rounds = max(1, round(ROUNDS * share))
    versions = {tool: _version(tool) for tool in TOOLS if shutil.which(tool)}
    for tool, installation in TOOLS.items():
        print(f"{tool} {versions[tool]}" if tool in versions else f"{tool} is missing ({installation})", flush=True)
    samples: dict[tuple[str, str], list[float]] = defaultdict(list)
    with run_peer_pages() as pages, tempfile.TemporaryDirectory(prefix="wss-peers-") as name:
        Path(name).chmod(0o755)
        for number in range(rounds):
            for page, (url, ca_file) in pages.items():
                commands = _commands(Path(name, page), url, ca_file, versions)
                for command_name in list(commands) if number % 2 == 0 else reversed(list(commands)):
                    samples[page, command_name].append(commands[command_name]())
        names = list(pages)
    _print(table, names, versions, samples)


def _print(
    table: Table, pages: list[str], versions: Mapping[str, str], samples: Mapping[tuple[str, str], list[float]]
) -> None:
    table.head("processor time of a command", *(f"{page} CPU-s" for page in pages))
    for comparison in COMPARISONS:
        table.row(comparison.name, *(samples[page, comparison.name] for page in pages))
    for tool, version in versions.items():
        table.row(tool, *(samples[page, tool] for page in pages))
        print(f"  (version {version})", flush=True)
    table.head("  beside the other tool", *(f"{page} ratio" for page in pages))
    for comparison in COMPARISONS:
        if comparison.tool in versions:
            pairs = [zip(samples[page, comparison.name], samples[page, comparison.tool], strict=True) for page in pages]
            ratios = [[ours / other for ours, other in pair] for pair in pairs]
            goals = comparison.goal * len(pages)
            table.row(f"{comparison.name}, {comparison.tool}", *ratios, most=goals)


def _commands(folder: Path, url: str, ca_file: Path, versions: Mapping[str, str]) -> dict[str, Callable[[], float]]:
    """Return functions that run a command for a page, and return its processor time, by the command's name."""
    folder.mkdir(exist_ok=True)
    environment = {**os.environ, "SCAN_CA_BUNDLE": str(ca_file), "SCAN_TIME_LIMIT": "120"}
    commands = {}
    for comparison in COMPARISONS:
        command = (sys.executable, "-m", "website_scan", url, *OURS, *comparison.options)
        browser = {"SCAN_BROWSER": "auto" if comparison.has_browser else "off"}
        commands[comparison.name] = _runner(command, environment | browser, folder)
    for tool in versions:
        commands[tool] = _runner(_tool_command(tool, folder, url, ca_file), environment, folder)
    return commands


def _tool_command(tool: str, folder: Path, url: str, ca_file: Path) -> Command:
    """Return the command that lets a tool examine a page. Writes its files to `folder`."""
    if tool == "lighthouse":
        return (tool, url, "--quiet", "--output=json", f"--chrome-flags={' '.join(CHROMIUM_FLAGS)}")
    if tool == "pa11y":
        config = {
            "chromeLaunchConfig": {
                "executablePath": str(find_browser("auto")),
                "args": CHROMIUM_FLAGS[1:],
                "acceptInsecureCerts": True,
            },
            "timeout": COMMAND_TIMEOUT_S * 1000,
        }
        (folder / "pa11y.json").write_text(json.dumps(config))
        return (tool, "--runner", "axe", "--reporter", "json", "--config", str(folder / "pa11y.json"), url)
    if tool == "sslyze":
        return (tool, "--json_out=-", host_and_port_of(url))
    page = folder / "page.html"
    page.write_bytes(requests.get(url, verify=str(ca_file), timeout=END_TIMEOUT_S).content)
    return (tool, "--formatter", "json", str(page))


def _runner(command: Command, environment: Mapping[str, str], folder: Path) -> Callable[[], float]:
    return lambda: cpu_s(command, environment, folder)


def cpu_s(command: Command, environment: Mapping[str, str], folder: Path) -> float:
    """Run a command to its end, and return the processor seconds of all its processes.

    Raises CommandFailed if the command does not print JSON, as all of them do if they have examined the page, and
    ControlGroupRefused.
    """
    environment = {**environment, "PYTHONPATH": str(BASE_DIR), "CHROME_PATH": str(find_browser("auto"))}
    # The outputs are files, because html-validate ends before it has written more than 64 kB to a pipe.
    output_file, error_file = folder / "output.json", folder / "errors.txt"
    with control_group() as group, output_file.open("wb") as output, error_file.open("wb") as errors:
        subprocess.run(
            group.command(command),
            env=environment,
            cwd=folder,
            stdout=output,
            stderr=errors,
            timeout=COMMAND_TIMEOUT_S,
            check=False,
        )
        group.wait_for_end(END_TIMEOUT_S)
        seconds = group.cpu_s()
    try:
        json.loads(output_file.read_bytes())
    except ValueError as error:
        texts = output_file.read_text(errors="replace") + error_file.read_text(errors="replace")
        raise CommandFailed(f"{command[0]} has no result: {texts[-MAX_ERROR_CHARACTERS:]}") from error
    return seconds


def _version(tool: str) -> str:
    """Return the version that a tool prints, without its name. The tool sslyze prints it only in its help."""
    arguments = ("--help",) if tool == "sslyze" else ("--version",)
    answer = subprocess.run((tool, *arguments), capture_output=True, text=True, timeout=END_TIMEOUT_S, check=False)
    words = answer.stdout.replace("-", " ").split()
    return next((word for word in words if word[:1].isdigit() and "." in word), "of unknown version")
