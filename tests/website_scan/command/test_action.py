"""Run the steps of action.yml like GitHub."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from lxml import etree

from tests.command_line import ROOT
from tests.reports.sarif import assert_sarif
from tests.targets.server import Answer, Site
from tests.website_scan.command.composite import Action, RunResult
from tests.website_scan.command.conftest import skip_without_registry
from website_scan.net.browser import find_browser

ALLOWED = "127.0.0.0/8"
PATHS = ("sarif", "junit", "html", "json", "markdown")
# Workflow commands for the runner (docs.github.com): at the beginning of a line or, in the old syntax, anywhere.
WORKFLOW_COMMANDS = "::error::no\n::add-mask::a ##[add-mask]b"
DEFINITION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))

run_on_one_worker = [pytest.mark.slow, pytest.mark.xdist_group("action")]


def scan(action: Action, site: Site, workspace: Path, path: str = "/", **inputs: str) -> RunResult:
    """Scan the site without a browser, unless the inputs name one."""
    url = f"{site.url_as('localhost')}{path}"
    defaults = {"urls": url, "types": "seo", "allow_network": ALLOWED, "browser": "false"}
    return action.run(workspace, {"SCAN_CA_BUNDLE": str(site.ca_file)}, **(defaults | inputs))


def test_no_input_becomes_part_of_a_script() -> None:
    for step in DEFINITION["runs"]["steps"]:
        assert "${{" not in step.get("run", "")
    assert all(
        declared["description"] for declared in (*DEFINITION["inputs"].values(), *DEFINITION["outputs"].values())
    )


@pytest.mark.parametrize(
    ("line", "argument"),
    [
        ("--quiet", "--quiet"),
        ("--header=$STAGING", "--header=$STAGING"),
        ("--header $STAGING", "--header=$STAGING"),
        ("--header 'X-Key: a b'", "--header=X-Key: a b"),
        ('--header "X-Key: a b"', "--header=X-Key: a b"),
        ("--header X-Key: a b", "--header=X-Key: a b"),
        ("--header='X-Key: a b'", "--header=X-Key: a b"),
        ("  --header\tX-Key:  it's  ", "--header=X-Key:  it's"),
        ('--header X-Key: "a"', '--header=X-Key: "a"'),
        ("--cookie a=b=c", "--cookie=a=b=c"),
        (
            "--header X: $(touch pwned) `touch pwned` ; touch pwned *",
            "--header=X: $(touch pwned) `touch pwned` ; touch pwned *",
        ),
    ],
)
def test_every_options_line_becomes_an_option(
    printing_action: Action, tmp_path: Path, line: str, argument: str
) -> None:
    assert printed_arguments(printing_action, tmp_path, options=f"--no-color\n\n{line}\n") == ["--no-color", argument]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("line", "arguments"),
    [
        ("--header-for a.example.com 'X-Key: a b'", ["--header-for", "a.example.com", "X-Key: a b"]),
        ("--header-for  a.example.com\tX-Key: a b ", ["--header-for", "a.example.com", "X-Key: a b"]),
        ("--cookie-for a.example.com $SID", ["--cookie-for", "a.example.com", "$SID"]),
        ("--basic-auth-for http://localhost:3000 u:p w", ["--basic-auth-for", "http://localhost:3000", "u:p w"]),
        ("--header-for a.example.com", ["--header-for=a.example.com"]),
        ("--wait-for http://localhost:3000/ x", ["--wait-for=http://localhost:3000/ x"]),
    ],
)
def test_host_option_is_split(printing_action: Action, tmp_path: Path, line: str, arguments: list[str]) -> None:
    assert printed_arguments(printing_action, tmp_path, options=f"{line}\n--quiet") == [*arguments, "--quiet"]


def test_inputs_are_passed_to_the_command_unchanged(printing_action: Action, tmp_path: Path) -> None:
    inputs = {
        "urls": "http://localhost:3000/ http://localhost:3000/shop?a=*",
        "types": "seo, security",
        "fail_on_outcome": "hsts.short csp-present.missing",
        "accept": "server-version.shown",
        "serve": "out/my site",
        "start": "npm run preview -- --port '3000'",
        "wait_for": "http://localhost:3000/ready",
        "allow_network": "127.0.0.1/32:3000 [::1/128]:3000",
    }
    assert printed_arguments(printing_action, tmp_path, **inputs) == [
        *("http://localhost:3000/", "http://localhost:3000/shop?a=*", "--type=seo", "--type=security"),
        *("--fail-on-outcome=hsts.short", "--fail-on-outcome=csp-present.missing", "--accept=server-version.shown"),
        *("--allow-network=127.0.0.1/32:3000", "--allow-network=[::1/128]:3000", "--serve=out/my site"),
        *("--start=npm run preview -- --port '3000'", "--wait-for=http://localhost:3000/ready"),
    ]


def test_inputs_of_a_level_become_options(printing_action: Action, tmp_path: Path) -> None:
    inputs = {"fail_on_level": "AA", "standard": "en301549"}
    assert printed_arguments(printing_action, tmp_path, **inputs) == ["--fail-on-level=AA", "--standard=en301549"]


def test_inputs_of_requirements_become_options(printing_action: Action, tmp_path: Path) -> None:
    inputs = {"requirements": "own rules.toml", "budget": "budget.json\n\nmy assertions.json\n"}
    assert printed_arguments(printing_action, tmp_path, **inputs) == [
        *("--requirements=own rules.toml", "--budget=budget.json", "--budget=my assertions.json")
    ]


def test_inputs_of_a_site_become_options(printing_action: Action, tmp_path: Path) -> None:
    inputs = {"site": "https://example.com/", "sitemap": "out/my map.xml", "max_pages": "50"}
    assert printed_arguments(printing_action, tmp_path, **inputs) == [
        *("--site=https://example.com/", "--sitemap=out/my map.xml", "--max-pages=50")
    ]


def test_input_journey_becomes_an_option_for_each_file(printing_action: Action, tmp_path: Path) -> None:
    inputs = {"urls": "https://example.com/", "journey": "journeys/log in.txt\n\nbasket.json\n"}
    assert printed_arguments(printing_action, tmp_path, **inputs) == [
        *("https://example.com/", "--journey=journeys/log in.txt", "--journey=basket.json")
    ]


@pytest.mark.slow
@pytest.mark.xdist_group("action")
def test_plug_in_of_the_repository_judges_the_page(action: Action, shop: Site, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples" / "plugin", tmp_path / "tools" / "acme scan")
    ran = scan(action, shop, tmp_path, "/shop", plugins="\n./tools/acme scan\n")
    skip_without_registry(ran.status, ran.log)
    assert (ran.status, "acme-imprint" in Path(ran.outputs["json"]).read_text()) == (0, True), ran.log
    # Another step of the job does not have the plug-in.
    ran = scan(action, shop, tmp_path, "/shop")
    assert (ran.status, "acme-imprint" in Path(ran.outputs["json"]).read_text()) == (0, False), ran.log


@pytest.mark.slow
@pytest.mark.xdist_group("action")
@pytest.mark.parametrize("plugins", ["--index-url=https://example.com/", "./missing"])
def test_wrong_plug_in_fails_the_step(action: Action, tmp_path: Path, plugins: str) -> None:
    for _ in range(2):
        ran = action.run(tmp_path, browser="false", plugins=plugins, until="install")
        assert (ran.status, plugins.removeprefix("./") in ran.log) == (2, True), ran.log


@pytest.fixture
def printing_action(tmp_path_factory: pytest.TempPathFactory) -> Action:
    """Action whose command prints its arguments instead of scanning."""
    runner = tmp_path_factory.mktemp("runner")
    program = runner / "website-scan-command" / "bin" / "website-scan"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\nprintf '<%s>\\n' \"$@\"\n")
    program.chmod(0o755)
    return Action(ROOT, runner)


def printed_arguments(action: Action, workspace: Path, **inputs: Any) -> list[str]:
    """Return the arguments that the action passes to the command.

    The output options are left out.
    """
    ran = action.run(workspace, browser="false", **inputs)
    assert ran.status == 0, ran.log
    arguments = re.findall(r"^<(.*)>$", ran.log, re.MULTILINE)
    return arguments[: arguments.index("--format")]


def test_modules_of_the_project_are_not_executed(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    runner = tmp_path_factory.mktemp("runner")
    folder = runner / "website-scan-command-browser" / "bin"
    folder.mkdir(parents=True)
    for name, program in {
        "website-scan": "exit 0",
        "playwright": "echo 1",
        "python": f'exec {sys.executable} "$@"',
    }.items():
        (folder / name).write_text(f"#!/bin/sh\n{program}\n")
        (folder / name).chmod(0o755)
    evidence = tmp_path / "executed"
    for module in ("website_scan", "pip", "sitecustomize", "playwright", "uv"):
        (tmp_path / module).mkdir()
        (tmp_path / module / "__init__.py").write_text(f"open({str(evidence)!r}, 'w')")
    Action(ROOT, runner).run(tmp_path, until="browser", browser="true")
    assert not evidence.exists()


class TestRun:
    pytestmark = run_on_one_worker

    def test_action_writes_no_file_in_the_workspace(self, action: Action, shop: Site, tmp_path: Path) -> None:
        urls = " \n".join(f"{shop.url_as('localhost')}{path}" for path in ("/", "/shop"))
        ran = scan(action, shop, tmp_path, urls=urls, types="security, seo")
        assert ran.status == 0, ran.log
        assert ran.outputs["exit-status"] == "0"
        contents = {name: Path(ran.outputs[name]).read_text() for name in PATHS}
        log = json.loads(contents["sarif"])
        assert_sarif(log)
        assert [len(run["invocations"]) for run in log["runs"]] == [2, 2]
        schema = etree.XMLSchema(file=Path(__file__).with_name("junit.xsd"))
        schema.assertValid(etree.fromstring(contents["junit"].encode()))
        assert len(json.loads(contents["json"])["reports"]) == 4
        assert contents["html"].lstrip().startswith("<!doctype html>")
        assert ran.summary == contents["markdown"]
        assert f"| <{shop.url_as('localhost')}/shop> | seo |" in ran.summary
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize(
        ("inputs", "status", "words"),
        [
            ({"fail_under": "seo=1"}, 0, ""),
            ({"fail_under": "seo=100"}, 1, "Gate failed: seo of https://"),
            ({"fail_on": "terrible"}, 2, "invalid choice"),
            ({"urls": "--config=/etc/passwd"}, 2, "--config=/etc/passwd is not a URL."),
            ({"options": "--header=$NOT_SET"}, 2, "NOT_SET"),
            ({"urls": "http://10.0.0.1/"}, 3, "10.0.0.1 is private (RFC 1918)."),
        ],
    )
    def test_action_exits_with_the_status_of_the_command(
        self, action: Action, shop: Site, tmp_path: Path, inputs: dict[str, str], status: int, words: str
    ) -> None:
        ran = scan(action, shop, tmp_path, **inputs)
        assert (ran.status, words in ran.log) == (status, True), ran.log
        assert bool(ran.outputs["sarif"]) is (status != 2)
        assert ("The gate failed" in ran.summary) is (status == 1)

    def test_shell_syntax_in_inputs_is_not_executed(self, action: Action, shop: Site, tmp_path: Path) -> None:
        trap = '"; touch "$GITHUB_WORKSPACE"pwned; echo "$(touch pwned)`touch pwned`'
        for name in ("urls", "types", "fail_under", "baseline", "config", "allow_network", "options"):
            ran = scan(action, shop, tmp_path, **{name: trap})
            assert ran.status in (2, 3), (name, ran.log)
        assert list(tmp_path.iterdir()) == []

    def test_page_cannot_send_workflow_commands(self, action: Action, shop: Site, tmp_path: Path) -> None:
        shop.routes["/orders"] = Answer(
            f"<!doctype html><html lang=en><title>{WORKFLOW_COMMANDS}</title>"
            f"<a href='/{WORKFLOW_COMMANDS}'>::warning::</a>",
            headers={"Content-Type": "text/html", "Server": "##[add-mask]b/1.2.3"},
        )
        ran = scan(action, shop, tmp_path, "/orders", types="security seo")
        ignored = re.search(r"^::stop-commands::([0-9a-f]{32})\n(.*)^::\1::\n\Z", ran.log, re.MULTILINE | re.DOTALL)
        assert ignored is not None, ran.log
        assert "add-mask" in ignored[2]

    def test_credentials_are_read_from_the_environment(self, action: Action, shop: Site, tmp_path: Path) -> None:
        shop.routes["/keyed"] = lambda request: Answer("<title>In</title>" if request.header("X-Key") == "a b" else b"")
        shop.requests.clear()
        variables = {"SCAN_CA_BUNDLE": str(shop.ca_file), "STAGING": "X-Key: a b"}
        options = "--header=$STAGING\n\n--quiet\n"
        inputs = {"urls": f"{shop.url_as('localhost')}/keyed", "allow_network": ALLOWED, "browser": "false"}
        ran = action.run(tmp_path, variables, types="seo", options=options, **inputs)
        assert ran.status == 0, ran.log
        assert {request.header("X-Key") for request in shop.requests if request.path == "/keyed"} == {"a b"}

    def test_baseline_makes_only_new_findings_fail(self, action: Action, shop: Site, tmp_path: Path) -> None:
        head = "<!doctype html><html lang=en><head><meta charset=utf-8><title>A bakery in the old town</title>"
        shop.routes["/worse"] = Answer(f"{head}<body><h1>Bread</h1><img src=/bread.png>")
        written = scan(action, shop, tmp_path, "/worse", types="accessibility", options="--write-baseline=known.json")
        assert written.status == 0, written.log
        same = scan(action, shop, tmp_path, "/worse", types="accessibility", baseline="known.json")
        assert same.status == 0, same.log
        shop.routes["/worse"] = Answer(f"{head}<body><h1>Bread</h1><img src=/bread.png><a href=/shop></a>")
        worse = scan(action, shop, tmp_path, "/worse", types="accessibility", baseline="known.json")
        assert worse.status == 1
        assert re.search(r"1 new failure \(low or higher\): Links without a name\.", worse.log), worse.log
        results = json.loads(Path(worse.outputs["sarif"]).read_text())["runs"][0]["results"]
        assert {result["ruleId"]: bool(result["suppressions"]) for result in results if result["level"] == "error"} == {
            "image-alt": True,
            "link-name": False,
        }

    @pytest.mark.skipif(find_browser("auto") is None, reason="no Chromium")
    def test_action_can_use_a_browser(self, action: Action, shop: Site, tmp_path: Path) -> None:
        ran = scan(action, shop, tmp_path, types="performance", browser="true")
        assert ran.status == 0, ran.log
        report = json.loads(Path(ran.outputs["json"]).read_text())
        assert report["browser"], report["skipped_checks"]
        assert report["omitted_checks"] == []
