"""Tests for the installed command `website-scan`."""

from __future__ import annotations

import ast
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.command_line import ROOT
from tests.targets.server import Site
from website_scan import __version__
from website_scan.command.arguments import FORMATS, parse_arguments
from website_scan.command.site_options import SiteOptions
from website_scan.findings import Severity

# Slow packages that help and usage errors do not need to import.
HEAVY = (
    "celery",
    "django",
    "psycopg",
    "redis",
    "requests",
    "rest_framework",
    "cryptography",
    "lxml",
    "playwright",
)

SERVICE = (
    "accounts",
    "celery",
    "config",
    "django",
    "psycopg",
    "redis",
    "reports",
    "rest_framework",
    "scans",
    "webhooks",
)
# This program runs the command while packages of the service cannot be imported.
WITHOUT_SERVICE_PACKAGES = f"""
import sys
sys.modules.update(dict.fromkeys({SERVICE}))
from website_scan.command.main import main
sys.exit(main())
"""
# These modules are only for type checkers, or are part of Python since 3.14.
MODULES_WITHOUT_PACKAGE = {"_typeshed", "compression"}

pytestmark = pytest.mark.xdist_group("installed")


def website_scan(
    installed: Path, *arguments: str, cwd: Path | str = "/", **variables: str
) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(installed), "SCAN_BROWSER": "off"} | variables
    command = [sys.executable, str(installed / "bin" / "website-scan"), *arguments]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=100)


def test_installed_command_does_not_need_the_repository(installed: Path, shop: Site, tmp_path: Path) -> None:
    """Data, templates and style sheets are installed, and scripts are executable."""
    url = f"{shop.url_as('localhost')}/"
    allowed = ("--allow-network", "127.0.0.0/8", "--format", "html", "--output", "report.html")
    ran = website_scan(installed, url, *allowed, cwd=tmp_path, SCAN_CA_BUNDLE=str(shop.ca_file))
    assert (ran.returncode, ran.stdout) == (0, "")
    assert ran.stderr == "Done: 4 reports of 1 page. Written: report.html.\n"
    content = (tmp_path / "report.html").read_text()
    assert all(f"{label} report" in content for label in ("Security", "Performance", "Accessibility", "SEO"))
    assert os.access(installed / "website_scan/net/start-as-user", os.X_OK)


def test_help_imports_no_heavy_package(installed: Path) -> None:
    ran = website_scan(installed, "--help", COLUMNS="80")
    assert ran.returncode == 0
    assert ran.stdout.startswith("usage: website-scan URL… [options]\n")
    assert len(ran.stdout.splitlines()) <= 45
    assert max(map(len, ran.stdout.splitlines())) <= 80
    assert all(part in ran.stdout for part in ("environment: WEBSITE_SCAN_KEY", "exit status: 0 success", "\ngate:\n"))
    code = f"import sys, website_scan.command.main; print([name for name in {HEAVY} if name in sys.modules])"
    environment = {"PYTHONPATH": str(installed)}
    loaded = subprocess.run([sys.executable, "-c", code], env=environment, cwd="/", capture_output=True, text=True)
    assert loaded.stdout == "[]\n"


def test_help_ends_with_examples(installed: Path) -> None:
    _, _, text = website_scan(installed, "--help", COLUMNS="80").stdout.partition("\nexamples:\n")
    page, preview, gate = (shlex.split(line) for line in text.splitlines())
    assert all(example[0] == "website-scan" for example in (page, preview, gate))
    assert parse_arguments(page[1:]).urls == ("https://example.com/",)
    assert parse_arguments(preview[1:]).start == "npm run preview"
    options = parse_arguments(gate[1:])
    assert (options.fail_on, options.site) == (Severity.HIGH, SiteOptions())


def test_version_and_bash_completion_are_printed(installed: Path) -> None:
    assert website_scan(installed, "--version").stdout == f"website-scan {__version__}\n"
    completion = website_scan(installed, "--print-completion", "bash")
    assert "--fail-under" in completion.stdout
    checked = subprocess.run(["bash", "-n"], input=completion.stdout, text=True, capture_output=True)
    assert (checked.returncode, checked.stderr) == (0, "")


ZSH = r"""
zmodload zsh/zpty
zpty inner zsh -i
zpty -w inner "print S''TARTED"
zpty -r inner shown '*STARTED*'
zpty -w -n inner $'website-scan --fail-\t\t'
zpty -r inner shown '*--fail-under*'
zpty -w -n inner $'\C-uwebsite-scan --fail-on c\t'
zpty -r inner shown '*critical*'
zpty -w -n inner $'\C-uwebsite-scan --baseline kno\t'
zpty -r inner shown '*known.json*'
print complete
"""


@pytest.mark.skipif(shutil.which("zsh") is None, reason="no zsh")
def test_zsh_completes_options(installed: Path, tmp_path: Path) -> None:
    (steps,) = re.findall(r"^```zsh\n(.*?)^```$", (ROOT / "docs" / "command.md").read_text(), re.MULTILINE | re.DOTALL)
    program = f'website-scan() {{ PYTHONPATH="{installed}" "{sys.executable}" "{installed}/bin/website-scan" "$@" }}\n'
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "TERM": "xterm"}
    options = {"cwd": tmp_path, "env": environment, "capture_output": True, "text": True, "timeout": 60}
    set_up = subprocess.run(["zsh", "-f", "-e", "-c", program + steps], **options)  # type: ignore[call-overload]
    assert (set_up.returncode, set_up.stderr) == (0, "")
    (tmp_path / "known.json").touch()
    completed = subprocess.run(["zsh", "-f", "-c", ZSH], **options)  # type: ignore[call-overload]
    assert completed.stdout == "complete\n", completed.stderr


