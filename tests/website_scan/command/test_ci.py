"""Tests for the samples in docs/ci.md and deploy/gitlab.yml.

Shell samples are run, other samples are validated.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from tests.command_line import ROOT
from tests.targets.server import Site
from tests.website_scan.command.conftest import skip_without_registry
from tests.website_scan.command.test_formats import CODE_QUALITY

DOC = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
GITLAB: dict[str, Any] = yaml.safe_load((ROOT / "deploy" / "gitlab.yml").read_text(encoding="utf-8"))
ACTION_REFERENCE = "your-organization/website-scan-service@main"
BROWSERLESS = {"SCAN_BROWSER": "off", "SCAN_ALLOWED_NETWORKS": "127.0.0.0/8"}

pytestmark = pytest.mark.xdist_group("installed")


def samples(language: str) -> list[str]:
    """Return the code blocks of a language.

    Blocks within lists are included.
    """
    blocks = re.findall(rf"^( *)```{language}\n(.*?)^ *```$", DOC, re.MULTILINE | re.DOTALL)
    return [re.sub(f"^{indent}", "", text, flags=re.MULTILINE) for indent, text in blocks]


def schema(name: str) -> Any:
    return json.loads(files("check_jsonschema.builtin_schemas.vendor").joinpath(f"{name}.json").read_text())


def validate(content: Any, name: str) -> None:
    jsonschema.validate(content, schema(name))


def steps() -> list[dict[str, Any]]:
    """Return all steps of the samples for GitHub."""
    all_steps: list[dict[str, Any]] = []
    for sample in map(yaml.safe_load, samples("yaml")):
        if isinstance(sample, list):
            all_steps += sample
        elif "jobs" in sample:
            all_steps += sample["jobs"]["scan"]["steps"]
    return all_steps


def test_action_is_valid_for_github() -> None:
    validate(ACTION, "github-actions")
    jobs = {"scan": {"runs-on": "ubuntu-latest", "steps": steps()}}
    validate({"on": "push", "jobs": jobs}, "github-workflows")
    workflows = [yaml.safe_load(sample) for sample in samples("yaml") if "jobs:" in sample]
    assert len(workflows) == 2
    for workflow in workflows:
        workflow["on"] = workflow.pop(True)  # Unlike GitHub, YAML 1.1 parses a plain `on` as true.
        validate(workflow, "github-workflows")


def test_samples_match_the_inputs_and_outputs() -> None:
    action_steps = [step for step in steps() if step.get("uses") == ACTION_REFERENCE]
    assert len(action_steps) == 7
    for step in action_steps:
        assert step.get("with", {}).keys() <= ACTION["inputs"].keys()
    assert set(re.findall(r"steps\.scan\.outputs\.([\w-]+)", DOC)) <= ACTION["outputs"].keys()
    for title, declared in (("input", ACTION["inputs"]), ("output", ACTION["outputs"])):
        table = re.search(rf"^\| {title} \| meaning \|\n\|---\|---\|\n((?:\|.*\n)+)", DOC, re.MULTILINE)
        assert table is not None
        documented = [name for row in table[1].splitlines() for name in re.findall(r"`([\w-]+)`", row.split("|")[1])]
        assert sorted(documented) == sorted(declared)


def test_samples_for_gitlab_are_valid() -> None:
    validate(GITLAB, "gitlab-ci")
    pipelines = [sample for sample in map(yaml.safe_load, samples("yaml")) if "website-scan" in sample]
    assert len(pipelines) == 5
    for pipeline in pipelines:
        assert pipeline["website-scan"]["variables"].keys() <= GITLAB["website-scan"]["variables"].keys()
        including = {name: job for name, job in pipeline.items() if name != "website-scan"}
        job = GITLAB["website-scan"]
        whole = job | {"variables": job["variables"] | pipeline["website-scan"]["variables"]}
        validate({**including, "website-scan": whole}, "gitlab-ci")


def run(script: str, folder: Path, installed: Path, site: Site, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a shell script with the installed `website-scan`.

    The site's URL replaces the URL of the sample.
    """
    return subprocess.run(
        ["bash", "-e", "-c", script.replace("https://example.com", site.url_as("localhost"))],
        cwd=folder,
        env={name: os.environ[name] for name in ("HOME", "PATH")}
        | {"PATH": f"{commands(folder, installed)}:{os.environ['PATH']}", "SCAN_CA_BUNDLE": str(site.ca_file)}
        | BROWSERLESS
        | variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )


def commands(folder: Path, installed: Path) -> Path:
    """Return a folder for PATH with the installed `website-scan`."""
    program = folder.parent / f"{folder.name}-bin" / "website-scan"
    if not program.exists():
        program.parent.mkdir()
        program.write_text(
            f'#!/bin/sh\nPYTHONPATH="{installed}" exec "{sys.executable}" "{installed}/bin/website-scan" "$@"\n'
        )
        program.chmod(0o755)
    return program.parent


@pytest.mark.slow
def test_shell_samples_run(installed: Path, shop: Site, tmp_path: Path) -> None:
    (tmp_path / "public").mkdir()
    (tmp_path / "public" / "index.html").write_text(
        "<!doctype html><html lang=en><title>Preview</title><h1>Preview</h1>"
    )
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = str(listener.getsockname()[1])
    accept, news, again, _, install, statuses, preview = samples("bash")
    for script in (accept, news, again):
        ran = run(script, tmp_path, installed, shop)
        assert ran.returncode == 0, (script, ran.stderr)
    # The tests of the action install the command in the same way.
    assert "-m venv" in install
    ran = run(statuses, tmp_path, installed, shop)
    assert (ran.returncode, ran.stdout.splitlines()[-1]) in {(0, "Good."), (1, "The gate failed.")}, ran.stderr
    unreached = statuses.replace("https://example.com", "http://10.0.0.1")
    assert run(unreached, tmp_path, installed, shop).stdout.splitlines()[-1].startswith("A scan failed")
    ran = run(preview.replace("8000", port), tmp_path, installed, shop, SCAN_ALLOWED_NETWORKS="")
    assert ran.returncode == 0, ran.stderr
    assert f"http://localhost:{port}/  seo" in ran.stdout


