"""pytest plugin that marks tests by the resources they use.

`make test` then skips the slow ones.

Loaded with `-p tests.lanes`. RULES is the table of marks. A test gets the mark of every matching rule, or `fast` if no
rule matches. `make test` runs `-m fast` and `make test-slow` runs `-m \"not fast\"`, so that each test is in exactly
one of them.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import cache
from itertools import chain
from pathlib import Path

import pytest
from msgspec import Struct
from xdist.workermanage import WorkerController

from tests.distribution import empties_database

FOLDER = Path(__file__).parent
FAST = "fast"
EMPTIED = "emptied_database"


class Rule(Struct, frozen=True):
    """Mark for tests that meet at least one condition."""

    mark: str
    reason: str
    # Modules, submodules and other names that the test file imports.
    imports: tuple[str, ...] = ()
    # Fixtures that the test uses, directly or through other fixtures.
    fixtures: tuple[str, ...] = ()
    # Patterns of the file's path in tests/. `*` also matches folders.
    files: tuple[str, ...] = ()
    # Patterns of the test function's name.
    tests: tuple[str, ...] = ()


RULES = (
    Rule(
        "browser",
        "starts Chromium",
        imports=(
            "playwright",
            "axe_playwright_python",
            "WarmBrowser",
            "find_browser",
            "Window",
            "in_chromium",
            "throttled_load",
            "worker_with_browser",
        ),
        fixtures=("visit",),
    ),
    Rule(
        "service",
        "starts servers or processes of the service",
        imports=("Service", "Supervisor", "embedded", "Release"),
        fixtures=("running", "identity_provider"),
    ),
    Rule(
        "subprocess",
        "starts other programs",
        imports=("subprocess", "command_line", "npm", "real_pages"),
        fixtures=("installed", "action", "packages"),
    ),
    # The conditions of this mark are those of pytest-django.
    Rule(EMPTIED, "commits, and has the database emptied afterwards"),
    Rule(
        "hostile",
        "judges what is made to be slow, large or malicious",
        imports=("zoo", "zoo_pages"),
        files=("*/test_hostile*.py", "*/test_patterns.py"),
        tests=("*made_to_be_slow*", "*expensive*", "*bomb*", "*hostile*_fast", "*malicious*seconds*"),
    ),
    Rule(
        "release",
        "proves what is released beside the code: documents, upgrades, containers, Kubernetes, clients",
        files=("release/*", "*/test_generated_client*.py"),
    ),
    Rule("slow", "computes or waits for more than five seconds by itself; the only mark that is given by hand"),
)


class Lanes:
    """Number of tests that `-m` deselects, by mark.

    Under xdist, the workers count and the controller prints.
    """

    def __init__(self) -> None:
        self.left_out: dict[str, int] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Mark the tests before `-m` selects them."""
        for item in items:
            for mark in marks_of(item) or [FAST]:
                item.add_marker(mark)

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        """Count the deselected tests.

        pytest calls this hook for `-k` first, and then for `-m`.
        """
        marks = [[rule.mark for rule in RULES if item.get_closest_marker(rule.mark)] for item in items]
        self.left_out = {} if [] in marks else {"": len(items), **Counter(chain.from_iterable(marks))}

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["left_out"] = self.left_out

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: WorkerController) -> None:
        self.left_out = getattr(node, "workeroutput", {}).get("left_out", {})

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
        if config.option.markexpr != FAST or not self.left_out:
            return
        terminalreporter.section("left out")
        for rule in RULES:
            if count := self.left_out.get(rule.mark):
                terminalreporter.write_line(f"{count:6,} {rule.mark}: {rule.reason}")
        terminalreporter.write_line(f"{self.left_out['']:6,} in all, some of several kinds: `make test-slow` runs them")


def pytest_configure(config: pytest.Config) -> None:
    for rule in RULES:
        config.addinivalue_line("markers", f"{rule.mark}: {rule.reason}")
    config.addinivalue_line("markers", f"{FAST}: has none of the marks that tests/lanes.py gives")
    config.pluginmanager.register(Lanes(), "lanes")


def marks_of(item: pytest.Item) -> list[str]:
    """Return the marks of all rules that match a test."""
    marks = marks_of_file(item.path) | marks_of_name(getattr(item, "originalname", item.name))
    marks |= {mark.name for mark in item.iter_markers()}
    if empties_database(item):
        marks |= {EMPTIED}
    fixtures = fixtures_of(item)
    return [rule.mark for rule in RULES if rule.mark in marks or not fixtures.isdisjoint(rule.fixtures)]


@cache
def marks_of_file(file: Path) -> frozenset[str]:
    """Return the marks of all rules that match a test file by its path or its imports."""
    path = file.relative_to(FOLDER).as_posix() if file.is_relative_to(FOLDER) else file.name
    names = names_imported_by(file)
    return frozenset(
        rule.mark
        for rule in RULES
        if not names.isdisjoint(rule.imports) or any(fnmatchcase(path, pattern) for pattern in rule.files)
    )


@cache
def marks_of_name(name: str) -> frozenset[str]:
    """Return the marks of all rules that match a test function by its name."""
    return frozenset(rule.mark for rule in RULES if any(fnmatchcase(name, pattern) for pattern in rule.tests))


def fixtures_of(item: pytest.Item) -> set[str]:
    """Return the names of the fixtures that a test uses.

    Parameters do not count as fixtures.
    """
    return set(getattr(item, "fixturenames", ())) - set(getattr(getattr(item, "callspec", None), "params", ()))


@cache
def names_imported_by(path: Path) -> frozenset[str]:
    """Return the names that a file imports.

    The first and last part of each module path are included. Files without any word of a rule are not parsed, because
    parsing all files takes more than a second in each process.
    """
    names: set[str] = set()
    source = path.read_bytes()
    if not any(name.encode() in source for rule in RULES for name in rule.imports):
        return frozenset()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [node.module or ""]
            names.update(alias.name for alias in node.names)
        else:
            continue
        for module in modules:
            names |= {module.partition(".")[0], module.rpartition(".")[2]}
    return frozenset(names)
