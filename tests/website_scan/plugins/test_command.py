"""Plug-ins in the command, and the example as an installed distribution."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.command_line import ROOT, environment
from tests.targets.server import Answer, Site
from tests.website_scan.plugins.distributions import install, module

EXAMPLE = ROOT / "examples" / "plugin"
PAGE = "<!doctype html><html lang=en><title>Shop</title><h1>Tea</h1><a href=/imprint></a>"
CHECK = module('@declared("acme-a")\ndef a(page: Page) -> Verdict:\n    return Fail("bad", "It is bad.")')


@pytest.fixture
def site() -> Iterator[Site]:
    with Site({"/": Answer(PAGE), "/hours": Answer("Never")}) as running:
        yield running


def command(packages: Path, *arguments: str, status: int = 0, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the command with plug-ins in the folder `packages`."""
    path = os.pathsep.join([str(packages), str(ROOT)])
    ran = subprocess.run(
        [sys.executable, "-m", "website_scan", *arguments],
        cwd=packages,
        env=environment(PYTHONPATH=path, SCAN_BROWSER="off", **variables),
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert ran.returncode == status, ran.stdout + ran.stderr
    return ran


@pytest.fixture(scope="session")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which the example is installed from its wheel."""
    folder = tmp_path_factory.mktemp("example")
    uv = [sys.executable, "-m", "uv"]
    build: list[str | Path] = [
        *uv,
        "build",
        "--offline",
        "--no-build-isolation",
        "--wheel",
        "--quiet",
        "--out-dir",
        folder / "dist",
    ]
    subprocess.run([*build, "--python", sys.executable, EXAMPLE], check=True, timeout=300)
    (wheel,) = (folder / "dist").glob("*.whl")
    options = ("--offline", "--no-deps", "--python", sys.executable, "--quiet", "--target", folder / "packages")
    subprocess.run([*uv, "pip", "install", *options, wheel], check=True, timeout=300)
    return folder / "packages"


def test_tests_of_the_example_and_of_the_guide_pass(example: Path, tmp_path: Path) -> None:
    guide = (ROOT / "docs" / "plugins.md").read_text()
    (code,) = (code for code in re.findall(r"^```python\n(.*?)^```$", guide, re.M | re.S) if "def test_" in code)
    of_guide = tmp_path / "test_guide.py"
    of_guide.write_text(code)
    path = os.pathsep.join([str(example), str(ROOT)])
    options: list[str | Path] = ["-q", "-c", os.devnull, "--rootdir", EXAMPLE, "-p", "no:cacheprovider"]
    ran = subprocess.run(
        [sys.executable, "-B", "-m", "pytest", *options, EXAMPLE / "tests", of_guide],
        env=environment(PYTHONPATH=path),
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert ran.returncode == 0, ran.stdout
    assert "7 passed" in ran.stdout


def test_example_is_listed(example: Path) -> None:
    listed = command(example, "checks", "--plugins").stdout
    assert listed.splitlines() == [
        "acme 1.0.0 (distribution acme-scan), weight 0",
        "  check acme-imprint (seo, medium): The page links the imprint",
        "  check acme-opening-hours (seo, low): The site has opening hours",
        "  format acme-table",
    ]


def test_example_judges_a_page_in_all_formats(example: Path, site: Site) -> None:
    arguments = [f"{site.url}/", "--type", "seo", "--quiet"]
    full = json.loads(command(example, *arguments, "--format", "full").stdout)
    (category,) = [category for category in full["categories"] if "plug_in" in category]
    assert (category["name"], category["plug_in"]) == ("Acme rules", {"name": "acme", "version": "1.0.0"})
    checks = {check["id"]: (check["status"], check["message"]) for check in category["checks"]}
    assert checks["acme-opening-hours"] == ("pass", f"The opening hours are at {site.url}/hours.")
    assert checks["acme-imprint"][0] == "warn"
    assert (
        "| Link to the imprint without text | medium |" in command(example, *arguments, "--format", "acme-table").stdout
    )
    html = command(example, *arguments, "--format", "html").stdout
    assert "Checks of the plug-in acme 1.0.0" in html
    (run,) = json.loads(command(example, *arguments, "--format", "sarif").stdout)["runs"]
    assert run["tool"]["extensions"] == [{"name": "acme", "version": "1.0.0"}]
    assert "acme-imprint" in [rule["id"] for rule in run["tool"]["driver"]["rules"]]


def test_gate_knows_outcomes_of_plug_ins(example: Path, site: Site) -> None:
    arguments = [f"{site.url}/", "--type", "seo", "--quiet"]
    command(example, *arguments, "--fail-on-outcome", "acme-imprint.empty", status=1)
    wrong = command(example, *arguments, "--fail-on-outcome", "acme-imprint.unknown", status=2)
    assert "acme-imprint has missing, empty" in wrong.stderr


def test_gate_has_all_outcomes_of_a_plug_in(example: Path, site: Site) -> None:
    arguments = [f"{site.url}/", "--type", "seo", "--quiet"]
    ran = command(example, *arguments, "--fail-on-outcome", "acme-*", status=1)
    assert "1 finding: Link to the imprint without text." in ran.stderr
    wrong = command(example, *arguments, "--fail-on-outcome", "other-*", status=2)
    assert "other-* is not an outcome: no plug-in other with checks is used." in wrong.stderr
    command(example, *arguments, "--no-plugins", "--fail-on-outcome", "acme-*", "--accept", "acme-imprint.empty")


def test_formats_of_plug_ins_can_be_left_out(example: Path, site: Site) -> None:
    arguments = [f"{site.url}/", "--type", "seo", "--quiet", "--format"]
    ran = command(example, *arguments, "acme-table", "--no-plugins", status=2)
    assert "The format acme-table is part of a plug-in, so it does not work with --no-plugins." in ran.stderr
    assert "'acme-table'" in command(example, *arguments, "acme-tabel", status=2).stderr


def test_text_names_the_plug_in_of_a_category(example: Path, site: Site) -> None:
    text = command(example, f"{site.url}/", "--type", "seo").stdout
    assert re.search(r"Acme rules \(plug-in acme 1\.0\.0\)\s+\d", text)


@pytest.mark.parametrize(
    ("arguments", "variables"), [(["--no-plugins"], {}), ([], {"SCAN_PLUGINS": ""}), ([], {"SCAN_PLUGINS": "none"})]
)
def test_plug_ins_can_be_left_out(packages: Path, site: Site, arguments: list[str], variables: dict[str, str]) -> None:
    install(packages, {"acme": CHECK})
    options = (f"{site.url}/", "--type", "seo", "--format", "full")
    assert "acme-a" in command(packages, *options).stdout
    assert "acme-a" not in command(packages, *options, *arguments, status=0, **variables).stdout


def test_scan_without_plug_ins_imports_nothing_for_them(packages: Path, site: Site) -> None:
    code = (
        "import sys\nfrom website_scan.command.main import run\n"
        f"run(['{site.url}/', '--type', 'seo', '--quiet'])\n"
        "print(sorted(name for name in sys.modules if name.startswith('website_scan.plugins.')))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(PYTHONPATH=str(ROOT), SCAN_BROWSER="off", SCAN_PLUGINS=""),
        capture_output=True,
        text=True,
        timeout=100,
    )
    # The catalogue searches all packages for probes, and so imports the public names.
    assert ran.stdout.splitlines()[-1] == "['website_scan.plugins.declaring', 'website_scan.plugins.evidence']"


@pytest.mark.parametrize(
    ("source", "error"),
    [
        (
            "import missing_package",
            "ModuleNotFoundError: No module named 'missing_package' (checks_of_acme.py, line 1)",
        ),
        ("import sys; sys.exit(1)", "SystemExit: 1"),
        ("import os; os._exit(1)", "its process ended"),
        ("x = 1", "It could not be loaded: the module checks_of_acme has no CATEGORY."),
        (
            "from website_scan.plugins import check\n\ncheck('acme-a', name='A', outcomes={'b': 'B'}, severity='low')",
            "check() missing 1 required keyword-only argument: 'fix' (checks_of_acme.py, line 3)",
        ),
        ("raise ValueError('x' * 10_000_000)", "ValueError: xxx"),
    ],
)
def test_plug_in_that_cannot_be_loaded_has_no_checks(packages: Path, site: Site, source: str, error: str) -> None:
    install(packages, {"acme": source})
    assert error in command(packages, "checks", "--plugins", status=1).stdout
    ran = command(packages, f"{site.url}/", "--type", "seo", "--quiet")
    assert ran.stderr.count("The plug-in acme is not used.") == 1
    assert len(ran.stderr) < 1000


def test_import_that_hangs_ends_at_its_time_limit(packages: Path, site: Site) -> None:
    install(packages, {"acme": "while True: pass"})
    began = time.monotonic()
    ran = command(packages, f"{site.url}/", "--type", "seo", "--quiet")
    assert 9 < time.monotonic() - began < 30
    assert "it did not answer in time" in ran.stderr


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("raise ValueError('no table')", "ValueError: no table (formats_of_acme_text.py, line 2, in render)"),
        ("return 1", "the format returned int instead of a text"),
        ("return 'x' * 100_000_000", "its result is larger than"),
    ],
)
def test_format_that_fails_is_an_error(packages: Path, site: Site, body: str, error: str) -> None:
    install(packages, {}, formats={"acme-text": f"def render(exports):\n    {body}"})
    ran = command(packages, f"{site.url}/", "--type", "seo", "--format", "acme-text", status=2)
    assert f"The format acme-text of the plug-in acme failed: {error}" in ran.stderr


def test_format_gets_accepted_findings(packages: Path, site: Site) -> None:
    source = "def render(exports):\n    return repr([export['accepted'].get('links-a') for export in exports])"
    install(packages, {"links": CHECK.replace("acme-a", "links-a")}, formats={"links-text": source}, name="links-scan")
    arguments = [f"{site.url}/", "--type", "seo", "--format", "links-text"]
    printed = command(packages, *arguments, "--accept", "links-a.bad").stdout
    assert printed == "['accepted by name']"


def test_format_cannot_control_a_terminal(packages: Path, site: Site) -> None:
    install(packages, {}, formats={"acme-text": "def render(exports):\n    return 'a\\x1b[31mb\\n'"})
    ran = command(packages, f"{site.url}/", "--type", "seo", "--format", "acme-text")
    assert ran.stdout == "a\N{REPLACEMENT CHARACTER}[31mb\n"


def test_hosts_end_with_a_killed_process(packages: Path) -> None:
    source = module("import time\n@declared('acme-a')\ndef a(page: Page) -> Verdict:\n    time.sleep(60)")
    install(packages, {"acme": source})
    code = (
        "from website_scan.plugins.registry import used_plug_ins\n"
        "from website_scan.plugins.runner import CheckToRun\n"
        "import time\n"
        "(used,) = used_plug_ins(None)\n"
        "print(used.runner.pid, flush=True)\n"
        "page = dict(url='https://a.example/', requested_url='', status=200, headers=[], body='', encoding='utf-8',\n"
        "    is_truncated=False, is_html=True)\n"
        "request = dict(do='page', page=page, requests=None, rendered=None)\n"
        "used.runner.run_checks([CheckToRun('acme-a', True)], request, None, time.monotonic() + 30)\n"
    )
    path = os.pathsep.join([str(packages), str(ROOT)])
    with subprocess.Popen(
        [sys.executable, "-c", code], env=environment(PYTHONPATH=path), stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        host = psutil.Process(int(parent.stdout.readline()))
        wait_until(lambda: host.children())
        processes = [host, *host.children()]
        parent.kill()
    wait_until(lambda: not any(map(is_running, processes)))


def is_running(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def wait_until(condition: object, timeout_s: float = 20) -> None:
    assert callable(condition)
    ends = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.02)


def test_guide_leads_to_a_working_check(packages: Path, site: Site) -> None:
    """The plug-in of docs/plugins.md is built, installed, listed and finds something."""
    guide = (ROOT / "docs" / "plugins.md").read_text()
    blocks = {
        language: re.findall(rf"^ +```{language}\n(.*?)^ +```$", guide, re.M | re.S) for language in ("toml", "python")
    }
    folder = packages / "acme"
    folder.mkdir()
    for name, text in (("pyproject.toml", blocks["toml"][0]), ("acme_rules.py", blocks["python"][0])):
        (folder / name).write_text(re.sub(r"^   ", "", text, flags=re.M))
    options = ("--offline", "--no-deps", "--no-build-isolation", "--python", sys.executable, "--quiet")
    subprocess.run(
        [sys.executable, "-m", "uv", "pip", "install", *options, "--target", packages, folder], check=True, timeout=300
    )
    (printed,) = re.findall(r"^ +```text\n(.*?)^ +```$", guide, re.M | re.S)
    assert command(packages, "checks", "--plugins").stdout == re.sub(r"^   ", "", printed, flags=re.M)
    ran = command(packages, f"{site.url}/", "--type", "seo", "--format", "full")
    assert '"acme-imprint"' in ran.stdout
