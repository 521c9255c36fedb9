"""Tests for `website-scan init`."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Mapping
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from tests.command_line import ROOT
from tests.website_scan.command.init.conftest import Init, create, file_names
from website_scan.command import local
from website_scan.command.arguments import parse_arguments
from website_scan.command.configuration import KEYS, configuration
from website_scan.command.errors import EXIT_USAGE
from website_scan.command.init import command, jobs
from website_scan.command.init.folder import SetupFolder
from website_scan.command.init.plan import scan_plan
from website_scan.command.init.site import RecognizedSite, recognize_site
from website_scan.command.init.source import PLACEHOLDER, CommandSource
from website_scan.command.main import run

PAGE = "<!doctype html><html lang=en><meta charset=utf-8><title>The inn</title><h1>The inn</h1>"
TOML = "website-scan.toml"
VITE = json.dumps({"scripts": {"build": "vite build"}, "devDependencies": {"vite": "7"}})
NEXT = json.dumps({"scripts": {"build": "next build", "start": "next start"}, "dependencies": {"next": "16"}})
SITES: dict[str, Mapping[str, str]] = {
    "nothing": {},
    "static files": {"public/index.html": PAGE},
    "page in the root": {"index.html": PAGE},
    "build": {"package.json": VITE, "package-lock.json": ""},
    "generator": {"hugo.toml": ""},
    "server": {"package.json": NEXT},
}
SOURCES = (PLACEHOLDER, CommandSource("gitlab.example.com", "tools/scan", "v2"))
URLS = (None, "https://example.com/", "http://localhost:8000/a")


def validate(content: Any, name: str) -> None:
    schema = json.loads(resources("check_jsonschema.builtin_schemas.vendor").joinpath(f"{name}.json").read_text())
    jsonschema.validate(content, schema)


def longest_line(text: str) -> int:
    return max(map(len, text.splitlines()))


@pytest.mark.parametrize("url", URLS)
@pytest.mark.parametrize("site", SITES)
def test_configuration_can_be_read_with_and_without_its_examples(
    folder: Path, init: Init, site: str, url: str | None
) -> None:
    create(folder, SITES[site])
    assert init(*(["--url", url] if url else []))[0] == 0
    text = (folder / TOML).read_text()
    assert configuration(None).keys() <= {"urls", "serve"}
    # Of the two examples for these keys, one is text in a sentence.
    all_lines = re.sub(r"^# ((?:[a-z_-]+ = |\[|'''|open|click|judge).*)$", r"\1", text, flags=re.MULTILINE)
    (folder / TOML).write_text(all_lines)
    assert tomllib.loads(all_lines).keys() == KEYS.keys()
    assert len(configuration(None)["requirements"].rules) == 2
    assert longest_line(text) <= 90


def test_scan_with_the_configuration_judges_the_page(
    folder: Path, init: Init, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    create(folder, SITES["static files"])
    status, output = init()
    (line,) = re.findall(r"^  (website-scan.*)$", output, re.MULTILINE)
    monkeypatch.setattr(local, "browser", lambda: None)
    assert (status, run([*shlex.split(line)[1:], "--type", "seo", "--format", "json"])) == (0, 0)
    report = json.loads(capsys.readouterr().out)
    assert (report["type"], report["summary"]["total_checks"] > 10) == ("seo", True)


@pytest.mark.parametrize("url", URLS)
@pytest.mark.parametrize("site", SITES)
@pytest.mark.parametrize("source", SOURCES)
def test_jobs_are_valid_for_their_systems(
    folder: Path, init: Init, monkeypatch: pytest.MonkeyPatch, site: str, url: str | None, source: CommandSource
) -> None:
    monkeypatch.setattr(command, "command_source", lambda: source)
    create(folder, {**SITES[site], ".github/workflows/": "", ".gitlab-ci.yml": "test:\n  script: make\n"})
    assert init(*(["--url", url] if url else []))[0] == 0
    workflow = yaml.safe_load((folder / jobs.GITHUB_WORKFLOW).read_text())
    workflow["on"] = workflow.pop(True)  # Unlike GitHub, YAML 1.1 parses a plain `on` as true.
    validate(workflow, "github-workflows")
    (scan,) = (step for step in workflow["jobs"]["website-scan"]["steps"] if step.get("id") == "scan")
    assert scan["uses"] == f"{source.path}@{source.revision}"
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    assert scan.get("with", {}).keys() <= action["inputs"].keys()
    job = yaml.safe_load((folder / jobs.GITLAB_JOB).read_text())
    template = yaml.safe_load((ROOT / "deploy" / "gitlab.yml").read_text())["website-scan"]
    assert job["website-scan"]["variables"].keys() <= template["variables"].keys()
    whole = {**template, **job["website-scan"], "variables": template["variables"] | job["website-scan"]["variables"]}
    validate({**job, "website-scan": whole}, "gitlab-ci")


@pytest.mark.parametrize("site", SITES)
def test_pipeline_for_a_repository_without_one_is_valid(folder: Path, site: str) -> None:
    create(folder, SITES[site])
    plan = scan_plan(recognize_site(SetupFolder(folder)), None)
    pipeline = yaml.safe_load(jobs.gitlab_pipeline(plan))
    validate(pipeline, "gitlab-ci")
    assert pipeline["include"] == [{"local": f"/{jobs.GITLAB_JOB}"}]
    assert ("build" in pipeline) == (site == "build")


def test_existing_pipeline_of_gitlab_is_never_changed(folder: Path, init: Init) -> None:
    pipeline = "# Ours\ntest:\n  script: make\n"
    create(folder, {".gitlab-ci.yml": pipeline, "public/index.html": PAGE})
    for options in ([], ["--force"]):
        status, output = init(*options)
        assert status == 0
        assert "Add this to .gitlab-ci.yml:\n\n  include:\n    - local: /.gitlab/website-scan.yml\n" in output
        assert (folder / ".gitlab-ci.yml").read_text() == pipeline
    create(folder, {".gitlab-ci.yml": pipeline + jobs.GITLAB_INCLUDE})
    assert "Add this" not in init("--force")[1]


def test_existing_files_are_replaced_only_with_force(folder: Path, init: Init) -> None:
    create(folder, {TOML: "# mine\n", ".github/workflows/": ""})
    status, output = init()
    assert (status, (folder / TOML).read_text()) == (0, "# mine\n")
    assert "Exists, and was not changed: website-scan.toml (--force replaces it)\n" in output
    assert "Written: .github/workflows/website-scan.yml\n" in output
    assert "No finding fails the build yet" not in output
    create(folder, {jobs.GITHUB_WORKFLOW: "# mine\n"})
    status, output = init()
    assert (status, "Nothing was written; --force replaces them." in output) == (EXIT_USAGE, True)
    assert (folder / jobs.GITHUB_WORKFLOW).read_text() == "# mine\n"
    assert init("--force")[0] == 0
    assert "mine" not in (folder / TOML).read_text() + (folder / jobs.GITHUB_WORKFLOW).read_text()
    assert file_names(folder) == {TOML, jobs.GITHUB_WORKFLOW}


def test_systems_without_a_job_get_lines_for_a_shell(folder: Path, init: Init, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "command_source", lambda: SOURCES[1])
    create(folder, {"package.json": NEXT, "Jenkinsfile": ""})
    _, output = init()
    assert "Build system: Jenkins, because of Jenkinsfile\n" in output
    assert output.endswith(
        "Add these lines to the job of Jenkins:\n\n"
        "  npm install && npm run build\n"
        "  python3 -m venv .website-scan\n"
        '  .website-scan/bin/pip install --quiet "website-scan[browser] @ '
        'git+https://gitlab.example.com/tools/scan@v2"\n'
        "  .website-scan/bin/website-scan http://localhost:3000/ --start 'npm start'\n"
    )
    assert file_names(folder) == {"package.json", "Jenkinsfile", TOML}


def test_several_systems_are_all_named(folder: Path, init: Init) -> None:
    create(folder, {"Jenkinsfile": "", ".github/workflows/": ""})
    _, output = init()
    assert "Build systems: GitHub Actions (.github/workflows), Jenkins (Jenkinsfile)\n" in output
    assert "Written: .github/workflows/website-scan.yml\n" in output
    assert "Add these lines to the job of Jenkins:\n" in output


def test_empty_folder_gets_a_configuration(folder: Path, init: Init) -> None:
    status, output = init()
    assert (status, file_names(folder)) == (0, {TOML})
    assert "Site: not recognized\nBuild system: not recognized\n" in output
    assert "Write the address of your site into website-scan.toml, at `urls`." in output
    assert "Add these lines to a build job:" in output


def test_missing_build_precedes_the_first_scan(folder: Path, init: Init) -> None:
    create(folder, SITES["build"])
    assert "\n  npm ci && npm run build\n  website-scan\n" in init()[1]
    create(folder, {"dist/index.html": PAGE})
    assert "npm ci" not in init("--force")[1].partition("Add these lines")[0]


@pytest.mark.parametrize("site", SITES)
def test_output_fits_into_80_columns(folder: Path, init: Init, site: str) -> None:
    create(folder, {**SITES[site], ".github/workflows/": "", ".gitlab-ci.yml": ""})
    assert longest_line(init()[1]) <= 80


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("example.com", "https://example.com/"),
        ('https://example.com/a?b="${{x}}"\'$Y`z`', "https://example.com/a?b=%22%24%7B%7Bx%7D%7D%22%27%24Y%60z%60"),
        ("https://example.com/\u202e\u00e4", "https://example.com/%E2%80%AE%C3%A4"),
        ("https://10.0.0.5/", "https://10.0.0.5/"),
    ],
)
def test_published_page_is_escaped_in_the_file(folder: Path, init: Init, url: str, expected: str) -> None:
    create(folder, {"public/index.html": PAGE, ".github/workflows/": ""})
    assert init("--url", url)[0] == 0
    assert configuration(None) == {"urls": [expected]}
    assert parse_arguments([]).urls == (expected,)
    assert expected not in (folder / jobs.GITHUB_WORKFLOW).read_text()


@pytest.mark.parametrize("url", ["/about", "", "ftp://example.com/", "https://me:pw@example.com/", "http://a.invalid/"])
def test_invalid_urls_are_refused(folder: Path, init: Init, url: str) -> None:
    status, output = init("--url", url)
    assert (status, file_names(folder)) == (EXIT_USAGE, set())
    assert "pw" not in output


def test_page_of_this_machine_is_on_the_command_line(folder: Path, init: Init) -> None:
    create(folder, {"package.json": NEXT, ".github/workflows/": ""})
    _, output = init("--url", "localhost:8000/${{x}}")
    assert "\n  website-scan http://localhost:8000/%24%7B%7Bx%7D%7D --start 'npm start'\n" in output
    assert configuration(None) == {}
    assert 'urls: "http://localhost:8000/%24%7B%7Bx%7D%7D"\n' in (folder / jobs.GITHUB_WORKFLOW).read_text()


@pytest.mark.parametrize("name", ["a b", "it's", 'say "x"', "two\nlines", "\u202e", "-x", "$(touch x)", "caf\udce9"])
def test_command_for_a_folder_with_a_hostile_name_is_quoted(folder: Path, init: Init, name: str) -> None:
    create(folder / name, {"public/index.html": PAGE})
    status, output = init("--", name)
    assert (status, set(configuration(folder / name / TOML))) == (0, {"urls", "serve"})
    (line,) = (line for line in output.splitlines() if line.startswith("  cd "))
    assert line.isprintable()
    if name.isprintable():
        assert shlex.split(line)[-1].removeprefix("./") == name


@pytest.mark.parametrize("folder_name", ["missing", "file"])
def test_other_things_than_folders_are_refused(folder: Path, init: Init, folder_name: str) -> None:
    create(folder, {"file": ""})
    assert init(folder_name) == (EXIT_USAGE, f"website-scan: {folder_name} is not a folder.\n")
    assert file_names(folder) == {"file"}


def test_plan_of_a_local_page_ignores_static_files() -> None:
    plan = scan_plan(RecognizedSite("dist", "npm run build", "npm ci"), "http://localhost:1234/")
    assert (plan.folder, plan.build, plan.arguments) == ("", "", "http://localhost:1234/")
