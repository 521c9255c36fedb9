"""pytest plugin: records the outcomes that checks return in tests, and compares them with those that they declare.

Loaded with `-p tests.recorded_outcomes`. A run of all fast tests fails if no test makes a check return a declared
outcome, or if no test has seen the example of an outcome in `website_scan/examples.json`. `make examples` writes it.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from website_scan import catalogue
from website_scan.accessibility import axe
from website_scan.browser.evidence import AxeReport
from website_scan.catalogue import Check, Declaration
from website_scan.check_results import check_result
from website_scan.findings import ScanType
from website_scan.outcomes import Fail, Review, Verdict, Warn
from website_scan.wording import without_reason

EXAMPLES = Path(str(files("website_scan") / "examples.json"))
MOST = 40  # texts of an outcome that a process keeps

# The texts of each outcome, such as `hsts.short`, in the order of the tests.
seen: dict[str, dict[str, None]] = {}


def _recording(declaration: Declaration, function: Callable[..., Any]) -> Callable[..., Any]:
    """Stand for `Declaration.__call__`: declare a function that records what it returns."""

    function.__check__ = declaration  # type: ignore[attr-defined]  # as the decorator does

    @functools.wraps(function)
    def recorded(*args: Any, **kwargs: Any) -> Any:
        finding = function(*args, **kwargs)
        _record(declaration, finding)
        return finding

    return recorded


def _record(declaration: Declaration, finding: object) -> None:
    if isinstance(finding, Warn | Review | Fail):
        texts = seen.setdefault(f"{declaration.id}.{finding.outcome}", {})
        if len(texts) < MOST:
            texts[without_reason(check_result(declaration, finding, None))] = None


Declaration.__call__ = _recording  # type: ignore[method-assign,assignment]  # before any check is declared


def _recording_verdict(verdict: Callable[[Check, AxeReport], Verdict | None]) -> Callable[..., Verdict | None]:
    """Stand for `axe_verdict`, which judges instead of the check's function where axe-core has a result."""

    @functools.wraps(verdict)
    def recorded(check: Check, axe: AxeReport) -> Verdict | None:
        finding = verdict(check, axe)
        _record(check, finding)
        return finding

    return recorded


axe.axe_verdict = _recording_verdict(axe.axe_verdict)  # before `caps` imports it


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--write-examples", action="store_true", help="write website_scan/examples.json")


def pytest_sessionfinish(session: pytest.Session) -> None:
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["outcomes"] = {name: list(texts) for name, texts in seen.items()}
    elif session.config.getoption("--write-examples"):
        EXAMPLES.write_text(json.dumps({name: next(iter(seen[name])) for name in sorted(seen)}, indent=1) + "\n")
    elif is_whole(session.config) and not session.testsfailed and (complaints := complaints_about(seen)):
        reporter = session.config.pluginmanager.getplugin("terminalreporter")
        for each in complaints:
            reporter.write_line(each, red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    for name, texts in getattr(node, "workeroutput", {}).get("outcomes", {}).items():
        seen.setdefault(name, {}).update(dict.fromkeys(texts))


def is_whole(config: pytest.Config) -> bool:
    """Return True if all fast tests run."""
    return config.getoption("markexpr") in ("fast", "") and not config.getoption("keyword") and config.args == ["tests"]


def complaints_about(seen: dict[str, dict[str, None]]) -> list[str]:
    """Return a sentence for each outcome without a test, and for each example that is out of date."""
    checks = [check for scan_type in ScanType for check in catalogue.checks(scan_type)]
    declared = {f"{check.id}.{name}" for check in checks for name in check.outcomes}
    examples = json.loads(EXAMPLES.read_text(encoding="utf-8"))
    return [
        *(f"No test makes a check return {name}." for name in sorted(declared - seen.keys())),
        *(f"{name} has no example: run make examples." for name in sorted(declared - examples.keys())),
        *(f"{name} is not declared: run make examples." for name in sorted(examples.keys() - declared)),
        *(
            f"The example of {name} is out of date: run make examples."
            for name in sorted(declared & seen.keys() & examples.keys())
            if len(seen[name]) < MOST and examples[name] not in seen[name]
        ),
    ]
