"""Test .pre-commit-hooks.yaml with pre-commit."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.command_line import ROOT
from tests.website_scan.command.conftest import skip_without_registry

HOOKS = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
SAMPLE = re.search(r"```yaml\n(repos:.*?)```", (ROOT / "docs" / "ci.md").read_text(encoding="utf-8"), re.DOTALL)
AUTHOR = ("-c", "user.name=A", "-c", "user.email=a@example.com")
INHERITED = re.compile("PATH$|PIP_|UV_|SSL_CERT")
TIMEOUT_S = 250


def run(folder: Path, *command: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a program without the settings of this machine.

    Only its package registry is kept.
    """
    home = folder.parent
    environment = {name: value for name, value in os.environ.items() if INHERITED.match(name)}
    environment |= {"HOME": str(home), "PRE_COMMIT_HOME": str(home / "hooks"), "GIT_CONFIG_GLOBAL": os.devnull}
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    return subprocess.run(
        command, cwd=folder, env=environment | variables, capture_output=True, text=True, timeout=TIMEOUT_S
    )


def commit_all(folder: Path) -> str:
    """Commit all files to a new Git repository and return the hash."""
    for command in (("init", "--quiet"), ("add", "--all"), (*AUTHOR, "commit", "--quiet", "--message=All")):
        ran = run(folder, "git", *command)
        assert ran.returncode == 0, ran.stderr
    return run(folder, "git", "rev-parse", "HEAD").stdout.strip()


def test_documented_sample_has_the_ID_of_the_hook() -> None:
    assert SAMPLE
    (repository,) = yaml.safe_load(SAMPLE[1])["repos"]
    assert [hook["id"] for hook in repository["hooks"]] == [hook["id"] for hook in HOOKS]


@pytest.mark.slow
def test_push_is_refused_if_the_gate_fails(repository: Path, tmp_path: Path) -> None:
    source, project = tmp_path / "source", tmp_path / "project"
    run(tmp_path, "cp", "-r", str(repository), str(source))
    revision = commit_all(source)
    (project / "public").mkdir(parents=True)
    (project / "public" / "index.html").write_text("<!doctype html><html lang=en><title>Shop</title><h1>Shop</h1>")
    hook = {"id": "website-scan", "args": ["--serve=public", "--type=seo", "--fail-under=100"]}
    repos = [{"repo": str(source), "rev": revision, "hooks": [hook]}]
    (project / ".pre-commit-config.yaml").write_text(yaml.safe_dump({"repos": repos}))
    commit_all(project)
    ran = run(project, "pre-commit", "install", "--hook-type", "pre-push")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    variables = {"SCAN_BROWSER": "off"}
    run(tmp_path, "git", "init", "--quiet", "--bare", str(tmp_path / "remote"))
    push = ("git", "push", str(tmp_path / "remote"), "HEAD:refs/heads/main")
    ran = run(project, *push, **variables)
    skip_without_registry(ran.returncode, ran.stdout + ran.stderr)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "Gate failed: seo of" in ran.stdout + ran.stderr
    ran = run(project, *push, **variables, SKIP="website-scan")
    assert ran.returncode == 0, ran.stdout + ran.stderr
