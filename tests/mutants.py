"""Find code changes that no test detects (`make mutants`).

1. Copy the repository's files to var/mutants/, because mutmut writes its changes next to them.
2. Start PostgreSQL and Redis once for all runs of the tests.
3. Run mutmut on each module for at most the allowed minutes; another run continues. Changes that mypy detects need no
test.
4. Print each surviving change as a diff, and the number of changes of each module. Exit with 1 if a change survives.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from mutmut.mutation.diff_apply import get_diff_for_mutant
from mutmut.stats import status_by_exit_code

from tests import stack

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "var" / "mutants"
NET = "tests/website_scan/net"
# Modules that make important decisions, and their tests.
MODULES: Mapping[str, Sequence[str]] = {
    "accounts/access.py": ("tests/accounts/test_access.py",),
    "accounts/usage.py": ("tests/accounts/test_usage.py", "tests/accounts/test_shared_quota.py"),
    "website_scan/net/addresses.py": (
        f"{NET}/test_addresses.py",
        f"{NET}/test_targets.py",
        f"{NET}/test_typed_loopback.py",
    ),
    "website_scan/net/budget.py": (f"{NET}/test_budget.py",),
    "website_scan/net/credentials.py": (f"{NET}/test_credentials.py",),
    "website_scan/net/dialer.py": (f"{NET}/test_dialer.py", f"{NET}/test_resolver.py", f"{NET}/test_typed_loopback.py"),
    "website_scan/net/http/redirects.py": (f"{NET}/http/test_redirects.py",),
    "website_scan/net/policy.py": (f"{NET}/test_typed_loopback.py", f"{NET}/test_dialer.py"),
    "website_scan/net/resolver.py": (f"{NET}/test_resolver.py", f"{NET}/test_typed_loopback.py"),
    "website_scan/net/targets.py": (f"{NET}/test_targets.py", f"{NET}/test_typed_loopback.py"),
    "website_scan/scoring.py": ("tests/website_scan/test_scoring.py", "tests/website_scan/report/test_cap_sentence.py"),
}
# These tests share a database and Redis, so only one process runs them.
MODULES_WITH_DATABASE = frozenset({"accounts/access.py", "accounts/usage.py"})
SURVIVED = ("survived", "no tests")
# The project's plugins would import the module before mutmut can change it. `timeout_constant` ends endless loops.
PYTEST = (
    "-o",
    "addopts=--strict-markers -p no:schemathesis -p no:anyio -p no:valkey",
    "-o",
    "timeout=0",
    "-n",
    "0",
    "--hypothesis-profile=mutants",
)
# All copies share mypy's cache, so that Django is analyzed only once. mutmut defines attributes of a class again.
MYPY = (
    "--no-warn-unused-ignores",
    "--disable-error-code",
    "no-redef",
    "--output",
    "json",
    "--cache-dir",
    str(FOLDER / "mypy"),
)
# The fork server only collects tests and caches no results of unchanged code.
CONFIGURATION = """
[tool.mutmut]
source_paths = [{source!r}]
only_mutate = [{module!r}]
also_copy = {others!r}
pytest_add_cli_args = {pytest!r}
pytest_add_cli_args_test_selection = {tests!r}
type_check_command = {types!r}
do_not_mutate_patterns = ['^ *logger[.]']
timeout_constant = 60.0
process_isolation = "forkserver"
"""


def main() -> int:
    parser = argparse.ArgumentParser(prog="make mutants", description="Prints changes that no test notices.")
    parser.add_argument("modules", nargs="+", choices=MODULES, metavar="module")
    parser.add_argument("--minutes", type=float, default=15, help="for each module")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    survivors = 0
    with contextlib.ExitStack() as cleanup:
        stack.start(cleanup)
        for module in options.modules:
            folder = copy_files(module)
            run(folder, options.minutes, 1 if module in MODULES_WITH_DATABASE else options.processes)
            survivors += report_survivors(folder, module)
    return int(bool(survivors))


def run(folder: Path, minutes: float, processes: int) -> None:
    command = [sys.executable, "-m", "mutmut", "run", "--max-children", str(processes)]
    with subprocess.Popen(command, cwd=folder, start_new_session=True) as running:
        try:
            if running.wait(minutes * 60):
                sys.exit("mutmut failed; see above.")
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)  # The signal also ends the processes that run the tests.
            print(f"\nNot complete after {minutes:g} minutes. Another run continues.")


def copy_files(module: str) -> Path:
    """Copy the project and configure mutmut for the module.

    Files that Git ignores are left out. Returns the new folder.
    """
    folder = FOLDER / module.replace("/", "-").removesuffix(".py")
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = [Path(name) for name in names.split("\0") if name and (ROOT / name).is_file()]
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
        types=[sys.executable, "-m", "mypy", *MYPY, module],
    )
    with (folder / "pyproject.toml").open("a", encoding="utf-8") as settings:
        settings.write(configuration)
    reset_survivors(folder, module)
    return folder


def reset_survivors(folder: Path, module: str) -> None:
    """Let mutmut test undetected changes again.

    There may be new tests.
    """
    file = folder / "mutants" / f"{module}.meta"
    if file.exists():
        data = json.loads(file.read_text(encoding="utf-8"))
        for name, code in data["exit_code_by_key"].items():
            if status_by_exit_code[code] in SURVIVED:
                data["exit_code_by_key"][name] = None
        file.write_text(json.dumps(data), encoding="utf-8")


def report_survivors(folder: Path, module: str) -> int:
    """Print a module's surviving mutants and return their number."""
    data = json.loads((folder / "mutants" / f"{module}.meta").read_text(encoding="utf-8"))
    results = {name: status_by_exit_code[code] for name, code in data["exit_code_by_key"].items()}
    survivors = [name for name, result in results.items() if result in SURVIVED]
    with contextlib.chdir(folder):
        for name in survivors:
            print(f"# {name}: {results[name]}", get_diff_for_mutant(name, path=Path(module)), sep="\n")
    figures = ", ".join(f"{number} {result}" for result, number in Counter(results.values()).items())
    print(f"{module}: {len(results)} changes, {figures}")
    return len(survivors)


if __name__ == "__main__":
    sys.exit(main())
