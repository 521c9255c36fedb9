"""Minimal runner for the steps of action.yml.

Steps that use other actions are faked: setup-python returns the interpreter of the tests, cache returns nothing.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct, field

REFERENCE = r"(?:inputs|steps|runner)\.[\w.-]+"
FAKED_OUTPUTS: Mapping[str, Mapping[str, str]] = {
    "actions/setup-python": {"python-path": sys.executable},
    "actions/cache": {},
}
# A step inherits the paths of programs and the settings of the package registry.
INHERITED = re.compile("HOME$|PATH$|PIP_|UV_|SSL_CERT")
TIMEOUT_S = 280


class RunResult(Struct, frozen=True):
    """Exit status, outputs, job summary and log of a run."""

    status: int
    outputs: Mapping[str, str]
    summary: str
    log: str
    steps: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


class Action:
    """Composite action in a folder.

    Packages that a run installs remain for later runs.
    """

    def __init__(self, folder: Path, temporary: Path) -> None:
        self.folder = folder
        self.temporary = temporary
        self.definition: dict[str, Any] = yaml.safe_load((folder / "action.yml").read_text(encoding="utf-8"))

    def run(
        self,
        workspace: Path | None = None,
        environment: Mapping[str, str] | None = None,
        until: str = "",
        **inputs: str,
    ) -> RunResult:
        """Run the action up to the step with the ID `until`.

        An underscore in the name of an input stands for a hyphen.
        """
        inputs_by_name = {name.replace("_", "-"): value for name, value in inputs.items()}
        assert inputs_by_name.keys() <= self.definition["inputs"].keys()
        defaults = {name: str(declared.get("default", "")) for name, declared in self.definition["inputs"].items()}
        context: dict[str, Any] = {
            "inputs": defaults | inputs_by_name,
            "steps": {},
            "runner": {"os": "Linux", "arch": "X64", "temp": str(self.temporary)},
        }
        summary = self.temporary / "summary"
        summary.write_text("")
        log, status = "", 0
        for step in self.definition["runs"]["steps"]:
            if "if" in step and not _is_true_condition(step["if"], context):
                continue
            outputs: Mapping[str, str] = {}
            if "uses" in step:
                outputs = FAKED_OUTPUTS[step["uses"].partition("@")[0]]
                assert all(_replace_expressions(str(value), context) for value in step["with"].values())
            else:
                variables = {name: _replace_expressions(value, context) for name, value in step.get("env", {}).items()}
                status, step_log, outputs = self._run(step, workspace, {**(environment or {}), **variables}, summary)
                log += step_log
            context["steps"][step.get("id", "")] = {"outputs": outputs}
            if status or (until and step.get("id") == until):
                break
        action_outputs = {
            name: _replace_expressions(declared["value"], context)
            for name, declared in self.definition["outputs"].items()
        }
        return RunResult(status, action_outputs, summary.read_text(), log, context["steps"])

    def _run(
        self, step: Mapping[str, Any], workspace: Path | None, variables: Mapping[str, str], summary: Path
    ) -> tuple[int, str, Mapping[str, str]]:
        assert step["shell"] == "bash"
        output, script = self.temporary / "output", self.temporary / "script.sh"
        output.write_text("")
        script.write_text(step["run"])
        ran = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", script],
            cwd=workspace or self.temporary,
            env={name: value for name, value in os.environ.items() if INHERITED.match(name)}
            | {
                "PIP_RETRIES": "1",
                "UV_HTTP_RETRIES": "1",
                "GITHUB_ACTION_PATH": str(self.folder),
                "GITHUB_OUTPUT": str(output),
                "GITHUB_STEP_SUMMARY": str(summary),
                "GITHUB_WORKSPACE": str(workspace or self.temporary),
                "RUNNER_TEMP": str(self.temporary),
            }
            | dict(variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        outputs = dict(line.split("=", 1) for line in output.read_text().splitlines())
        return ran.returncode, ran.stdout, outputs


def _replace_expressions(text: str, context: Mapping[str, Any]) -> str:
    return re.sub(r"\$\{\{ (" + REFERENCE + r") \}\}", lambda match: _value_of_reference(match[1], context), text)


def _is_true_condition(condition: str, context: Mapping[str, Any]) -> bool:
    """Evaluate string comparisons that are joined by `&&`."""
    for comparison in condition.split(" && "):
        match = re.fullmatch(f"({REFERENCE}) (==|!=) '([^']*)'", comparison)
        assert match is not None, comparison
        if (_value_of_reference(match[1], context) == match[3]) != (match[2] == "=="):
            return False
    return True


def _value_of_reference(reference: str, context: Mapping[str, Any]) -> str:
    """Return the value of a reference.

    Like on GitHub, a missing value is an empty string.
    """
    value: Any = context
    for name in reference.split("."):
        value = value.get(name, {})
    return value if isinstance(value, str) else ""
