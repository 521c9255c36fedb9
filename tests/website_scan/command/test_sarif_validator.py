"""Test that Microsoft's validator accepts the SARIF logs.

Its rules for GitHub are included.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.website_scan.command.hostile_page import PATH, hostile_site, reports_of
from tests.website_scan.command.reports import check_result, failed_scan, judged_report
from website_scan.command.gate import CommandReport, CommandResult
from website_scan.command.output import formatted
from website_scan.findings import ScanType, Severity
from website_scan.places import Element

PACKAGE = "@microsoft/sarif-multitool-linux@5.7.0"  # The package has the MIT license and includes .NET.
PROGRAM = Path("node_modules", "@microsoft", "sarif-multitool-linux", "Sarif.Multitool")
VALIDATOR_TIMEOUT_S = 300
PAGES = "https://scan.example.com/docs/checks/"
# Rules that do not suit scans of web pages or that contradict GitHub.
DISABLED_RULES = {
    "SARIF2002": "Message texts by ID: GitHub shows the text only.",
    "SARIF2003": "The version-controlled source: a page is scanned, not a checkout.",
    "SARIF2006": "Asks the internet for every address.",
    "SARIF2009": "IDs like CS2001: GitHub shows the ID, so it is the name of the check.",
    "SARIF2010": "A snippet for every result: a missing header has none.",
    "SARIF2011": "The lines around a snippet: a place is one element.",
    "SARIF2012": "Pascal-case names, and rules where a failed scan judged nothing: GitHub shows the name to people.",
}
# Only a service has the tool's URL that this rule requires.
RULES_WITHOUT_SERVICE = {"SARIF2005"}
HOSTILE = "[a](javascript:b) {0} {{x}} \x1b[31m \u202e </script>'\"\\ ]]>"


@pytest.fixture(scope="module")
def multitool(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("multitool")
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    installed = subprocess.run(
        [npm, "install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", PACKAGE],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=VALIDATOR_TIMEOUT_S,
        check=False,
    )
    if installed.returncode:
        pytest.skip(f"no registry of packages: {installed.stderr[-300:]}")
    program = folder / PROGRAM
    program.chmod(0o755)
    return program


def validation_messages(program: Path, log: str, folder: Path) -> dict[str, list[str]]:
    """Validate a log and return the messages by rule ID.

    The rules are those of SARIF and GitHub.
    """
    (folder / "log.sarif").write_text(log, encoding="utf-8")
    run(program, folder, "export-validation-config", "-f", "Xml", "rules.xml")
    rules = folder / "rules.xml"
    # GitHub's rules are disabled by default.
    rules.write_text(rules.read_text(encoding="utf-8").replace('Value="Default"', 'Value="Warning"'), encoding="utf-8")
    disabled = re.compile(
        rf'(Key="(?:{"|".join(DISABLED_RULES)})\.[^>]*>\s*<Property Key="RuleEnabled" Value=")Warning'
    )
    rules.write_text(disabled.sub(r"\1Disabled", rules.read_text(encoding="utf-8")), encoding="utf-8")
    levels = ("--rule-kind", "Sarif;Ghas", "--level", "Error;Warning;Note")
    run(program, folder, "validate", "log.sarif", "-c", "rules.xml", *levels, "-o", "found.sarif")
    validation = json.loads((folder / "found.sarif").read_text(encoding="utf-8-sig"))["runs"][0]
    assert validation["invocations"][0]["executionSuccessful"]
    messages: dict[str, list[str]] = {}
    for result in validation.get("results", ()):
        messages.setdefault(result["ruleId"], []).append(json.dumps(result["message"]))
    return messages


def run(program: Path, folder: Path, *arguments: str) -> None:
    subprocess.run(
        [program, *arguments],
        cwd=folder,
        env=os.environ | {"DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1", "DOTNET_CLI_TELEMETRY_OPTOUT": "1"},
        capture_output=True,
        timeout=VALIDATOR_TIMEOUT_S,
        check=False,  # The exit status is 1 if the validator has messages.
    )


def hostile(url: str, scan_type: ScanType) -> CommandReport:
    places = [Element(HOSTILE, HOSTILE), Element(HOSTILE, HOSTILE), Element("#a")]
    checks = (
        check_result(f"check-{status}-{severity}", status, severity, *places, summary=HOSTILE)
        for status in ("fail", "warn", "pass")
        for severity in Severity
        if (status, severity) != ("warn", Severity.CRITICAL)
    )
    return judged_report(*checks, url=url, type=scan_type)


URLS = (
    "https://example.com/",
    "http://localhost:8000/a?b=[c]&d=/../e",
    "http://[::1]:8080/%3Cx%3E",
    "https://example.com/100%",
)


@pytest.mark.parametrize("pages", [PAGES, ""])
def test_sarif_of_a_hostile_site_is_valid(multitool: Path, tmp_path: Path, pages: str) -> None:
    reports = [hostile(url, scan_type) for url in URLS for scan_type in ScanType]
    messages = validation_messages(
        multitool, formatted("sarif", CommandResult(reports, [], len(reports), pages)), tmp_path
    )
    assert messages.keys() <= (set() if pages else RULES_WITHOUT_SERVICE), messages


def test_sarif_of_scanned_pages_is_valid(multitool: Path, tmp_path: Path) -> None:
    with hostile_site() as site:
        reports = reports_of(site, PATH, "/")
    assert (
        validation_messages(multitool, formatted("sarif", CommandResult(reports, [], len(reports), PAGES)), tmp_path)
        == {}
    )


def test_sarif_of_a_failed_scan_is_valid(multitool: Path, tmp_path: Path) -> None:
    assert (
        validation_messages(multitool, formatted("sarif", CommandResult([failed_scan()], [], 1, PAGES)), tmp_path) == {}
    )


def test_validator_reports_a_bad_location(multitool: Path, tmp_path: Path) -> None:
    log: dict[str, Any] = json.loads(
        formatted("sarif", CommandResult([judged_report(check_result("hsts"))], [], 1, PAGES))
    )
    place = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    place["artifactLocation"]["uri"] = "https://example.com/"
    assert validation_messages(multitool, json.dumps(log), tmp_path).keys() == {"GH1005"}