@pytest.mark.slow
def test_sample_for_jenkins_runs(installed: Path, shop: Site, tmp_path: Path) -> None:
    ran = run("website-scan https://example.com/ --write-baseline known.json --quiet", tmp_path, installed, shop)
    assert ran.returncode == 0, ran.stderr
    (script,) = re.findall(r"sh '''\n(.*?)'''", samples("groovy")[0], re.DOTALL)
    ran = run(script, tmp_path, installed, shop)
    assert ran.returncode == 0, ran.stderr
    assert {file.name for file in (tmp_path / "website-scan").iterdir()} == {"junit.xml", "report.html"}


@pytest.mark.slow
def test_gitlab_job_runs_and_writes_its_reports(installed: Path, shop: Site, tmp_path: Path) -> None:
    job = GITLAB["website-scan"]
    variables = {name: value for name, value in job["variables"].items() if "$" not in value}
    urls = f"{shop.url_as('localhost')}/ {shop.url_as('localhost')}/shop?a=*"
    all_variables = variables | {"WEBSITE_SCAN_URLS": urls, "WEBSITE_SCAN_OPTIONS": "--type=seo --fail-under=100"}
    ran = run(job["script"][0], tmp_path, installed, shop, **all_variables)
    assert (ran.returncode, "Gate failed: seo" in ran.stderr) == (1, True), ran.stderr
    paths = job["artifacts"]["reports"]
    assert all((tmp_path / path).is_file() for path in paths.values())
    entries = json.loads((tmp_path / paths["codequality"]).read_text())
    jsonschema.validate(entries, CODE_QUALITY)
    host = f"localhost_{shop.port}"
    assert {entry["location"]["path"] for entry in entries} == {host, f"{host}/shop%3Fa=*"}


@pytest.mark.slow
def test_gitlab_job_executes_the_journey(installed: Path, shop: Site, tmp_path: Path) -> None:
    (tmp_path / "log in.txt").write_text("open /\njudge “Start”\n")
    variables = {"WEBSITE_SCAN_URLS": f"{shop.url_as('localhost')}/", "WEBSITE_SCAN_JOURNEY": "log in.txt"}
    ran = run(GITLAB["website-scan"]["script"][0], tmp_path, installed, shop, **variables)
    assert (ran.returncode, "--journey needs a browser." in ran.stderr) == (2, True), ran.stderr


@pytest.mark.slow
def test_gitlab_job_installs_a_missing_command(repository: Path, installed: Path, shop: Site, tmp_path: Path) -> None:
    job = GITLAB["website-scan"]
    variables = {"WEBSITE_SCAN_URLS": f"{shop.url_as('localhost')}/", "WEBSITE_SCAN_OPTIONS": "--type=seo"}
    variables |= {"HOME": str(tmp_path / "home"), "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
    variables |= {name: value for name, value in os.environ.items() if re.match("UV_|SSL_CERT", name)}
    ran = run(job["script"][0], tmp_path, installed, shop, **variables)
    assert ran.returncode != 0
    assert "WEBSITE_SCAN_SOURCE" in ran.stderr
    ran = run(job["script"][0], tmp_path, installed, shop, WEBSITE_SCAN_SOURCE=str(repository), **variables)
    skip_without_registry(ran.returncode, ran.stderr)
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "website-scan" / "report.html").is_file()


@pytest.mark.slow
def test_settings_of_the_toml_sample_are_valid(installed: Path, shop: Site, tmp_path: Path) -> None:
    _, settings = samples("toml")
    (tmp_path / "website-scan.toml").write_text(settings.replace("https://example.com", shop.url_as("localhost")))
    # The first command writes the baseline that the second command reads.
    for script in ("website-scan --type seo --write-baseline known.json", "website-scan --type seo"):
        ran = run(script, tmp_path, installed, shop)
        assert ran.returncode == 0, ran.stderr
    assert "Accepted (" in ran.stdout
    (tmp_path / "known.json").unlink()
    assert run("website-scan --type seo", tmp_path, installed, shop).returncode == 2


@pytest.mark.slow
def test_gate_recipe_fails_only_for_a_new_fault(installed: Path, shop: Site, tmp_path: Path) -> None:
    """Only the samples of the recipe are run, in a folder with a static site."""
    page = tmp_path / "public" / "index.html"
    page.parent.mkdir()
    whole = "<!doctype html><html lang=en><title>Preview</title><h1>Preview</h1><img src=/a.png>"
    page.write_text(whole)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    accept, news, *_ = samples("bash")
    (tmp_path / "website-scan.toml").write_text("")
    for script in (accept, news):
        ran = run(script, tmp_path, installed, shop, SCAN_ALLOWED_NETWORKS="")
        assert ran.returncode == 0, ran.stderr
    (tmp_path / "website-scan.toml").write_text(samples("toml")[0])
    for content, status, words in (
        (f"{whole}<a href=/></a>", 1, "Gate failed: "),
        (whole, 0, "Gate passed: 4 reports of 1 page."),
    ):
        page.write_text(content)
        ran = run("website-scan", tmp_path, installed, shop, SCAN_ALLOWED_NETWORKS="")
        assert (ran.returncode, words in ran.stderr) == (status, True), ran.stderr
