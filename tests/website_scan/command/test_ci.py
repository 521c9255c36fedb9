"""docs/ci.md and deploy/gitlab.yml: shell samples are run, all others are compared with what they describe."""

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
OURS = "your-organization/website-scan-service@main"
BROWSERLESS = {"SCAN_BROWSER": "off", "SCAN_ALLOWED_NETWORKS": "127.0.0.0/8"}

pytestmark = pytest.mark.xdist_group("installed")


def samples(language: str) -> list[str]:
    """Return the code blocks of a language, also those within lists."""
    found = re.findall(rf"^( *)```{language}\n(.*?)^ *```$", DOC, re.MULTILINE | re.DOTALL)
    return [re.sub(f"^{indent}", "", text, flags=re.MULTILINE) for indent, text in found]


def schema(name: str) -> Any:
    return json.loads(files("check_jsonschema.builtin_schemas.vendor").joinpath(f"{name}.json").read_text())


def valid(document: Any, name: str) -> None:
    jsonschema.validate(document, schema(name))


def steps() -> list[dict[str, Any]]:
    """Return all steps of the samples for GitHub."""
    found: list[dict[str, Any]] = []
    for sample in map(yaml.safe_load, samples("yaml")):
        if isinstance(sample, list):
            found += sample
        elif "jobs" in sample:
            found += sample["jobs"]["scan"]["steps"]
    return found


def test_the_action_and_its_samples_are_what_github_takes() -> None:
    valid(ACTION, "github-actions")
    jobs = {"scan": {"runs-on": "ubuntu-latest", "steps": steps()}}
    valid({"on": "push", "jobs": jobs}, "github-workflows")
    (whole,) = (each for each in samples("yaml") if "jobs:" in each)
    workflow = yaml.safe_load(whole)
    workflow["on"] = workflow.pop(True)  # YAML 1.1 parses a plain `on` as true, unlike GitHub
    valid(workflow, "github-workflows")


def test_samples_use_inputs_and_outputs_that_there_are() -> None:
    ours = [each for each in steps() if each.get("uses") == OURS]
    assert len(ours) == 5
    for each in ours:
        assert each["with"].keys() <= ACTION["inputs"].keys()
    assert set(re.findall(r"steps\.scan\.outputs\.([\w-]+)", DOC)) <= ACTION["outputs"].keys()
    for title, known in (("input", ACTION["inputs"]), ("output", ACTION["outputs"])):
        table = re.search(rf"^\| {title} \| meaning \|\n\|---\|---\|\n((?:\|.*\n)+)", DOC, re.MULTILINE)
        assert table is not None
        told = [name for row in table[1].splitlines() for name in re.findall(r"`([\w-]+)`", row.split("|")[1])]
        assert sorted(told) == sorted(known)


def test_the_samples_for_gitlab_are_what_it_takes() -> None:
    valid(GITLAB, "gitlab-ci")
    ours = [each for each in map(yaml.safe_load, samples("yaml")) if "website-scan" in each]
    assert len(ours) == 2
    for each in ours:
        assert each["website-scan"]["variables"].keys() <= GITLAB["website-scan"]["variables"].keys()
        including = {"include": each["include"]} if "include" in each else {}
        job = GITLAB["website-scan"]
        whole = job | {"variables": job["variables"] | each["website-scan"]["variables"]}
        valid({**including, "website-scan": whole}, "gitlab-ci")