def test_only_the_scanner_is_installed(installed: Path) -> None:
    names = {file.name for file in installed.iterdir() if not file.name.endswith((".dist-info", ".lock"))}
    assert names == {"bin", "website_scan"}
    assert [folder.name.partition("-")[0] for folder in installed.glob("*.dist-info")] == ["website_scan"]


# This program puts the command's packages at the end of the import path, like pip.
INSTALLED_COMMAND = """
import runpy, sys
packages = sys.argv.pop(1)
sys.path.append(packages)
runpy.run_path(f"{packages}/bin/website-scan", run_name="__main__")
"""


@pytest.mark.parametrize("path", [".", ":", "{project}"])
def test_packages_of_a_project_are_not_imported(installed: Path, tmp_path: Path, path: str) -> None:
    """PYTHONPATH precedes installed packages, and a failed import would look like a failed gate (status 1)."""
    for name in ("config", "website_scan", "requests", "accounts", "jinja2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise ImportError('not this one')\n")
    ran = subprocess.run(
        [sys.executable, "-c", INSTALLED_COMMAND, installed, "ftp://a/"],
        env={"PYTHONPATH": path.format(project=tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert (ran.returncode, ran.stdout) == (2, ""), ran.stderr
    assert ran.stderr.startswith("website-scan: ftp://a/: ")


def test_python_m_ignores_the_current_folder(installed: Path, tmp_path: Path) -> None:
    """`python -m` puts the current folder first on the import path."""
    (tmp_path / "requests").mkdir()
    (tmp_path / "requests" / "__init__.py").write_text("raise ImportError('not this one')\n")
    ran = subprocess.run(
        [sys.executable, "-m", "website_scan", "ftp://a/"],
        env={"PYTHONPATH": str(installed)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert (ran.returncode, ran.stdout) == (2, ""), ran.stderr
    assert ran.stderr.startswith("website-scan: ftp://a/: ")


def test_crash_exits_with_status_3(installed: Path, tmp_path: Path) -> None:
    """An exception would exit with status 1, which means a failed gate."""
    broken = tmp_path / "ada_url.py"  # The module is empty, so the import of a name fails.
    broken.write_text("")
    code = (
        "import sys, runpy; sys.path.insert(0, sys.argv.pop(1)); runpy.run_path(sys.argv.pop(1), run_name='__main__')"
    )
    script = installed / "bin" / "website-scan"
    ran = subprocess.run(
        [sys.executable, "-c", code, tmp_path, script, "https://example.com/"],
        env={"PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        cwd="/",
    )
    assert ran.returncode == 3
    assert "Traceback" in ran.stderr
    crash = "import website_scan.command.main as m; m.parse_arguments = lambda *_: 1 / 0; m.main()"
    ran = subprocess.run(
        [sys.executable, "-c", crash], env={"PYTHONPATH": str(installed)}, capture_output=True, text=True, cwd="/"
    )
    assert (ran.returncode, "ZeroDivisionError" in ran.stderr) == (3, True)


@pytest.mark.parametrize(
    ("redirection", "message"),
    [
        (">&-", "website-scan: Standard output is closed.\n"),
        ("> /dev/full", "website-scan: Standard output can't be written: No space left on device\n"),
        ("--help > /dev/full", "Standard output can't be written: No space left on device\n"),
        ("--format json > /dev/full", "website-scan: Standard output can't be written: No space left on device\n"),
        (">&- 2>&-", ""),
        ("> /dev/full 2> /dev/full", ""),
    ],
)
def test_unwritable_output_is_one_line(installed: Path, tmp_path: Path, redirection: str, message: str) -> None:
    (tmp_path / "index.html").write_text("<!doctype html><title>Bread</title>")
    script = f'"{sys.executable}" "{installed}/bin/website-scan" --serve . --type seo {redirection}'
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(installed), "SCAN_BROWSER": "off"}
    ran = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60
    )
    assert (ran.returncode, ran.stderr) == (2, message)


def test_all_formats_work_without_service_packages(installed: Path, shop: Site, tmp_path: Path) -> None:
    options = [word for name in FORMATS for word in ("--format", name, "--output", name)]
    url = f"{shop.url_as('localhost')}/"
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT_SERVICE_PACKAGES, url, "--allow-network", "127.0.0.0/8", *options],
        cwd=tmp_path,
        env={"PYTHONPATH": str(installed), "SCAN_BROWSER": "off", "SCAN_CA_BUNDLE": str(shop.ca_file)},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert (ran.returncode, ran.stderr.count("\n")) == (0, 1), ran.stderr
    assert all((tmp_path / name).stat().st_size for name in FORMATS)


def test_imported_packages_are_declared() -> None:
    """Imports inside functions count, too. Packages for browsers and agents are optional."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    declared, optional = (
        {re.split(r"[^\w.-]", entry, maxsplit=1)[0] for entry in entries}
        for entries in (project["dependencies"], extras["browser"] + extras["mcp"])
    )
    assert len(declared) <= 22
    distributions = packages_distributions()
    imported = {name for path in (ROOT / "website_scan").rglob("*.py") for name in top_level_imports(path)}
    foreign = imported - sys.stdlib_module_names - MODULES_WITHOUT_PACKAGE - {"website_scan"}
    used = {re.sub(r"[-_.]+", "-", distributions[name][0]).lower() for name in foreign}
    assert used - optional == declared


def top_level_imports(path: Path) -> set[str]:
    """Return the top-level names of a module's imports."""
    packages = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            packages |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            packages.add(node.module.partition(".")[0])
    return packages
