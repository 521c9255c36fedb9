"""Test that all formats and the gate use one table of levels."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import pytest

from tests.website_scan.command.reports import check_result, judged_report
from website_scan.command.formats.text import text
from website_scan.command.gate import CommandReport, CommandResult, Gate
from website_scan.command.output import formatted
from website_scan.findings import Severity
from website_scan.report.levels import LEVELS, Level

# Levels in ascending order.
SARIF = ("note", "warning", "error")
CODE_QUALITY = ("info", "minor", "major", "critical", "blocker")


def report(status: str, severity: str) -> CommandReport:
    return judged_report(check_result("hsts", status, Severity(severity)), check_result("csp", "pass"))


def output(name: str, status: str, severity: str) -> str:
    return formatted(name, CommandResult([report(status, severity)], [], 1, gate=Gate(fail_on=Severity.LOW)))


def test_every_finding_has_a_level() -> None:
    combinations = {(status, severity) for status in ("fail", "warn") for severity in Severity}
    assert set(LEVELS) == combinations - {("warn", Severity.CRITICAL)}


@pytest.mark.parametrize(("finding", "level"), LEVELS.items())
def test_every_format_shows_the_level_of_a_finding(finding: tuple[str, str], level: Level) -> None:
    status, severity = finding
    lines = list(text(report(status, severity)))
    assert f"  {level.mark} hsts is wrong ({severity}, Headers, hsts.faulty)" in lines
    assert f"- **hsts is wrong** ({level.word}, {severity}, Headers, `hsts`)" in output("markdown", *finding)
    (run,) = json.loads(output("sarif", *finding))["runs"]
    (rule, _), (result,) = run["tool"]["driver"]["rules"], run["results"]
    assert result["level"] == rule["defaultConfiguration"]["level"] == level.sarif
    assert rule["properties"]["security-severity"] == level.security_severity
    (entry,) = json.loads(output("codequality", *finding))
    assert entry["severity"] == level.code_quality
    case = ElementTree.fromstring(output("junit", *finding)).find("testsuite/testcase[@name='hsts is well']")
    assert case is not None
    failure, passed = case.find("failure"), case.find("system-out")
    if level.gated:
        assert failure is not None
        assert failure.attrib["type"] == severity
    else:
        assert passed is not None
        assert (passed.text or "").startswith(f"Warning ({severity}): hsts is wrong\n")
    full = json.loads(output("full", *finding))["categories"][0]["checks"][0]
    assert (full["status"], full["severity"]) == finding


@pytest.mark.parametrize(("finding", "level"), LEVELS.items())
def test_gate_fails_only_for_gated_levels(finding: tuple[str, str], level: Level) -> None:
    assert bool(Gate(fail_on=Severity.LOW).failing_findings(report(*finding))) is level.gated
    assert bool(list(Gate(fail_on=Severity.LOW).complaints(report(*finding)))) is level.gated


@pytest.mark.parametrize("status", ["fail", "warn"])
def test_levels_follow_the_order_of_severities(status: str) -> None:
    levels = [level for (level_status, _), level in LEVELS.items() if level_status == status]
    for order in (
        [SARIF.index(level.sarif) for level in levels],
        [CODE_QUALITY.index(level.code_quality) for level in levels],
        [float(level.security_severity) for level in levels],
    ):
        assert order == sorted(order, reverse=True)


def test_formats_agree_on_the_order_of_levels() -> None:
    """If one format ranks a finding higher than another finding, no other format ranks it lower."""
    ranks = [
        (SARIF.index(level.sarif), CODE_QUALITY.index(level.code_quality), float(level.security_severity))
        for level in LEVELS.values()
    ]
    for one in ranks:
        for other in ranks:
            pairs = list(zip(one, other, strict=True))
            assert all(a <= b for a, b in pairs) or all(a >= b for a, b in pairs), (one, other)


def test_warning_is_below_a_failure() -> None:
    for severity in (Severity.HIGH, Severity.MEDIUM, Severity.LOW):
        failed, warned = LEVELS["fail", severity], LEVELS["warn", severity]
        assert warned.sarif != "error"
        assert SARIF.index(warned.sarif) <= SARIF.index(failed.sarif)
        assert CODE_QUALITY.index(warned.code_quality) < CODE_QUALITY.index(failed.code_quality)


@pytest.mark.parametrize("level", LEVELS.values())
def test_security_severities_are_numbers_up_to_10(level: Level) -> None:
    assert re.fullmatch(r"\d\.\d", level.security_severity)
    assert 0 < float(level.security_severity) <= 10