def run(script: str, folder: Path, installed: Path, site: Site, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a script in the folder, with `website-scan` as installed. The samples' URL becomes the site's."""
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
    """Return a folder for PATH with a start script: packages in a folder of their own need PYTHONPATH."""
    program = folder.parent / f"{folder.name}-bin" / "website-scan"
    if not program.exists():
        program.parent.mkdir()
        program.write_text(
            f'#!/bin/sh\nPYTHONPATH="{installed}" exec "{sys.executable}" "{installed}/bin/website-scan" "$@"\n'
        )
        program.chmod(0o755)
    return program.parent


@pytest.mark.slow
def test_every_sample_of_a_shell_runs(installed: Path, shop: Site, tmp_path: Path) -> None:
    (tmp_path / "public").mkdir()
    (tmp_path / "public" / "index.html").write_text(
        "<!doctype html><html lang=en><title>Preview</title><h1>Preview</h1>"
    )
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = str(listener.getsockname()[1])
    accept, news, write, gate, again, _, install, statuses, preview = samples("bash")
    for each in (accept, news, write, gate, again):
        ran = run(each, tmp_path, installed, shop)
        assert ran.returncode == 0, (each, ran.stderr)
    assert "-m venv" in install  # runs with the action, whose packages it uses
    ran = run(statuses, tmp_path, installed, shop)
    assert (ran.returncode, ran.stdout.splitlines()[-1]) in {(0, "Good."), (1, "The gate failed.")}, ran.stderr
    unreached = statuses.replace("https://example.com", "http://10.0.0.1")
    assert run(unreached, tmp_path, installed, shop).stdout.splitlines()[-1].startswith("A scan failed")
    ran = run(preview.replace("8000", port), tmp_path, installed, shop, SCAN_ALLOWED_NETWORKS="")
    assert ran.returncode == 0, ran.stderr
    assert f"http://localhost:{port}/  seo" in ran.stdout


@pytest.mark.slow
def test_the_sample_for_jenkins_runs(installed: Path, shop: Site, tmp_path: Path) -> None:
    ran = run("website-scan https://example.com/ --write-baseline known.json --quiet", tmp_path, installed, shop)
    assert ran.returncode == 0, ran.stderr
    (script,) = re.findall(r"sh '''\n(.*?)'''", samples("groovy")[0], re.DOTALL)
    ran = run(script, tmp_path, installed, shop)
    assert ran.returncode == 0, ran.stderr
    assert {each.name for each in (tmp_path / "website-scan").iterdir()} == {"junit.xml", "report.html"}


@pytest.mark.slow
def test_the_job_for_gitlab_runs_and_leaves_its_reports(installed: Path, shop: Site, tmp_path: Path) -> None:
    job = GITLAB["website-scan"]
    variables = {name: value for name, value in job["variables"].items() if "$" not in value}
    urls = f"{shop.url_as('localhost')}/ {shop.url_as('localhost')}/shop?a=*"
    given = variables | {"WEBSITE_SCAN_URLS": urls, "WEBSITE_SCAN_OPTIONS": "--type=seo --fail-under=100"}
    ran = run(job["script"][0], tmp_path, installed, shop, **given)
    assert (ran.returncode, "Gate failed: seo" in ran.stderr) == (1, True), ran.stderr
    paths = job["artifacts"]["reports"]
    assert all((tmp_path / each).is_file() for each in paths.values())
    entries = json.loads((tmp_path / paths["codequality"]).read_text())
    jsonschema.validate(entries, CODE_QUALITY)
    host = f"localhost_{shop.port}"
    assert {each["location"]["path"] for each in entries} == {host, f"{host}/shop%3Fa=*"}


@pytest.mark.slow
def test_the_job_for_gitlab_installs_the_command_where_there_is_none(
    repository: Path, installed: Path, shop: Site, tmp_path: Path
) -> None:
    job = GITLAB["website-scan"]
    given = {"WEBSITE_SCAN_URLS": f"{shop.url_as('localhost')}/", "WEBSITE_SCAN_OPTIONS": "--type=seo"}
    given |= {"HOME": str(tmp_path / "home"), "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
    given |= {name: value for name, value in os.environ.items() if re.match("UV_|SSL_CERT", name)}
    ran = run(job["script"][0], tmp_path, installed, shop, **given)
    assert ran.returncode != 0
    assert "WEBSITE_SCAN_SOURCE" in ran.stderr
    ran = run(job["script"][0], tmp_path, installed, shop, WEBSITE_SCAN_SOURCE=str(repository), **given)
    skip_without_registry(ran.returncode, ran.stderr)
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "website-scan" / "report.html").is_file()


@pytest.mark.slow
def test_settings_of_the_sample_are_understood(installed: Path, shop: Site, tmp_path: Path) -> None:
    _, settings = samples("toml")
    (tmp_path / "website-scan.toml").write_text(settings.replace("https://example.com", shop.url_as("localhost")))
    # The first command writes the baseline that the file names. Later ones compare with it.
    for each in ("website-scan --type seo --write-baseline known.json", "website-scan --type seo"):
        ran = run(each, tmp_path, installed, shop)
        assert ran.returncode == 0, ran.stderr
    assert "Accepted (" in ran.stdout
    (tmp_path / "known.json").unlink()
    assert run("website-scan --type seo", tmp_path, installed, shop).returncode == 2


@pytest.mark.slow
def test_a_gate_of_five_minutes_is_green_then_red_then_green(installed: Path, shop: Site, tmp_path: Path) -> None:
    """From a folder with a static site, with the samples of the recipe alone."""
    page = tmp_path / "public" / "index.html"
    page.parent.mkdir()
    whole = "<!doctype html><html lang=en><title>Preview</title><h1>Preview</h1><img src=/a.png>"
    page.write_text(whole)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    accept, news, *_ = samples("bash")
    (tmp_path / "website-scan.toml").write_text("")
    for each in (accept, news):
        ran = run(each, tmp_path, installed, shop, SCAN_ALLOWED_NETWORKS="")
        assert ran.returncode == 0, ran.stderr
    (tmp_path / "website-scan.toml").write_text(samples("toml")[0])
    for content, status, told in (
        (f"{whole}<a href=/></a>", 1, "Gate failed: "),
        (whole, 0, "Gate passed: 4 reports of 1 page."),
    ):
        page.write_text(content)
        ran = run("website-scan", tmp_path, installed, shop, SCAN_ALLOWED_NETWORKS="")
        assert (ran.returncode, told in ran.stderr) == (status, True), ran.stderr
