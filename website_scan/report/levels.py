"""Levels of findings in each output format.

They depend on status and severity (table in docs/ci.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from website_scan.findings import Severity
from website_scan.report_json import ExportedFinding


class Level(Struct, frozen=True):
    """Level of a finding, in the terms of all output formats.

    `mark` and `word` are for text and Markdown, `sarif` is SARIF's level, `security_severity` the CVSS-like number of
    security rules in code scanning, `problem_severity` the severity of its other rules, and `code_quality` GitLab's
    severity. For a finding that is not `gated`, a gate fails only if it lists the finding's outcome by name.
    """

    mark: str
    word: str
    sarif: Literal["error", "warning", "note"]
    security_severity: str
    code_quality: Literal["blocker", "critical", "major", "minor", "info"]
    gated: bool

    @property
    def problem_severity(self) -> Literal["error", "warning", "recommendation"]:
        return "recommendation" if self.sarif == "note" else self.sarif


# Warnings are suggestions or uncertain, so they are never critical, never errors, and not gated.
LEVELS: Mapping[tuple[str, str], Level] = {
    ("fail", Severity.CRITICAL): Level("✗", "failed", "error", "9.5", "blocker", gated=True),
    ("fail", Severity.HIGH): Level("✗", "failed", "error", "8.0", "critical", gated=True),
    ("fail", Severity.MEDIUM): Level("✗", "failed", "warning", "5.5", "major", gated=True),
    ("fail", Severity.LOW): Level("✗", "failed", "note", "3.0", "minor", gated=True),
    ("warn", Severity.HIGH): Level("!", "warning", "warning", "5.5", "major", gated=False),
    ("warn", Severity.MEDIUM): Level("!", "warning", "note", "3.0", "info", gated=False),
    ("warn", Severity.LOW): Level("!", "warning", "note", "3.0", "info", gated=False),
}


def finding_level(finding: ExportedFinding) -> Level:
    """Return the level of a finding by its status and severity."""
    return LEVELS[finding["status"], finding["severity"]]
