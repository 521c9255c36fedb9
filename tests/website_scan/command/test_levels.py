"""Levels of findings: every format tells how serious a finding is by one table, and the gate fails by it."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import pytest

from tests.website_scan.command.reports import found, judged
from website_scan.command.formats.text import text
from website_scan.command.judged import Gate, Judged, Outcome
from website_scan.command.output import formatted
from website_scan.findings import Severity
from website_scan.report.levels import LEVELS, Level

# From the least serious on.
SARIF = ("note", "warning", "error")
CODE_QUALITY = ("info", "minor", "major", "critical", "blocker")


def report(status: str, severity: str) -> Judged:
    return judged(found("hsts", status, Severity(severity)), found("csp", "pass"))


def document(name: str, status: str, severity: str) -> str:
    return formatted(name, Outcome([report(status, severity)], [], 1, gate=Gate(fail_on=Severity.LOW)))


def test_every_finding_has_a_level() -> None:
    found = {(status, severity) for status in ("fail", "warn") for severity in Severity}
    assert set(LEVELS) == found - {("warn", Severity.CRITICAL)}


@pytest.mark.parametrize(("finding", "level"), LEVELS.items())
def test_all_formats_tell_the_level(finding: tuple[str, str], level: Level) -> None:
    status, severity = finding
    lines = list(text(report(status, severity)))
    assert f"    {level.mark} hsts is wrong ({severity}, Headers): Seen: hsts." in lines
    assert f"- **hsts is wrong** ({level.word}, {severity}, Headers, `hsts`)" in document("markdown", *finding)
    (run,) = json.loads(document("sarif", *finding))["runs"]
    (rule, _), (result,) = run["tool"]["driver"]["rules"], run["results"]
    assert result["level"] == rule["defaultConfiguration"]["level"] == level.sarif
    assert rule["properties"]["security-severity"] == level.security_severity
    (entry,) = json.loads(document("codequality", *finding))
    assert entry["severity"] == level.code_quality
    case = ElementTree.fromstring(document("junit", *finding)).find("testsuite/testcase[@name='hsts is well']")
    assert case is not None
    failure, passed = case.find("failure"), case.find("system-out")
    if level.gated:
        assert failure is not None
        assert failure.attrib["type"] == severity
    else:
        assert passed is not None
        assert (passed.text or "").startswith(f"Warning ({severity}): hsts is wrong\n")
    full = json.loads(document("full", *finding))["categories"][0]["checks"][0]
    assert (full["status"], full["severity"]) == finding


@pytest.mark.parametrize(("finding", "level"), LEVELS.items())
def test_the_gate_fails_for_the_levels_that_the_table_says(finding: tuple[str, str], level: Level) -> None:
    assert bool(Gate(fail_on=Severity.LOW).failing(report(*finding))) is level.gated
    assert bool(list(Gate(fail_on=Severity.LOW).complaints(report(*finding)))) is level.gated


@pytest.mark.parametrize("status", ["fail", "warn"])
def test_a_more_severe_finding_is_nowhere_less_serious(status: str) -> None:
    levels = [level for (found, _), level in LEVELS.items() if found == status]
    for order in (
        [SARIF.index(each.sarif) for each in levels],
        [CODE_QUALITY.index(each.code_quality) for each in levels],
        [float(each.security_severity) for each in levels],
    ):
        assert order == sorted(order, reverse=True)


def test_formats_agree_which_of_two_findings_is_more_serious() -> None:
    """What is worse in one format is not better in another."""
    ranks = [
        (SARIF.index(each.sarif), CODE_QUALITY.index(each.code_quality), float(each.security_severity))
        for each in LEVELS.values()
    ]
    for one in ranks:
        for other in ranks:
            pairs = list(zip(one, other, strict=True))
            assert all(a <= b for a, b in pairs) or all(a >= b for a, b in pairs), (one, other)


def test_a_warning_is_never_an_error_and_less_serious_than_the_failure() -> None:
    for severity in (Severity.HIGH, Severity.MEDIUM, Severity.LOW):
        failed, warned = LEVELS["fail", severity], LEVELS["warn", severity]
        assert warned.sarif != "error"
        assert SARIF.index(warned.sarif) <= SARIF.index(failed.sarif)
        assert CODE_QUALITY.index(warned.code_quality) < CODE_QUALITY.index(failed.code_quality)


@pytest.mark.parametrize("level", LEVELS.values())
def test_security_severities_are_in_github_s_range_of_their_name(level: Level) -> None:
    assert re.fullmatch(r"\d\.\d", level.security_severity)
    assert 0 < float(level.security_severity) <= 10
