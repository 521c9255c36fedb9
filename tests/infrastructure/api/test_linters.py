"""Tests that OpenAPI linters accept openapi.yaml.

They report neither errors nor warnings.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import npm
from tests.generated import DESCRIPTION, description


def redocly_problems(path: Path) -> list[Any]:
    """Return the problems that Redocly's recommended rules report."""
    process = npm.run("redocly", "lint", path, "--extends", "recommended", "--format", "json", folder=path.parent)
    problems: list[Any] = json.loads(process.stdout)["problems"]
    return problems


def spectral_problems(path: Path) -> list[Any]:
    """Return the problems that Spectral's OpenAPI rules report."""
    ruleset = npm.FOLDER / "spectral.yaml"
    process = npm.run("spectral", "lint", path, "--ruleset", ruleset, "--format", "json", "--quiet")
    problems: list[Any] = json.loads(process.stdout)
    return problems


@pytest.mark.parametrize("linter", [redocly_problems, spectral_problems])
def test_openapi_linters_report_no_problem(linter: Any) -> None:
    assert linter(DESCRIPTION) == []


@pytest.mark.parametrize("linter", [redocly_problems, spectral_problems])
def test_linters_report_an_invalid_example(linter: Any, tmp_path: Path) -> None:
    document = yaml.safe_load(yaml.safe_dump(description()))
    document["paths"]["/v1/usage"]["get"]["responses"]["200"]["content"]["application/json"]["example"]["quota"] = 1
    (tmp_path / "openapi.yaml").write_text(yaml.safe_dump(document))
    assert any("quota" in json.dumps(problem) for problem in linter(tmp_path / "openapi.yaml"))
