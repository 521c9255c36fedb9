"""`make mutants`: change a module in many small ways (mutants), and print the changes that none of its tests notices.

1. Copy the repository's files to var/mutants/, because mutmut writes its changes beside them.
2. Start PostgreSQL and Redis once for all runs of the tests.
3. Run mutmut on the module, for at most as many minutes as allowed; another run continues.
4. Print each surviving change as a diff. Exit with 1 if there is one.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests import stack

ROOT = Path(__file__).resolve().parents[1]
NET = "tests/website_scan/net"
# Modules that decide, and the tests that shall notice a wrong decision.
MODULES: Mapping[str, Sequence[str]] = {
    "website_scan/net/addresses.py": (f"{NET}/test_addresses.py", f"{NET}/test_typed_loopback.py"),
    "website_scan/net/budget.py": (f"{NET}/test_budget.py",),
    "website_scan/net/targets.py": (f"{NET}/test_targets.py", f"{NET}/test_typed_loopback.py"),
    "website_scan/scoring.py": ("tests/website_scan/test_scoring.py", "tests/website_scan/report/test_held.py"),
}
# Without this project's own plugins of pytest: they would import the module before mutmut can change it. The constant
# for the timeout lets a busy machine finish; a change that makes an endless loop takes as long.
PYTEST = ("-o", "addopts=--strict-markers -p no:schemathesis -p no:anyio -p no:valkey", "-o", "timeout=0", "-n", "0")
CONFIGURATION = """
[tool.mutmut]
source_paths = [{source!r}]
only_mutate = [{module!r}]
also_copy = {others!r}
pytest_add_cli_args = {pytest!r}
pytest_add_cli_args_test_selection = {tests!r}
timeout_constant = 60.0
"""


def main() -> int:
    parser = argparse.ArgumentParser(prog="make mutants", description="Prints changes that no test notices.")
    parser.add_argument("module", choices=MODULES)
    parser.add_argument("--minutes", type=float, default=15)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    folder = copied(options.module)
    with contextlib.ExitStack() as cleanup:
        stack.start(cleanup)
        command = mutmut("run", "--max-children", str(options.processes))
        with subprocess.Popen(command, cwd=folder, start_new_session=True) as running:
            try:
                running.wait(options.minutes * 60)
            except subprocess.TimeoutExpired:
                os.killpg(running.pid, signal.SIGKILL)  # with the processes that run the tests
                print(f"\nNot complete after {options.minutes:g} minutes. Another run continues.")
    survivors = survived(folder)
    for name in survivors:
        subprocess.run(mutmut("show", name), cwd=folder, check=True)
    print(f"{len(survivors)} survive")
    return int(bool(survivors))


def mutmut(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "mutmut", *arguments]


def copied(module: str) -> Path:
    """Copy all files that Git knows, and configure mutmut for the module. Return the folder."""
    folder = ROOT / "var" / "mutants" / module.replace("/", "-").removesuffix(".py")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = [Path(name) for name in listed.split("\0") if name and (ROOT / name).is_file()]
    for file in files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / file, folder / file)
    source = module.partition("/")[0]
    configuration = CONFIGURATION.format(
        source=source,
        module=module,
        others=sorted({file.parts[0] for file in files} - {source, "pyproject.toml"}),
        pytest=list(PYTEST),
        tests=list(MODULES[module]),
    )
    with (folder / "pyproject.toml").open("a", encoding="utf-8") as settings:
        settings.write(configuration)
    return folder


def survived(folder: Path) -> list[str]:
    """Return the names of the changes that no test has noticed."""
    results = subprocess.run(mutmut("results"), cwd=folder, capture_output=True, text=True, check=True).stdout
    pairs = [line.strip().rpartition(": ") for line in results.splitlines()]
    return [name for name, _, result in pairs if result in ("survived", "no tests")]


if __name__ == "__main__":
    sys.exit(main())
