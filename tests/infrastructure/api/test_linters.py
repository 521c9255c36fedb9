"""Linters of OpenAPI find nothing in openapi.yaml, neither an error nor a warning."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import npm
from tests.generated import DESCRIPTION, description


def redocly(path: Path) -> list[Any]:
    """Return the problems that Redocly's recommended rules find."""
    ran = npm.run("redocly", "lint", path, "--extends", "recommended", "--format", "json", folder=path.parent)
    found: list[Any] = json.loads(ran.stdout)["problems"]
    return found


def spectral(path: Path) -> list[Any]:
    """Return the problems that Spectral's rules for OpenAPI find."""
    ruleset = npm.FOLDER / "spectral.yaml"
    ran = npm.run("spectral", "lint", path, "--ruleset", ruleset, "--format", "json", "--quiet")
    found: list[Any] = json.loads(ran.stdout)
    return found


@pytest.mark.parametrize("linter", [redocly, spectral])
def test_a_linter_finds_nothing(linter: Any) -> None:
    assert linter(DESCRIPTION) == []


@pytest.mark.parametrize("linter", [redocly, spectral])
def test_a_linter_would_find_an_example_that_is_wrong(linter: Any, tmp_path: Path) -> None:
    wrong = yaml.safe_load(yaml.safe_dump(description()))
    wrong["paths"]["/v1/usage"]["get"]["responses"]["200"]["content"]["application/json"]["example"]["quota"] = 1
    (tmp_path / "openapi.yaml").write_text(yaml.safe_dump(wrong))
    assert any("quota" in json.dumps(each) for each in linter(tmp_path / "openapi.yaml"))
