"""pytest plugin that compares outcomes in tests with declared ones.

Loaded with `-p tests.recorded_outcomes`. A run of all fast tests fails if a declared outcome is returned in no test, or
if the example of an outcome in `website_scan/examples.json` was not returned. `make examples` writes the examples.
"""

from __future__ import annotations

import functools
import itertools
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
from website_scan.values import Count, Share
from website_scan.wording import message_without_reason

EXAMPLES = Path(str(files("website_scan") / "examples.json"))
MAX_TEXTS = 40  # Maximum number of texts per outcome in each process.

# Outcomes whose message counts something other than places, and names it.
OTHER_COUNTS = {
    "cache-short.short-lived",  # Files of the site; those of other sites are places, too.
    "document-write.called",  # Calls; each script names the number of its calls.
    "http-version.http-1-1",  # Files; each origin names the number of its files.
    "keep-alive.closed",  # Responses; each origin names the number of its responses.
    "sitemap-valid.page-missing",  # URLs of the sitemaps.
    "text-compressed.document",  # Files besides the document, which is a place, too.
    "third-party-spof.other-site",  # Domains of the files.
}

# Texts of each outcome, such as `hsts.short`, in the order of the tests.
recorded_texts: dict[str, dict[str, None]] = {}


def _record_outcomes_of(declaration: Declaration, function: Callable[..., Any]) -> Callable[..., Any]:
    """Replace `Declaration.__call__`, so that checks record their outcomes."""

    function.__check__ = declaration  # type: ignore[attr-defined]  # The decorator does the same.

    @functools.wraps(function)
    def recording_check(*args: Any, **kwargs: Any) -> Any:
        finding = function(*args, **kwargs)
        _record(declaration, finding)
        return finding

    return recording_check


def _record(declaration: Declaration, finding: object) -> None:
    if isinstance(finding, Warn | Review | Fail):
        outcome = f"{declaration.id}.{finding.outcome}"
        texts = recorded_texts.setdefault(outcome, {})
        if len(texts) < MAX_TEXTS:
            texts[message_without_reason(check_result(declaration, finding, None))] = None
        if outcome not in OTHER_COUNTS:
            assert_count_is_number_of_places(finding)


def assert_count_is_number_of_places(finding: Warn | Review | Fail) -> None:
    """Fail if the message counts something, but no number and no sum of its numbers is the number of places."""
    counts = [int(value.number) for value in finding.values.values() if isinstance(value, Count | Share)]
    places = max(finding.total, len(finding.places))
    sums = {sum(some) for size in range(len(counts)) for some in itertools.combinations(counts, size + 1)}
    assert not counts or not places or places in sums, (finding.outcome, counts, places)


# The replacement must happen before any check is declared.
Declaration.__call__ = _record_outcomes_of  # type: ignore[method-assign,assignment]


def _recording_verdict(verdict: Callable[[Check, AxeReport], Verdict | None]) -> Callable[..., Verdict | None]:
    """Wrap the override `axe_verdict`, so that it records the outcome."""

    @functools.wraps(verdict)
    def recording_verdict(check: Check, axe: AxeReport) -> Verdict | None:
        finding = verdict(check, axe)
        _record(check, finding)
        return finding

    return recording_verdict


axe.axe_verdict = _recording_verdict(axe.axe_verdict)  # `caps` must import the wrapper instead of the function.


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--write-examples", action="store_true", help="write website_scan/examples.json")


def pytest_sessionfinish(session: pytest.Session) -> None:
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["outcomes"] = {name: list(texts) for name, texts in recorded_texts.items()}
    elif session.config.getoption("--write-examples"):
        EXAMPLES.write_text(
            json.dumps({name: next(iter(recorded_texts[name])) for name in sorted(recorded_texts)}, indent=1) + "\n"
        )
    elif (
        runs_all_fast_tests(session.config)
        and not session.testsfailed
        and (complaints := complaints_about(recorded_texts))
    ):
        reporter = session.config.pluginmanager.getplugin("terminalreporter")
        for complaint in complaints:
            reporter.write_line(complaint, red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    for name, texts in getattr(node, "workeroutput", {}).get("outcomes", {}).items():
        recorded_texts.setdefault(name, {}).update(dict.fromkeys(texts))


def runs_all_fast_tests(config: pytest.Config) -> bool:
    """Return True if this test run includes all fast tests."""
    return config.getoption("markexpr") in ("fast", "") and not config.getoption("keyword") and config.args == ["tests"]


def complaints_about(recorded_texts: dict[str, dict[str, None]]) -> list[str]:
    """Return a sentence for every untested outcome and outdated example."""
    checks = [check for scan_type in ScanType for check in catalogue.checks(scan_type)]
    declared = {f"{check.id}.{name}" for check in checks for name in check.outcomes}
    examples = json.loads(EXAMPLES.read_text(encoding="utf-8"))
    return [
        *(f"No test makes a check return {name}." for name in sorted(declared - recorded_texts.keys())),
        *(f"{name} has no example: run make examples." for name in sorted(declared - examples.keys())),
        *(f"{name} is not declared: run make examples." for name in sorted(examples.keys() - declared)),
        *(
            f"The example of {name} is out of date: run make examples."
            for name in sorted(declared & recorded_texts.keys() & examples.keys())
            if len(recorded_texts[name]) < MAX_TEXTS and examples[name] not in recorded_texts[name]
        ),
    ]
