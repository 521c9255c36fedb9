"""A minimal GitHub runner for action.yml: it runs the steps of a composite action as a job would.

Steps that use other actions are not run but faked: setup-python returns the interpreter of the tests, cache nothing.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

REFERENCE = r"(?:inputs|steps|runner)\.[\w.-]+"
ANSWERS: Mapping[str, Mapping[str, str]] = {
    "actions/setup-python": {"python-path": sys.executable},
    "actions/cache": {},
}
# Variables of the machine that a step gets: where it finds programs, and the registry of packages.
PASSED = re.compile("HOME$|PATH$|PIP_|UV_|SSL_CERT")
TIMEOUT_S = 280


@dataclass(frozen=True, slots=True)
class Ran:
    """The result that a job sees: the status of the step that failed, outputs, summary, and the log."""

    status: int
    outputs: Mapping[str, str]
    summary: str
    log: str
    steps: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


class Action:
    """The action of a folder, on one runner: what one run installs, the next one finds."""

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
    ) -> Ran:
        """Run the action as `uses:` would, with these inputs, `_` for `-`. `until` is the last step to run."""
        given = {name.replace("_", "-"): value for name, value in inputs.items()}
        assert given.keys() <= self.definition["inputs"].keys()
        defaults = {name: str(each.get("default", "")) for name, each in self.definition["inputs"].items()}
        context: dict[str, Any] = {
            "inputs": defaults | given,
            "steps": {},
            "runner": {"os": "Linux", "arch": "X64", "temp": str(self.temporary)},
        }
        summary = self.temporary / "summary"
        summary.write_text("")
        log, status = "", 0
        for step in self.definition["runs"]["steps"]:
            if "if" in step and not _holds(step["if"], context):
                continue
            outputs: Mapping[str, str] = {}
            if "uses" in step:
                outputs = ANSWERS[step["uses"].partition("@")[0]]
                assert all(_filled(str(each), context) for each in step["with"].values())
            else:
                variables = {name: _filled(value, context) for name, value in step.get("env", {}).items()}
                status, said, outputs = self._run(step, workspace, {**(environment or {}), **variables}, summary)
                log += said
            context["steps"][step.get("id", "")] = {"outputs": outputs}
            if status or (until and step.get("id") == until):
                break
        shown = {name: _filled(each["value"], context) for name, each in self.definition["outputs"].items()}
        return Ran(status, shown, summary.read_text(), log, context["steps"])

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
            env={name: value for name, value in os.environ.items() if PASSED.match(name)}
            | {
                "PIP_RETRIES": "1",
                "UV_HTTP_RETRIES": "1",
                "GITHUB_ACTION_PATH": str(self.folder),
                "GITHUB_OUTPUT": str(output),
                "GITHUB_STEP_SUMMARY": str(summary),
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


def _filled(text: str, context: Mapping[str, Any]) -> str:
    return re.sub(r"\$\{\{ (" + REFERENCE + r") \}\}", lambda found: _value(found[1], context), text)


def _holds(condition: str, context: Mapping[str, Any]) -> bool:
    """Evaluate comparisons with strings, joined by `&&`."""
    for comparison in condition.split(" && "):
        found = re.fullmatch(f"({REFERENCE}) (==|!=) '([^']*)'", comparison)
        assert found is not None, comparison
        if (_value(found[1], context) == found[3]) != (found[2] == "=="):
            return False
    return True


def _value(reference: str, context: Mapping[str, Any]) -> str:
    """Return the value of a reference. As in GitHub, a missing value is empty."""
    found: Any = context
    for name in reference.split("."):
        found = found.get(name, {})
    return found if isinstance(found, str) else ""
