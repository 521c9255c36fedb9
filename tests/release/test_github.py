"""Tests for the files in .github/."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from check_jsonschema import main as check_jsonschema
from click.testing import CliRunner

ROOT = Path(__file__).resolve().parents[2]
GITHUB = ROOT / ".github"
WORKFLOW = GITHUB / "workflows" / "ci.yml"
SCHEMAS = {
    WORKFLOW: "github-workflows",
    GITHUB / "dependabot.yml": "dependabot",
    GITHUB / "ISSUE_TEMPLATE" / "config.yml": "github-issue-config",
    **{GITHUB / "ISSUE_TEMPLATE" / f"{name}.yml": "github-issue-forms" for name in ("bug", "false-finding", "feature")},
}


def jobs() -> dict[str, Any]:
    workflow: dict[str, Any] = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))
    jobs_by_name: dict[str, Any] = workflow["jobs"]
    return jobs_by_name


def test_every_yaml_file_has_a_schema() -> None:
    assert set(GITHUB.rglob("*.yml")) == SCHEMAS.keys()


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.name)
def test_file_matches_its_schema(path: Path) -> None:
    result = CliRunner().invoke(check_jsonschema, ["--builtin-schema", f"vendor.{SCHEMAS[path]}", str(path)])
    assert result.exit_code == 0, result.output


def test_ci_tests_every_supported_python() -> None:
    classifiers = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["classifiers"]
    supported = re.findall(r"Python :: (3\.\d+)", " ".join(classifiers))
    assert [entry["python"] for entry in jobs()["fast"]["strategy"]["matrix"]["include"]] == supported


def test_ci_runs_existing_make_targets() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    commands = [
        step["run"] for job in jobs().values() for step in job["steps"] if step.get("run", "").startswith("make")
    ]
    targets = [target for command in commands for target in command.split()[1:] if target != '"$TARGET"']
    targets += [entry["target"] for entry in jobs()["fast"]["strategy"]["matrix"]["include"]]
    assert {"lint", "types", "test", "coverage", "test-slow"} == set(targets)
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_ci_is_read_only() -> None:
    text = WORKFLOW.read_text(encoding="utf-8")
    assert yaml.safe_load(text)["permissions"] == {"contents": "read"}
    assert "secrets." not in text
    for action in re.findall(r"uses: (\S+)", text):
        assert re.fullmatch(r"actions/[a-z-]+@v\d+\.\d+\.\d+", action)


def test_devcontainer_installs_with_make() -> None:
    configuration = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert configuration["postCreateCommand"] == "make .venv/.dev"
    assert re.search(r"^DEV := \.venv/\.dev$", makefile, re.MULTILINE)
