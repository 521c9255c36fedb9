"""Imports of the command: few modules for `website-scan --help`, and only modules that the page needs for a scan."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from tests.command_line import ROOT, environment
from tests.targets.server import Answer, Certificate, Site
from website_scan.late_modules import MODULES

# Program that runs the command, and writes the names of the loaded modules to the file in the first argument.
RUN = """
import sys
from pathlib import Path
loaded = Path(sys.argv.pop(1))
from website_scan.command.main import main
try:
    main()
finally:
    loaded.write_text("\\n".join(sys.modules))
"""
# Packages whose import takes hundredths of a second, each by one of the late modules.
LATE = {"OpenSSL", "bs4", "dns", "filelock", "http_sfv", "langcodes", "psutil", "soupsieve", "tldextract"}
NOT_FOR_HELP = {
    *LATE,
    *("asyncio", "certifi", "charset_normalizer", "cryptography", "difflib", "email", "http", "jinja2", "json"),
    *("requests", "selectolax", "ssl", "subprocess", "tomllib", "urllib3"),
    *("website_scan.command.judged", "website_scan.net.client", "website_scan.result", "website_scan.scoring"),
}
NOT_FOR_SCANS = {
    *("asyncio", "celery", "django", "jinja2", "lxml", "playwright", "tomllib"),
    *("website_scan.browser.warm", "website_scan.net.proxy"),
}
USUAL_PAGE = Answer(
    "<!doctype html><html lang=en><meta charset=utf-8><title>Inn</title><h1>The inn</h1><p>Rooms.",
    headers={"Content-Type": "text/html"},
)
UNUSUAL_PAGE = Answer(
    "<!doctype html><html lang=haw><meta charset=koi8-r><title>Inn</title><h1>The inn</h1>",
    headers={"Content-Type": "text/html", "Permissions-Policy": "camera=()"},
)


def loaded_by(
    folder: Path, *arguments: str, status: int = 0, variables: Mapping[str, str] = MappingProxyType({})
) -> set[str]:
    """Run the command in a separate process. Returns the modules that were loaded at its end."""
    ran = subprocess.run(
        [sys.executable, "-c", RUN, folder / "loaded", *arguments],
        cwd=folder,
        env=environment(PYTHONPATH=str(ROOT), **variables),
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert ran.returncode == status, ran.stderr
    return set((folder / "loaded").read_text().split())


@pytest.mark.parametrize(
    ("arguments", "status"),
    [(["--help"], 0), (["--version"], 0), (["https://a.example.com/", "--fail-under", "x"], 2)],
)
def test_help_and_wrong_usage_do_not_import_the_engine(tmp_path: Path, arguments: list[str], status: int) -> None:
    assert not NOT_FOR_HELP & loaded_by(tmp_path, *arguments, status=status)


def test_scan_of_a_usual_local_page_imports_few_late_modules(tmp_path: Path) -> None:
    with Site({"/": USUAL_PAGE}) as site:
        loaded = loaded_by(tmp_path, f"{site.url}/")
    assert "requests" in loaded
    assert (LATE | NOT_FOR_SCANS) & loaded <= {"OpenSSL", "psutil"}


def test_scan_imports_openssl_only_for_scan_types_that_need_it(tmp_path: Path) -> None:
    with Site({"/": USUAL_PAGE}, certificate=Certificate.VALID) as site:
        variables = {"SCAN_CA_BUNDLE": str(site.ca_file)}
        assert "OpenSSL" not in loaded_by(tmp_path, f"{site.url}/", "--type", "seo", variables=variables)
        assert "OpenSSL" in loaded_by(tmp_path, f"{site.url}/", "--type", "security", variables=variables)


def test_scan_of_an_unusual_page_imports_late_modules(tmp_path: Path) -> None:
    """The names are packages that are imported only when a page needs them."""
    with Site({"/": UNUSUAL_PAGE}) as site:
        assert {"bs4", "http_sfv", "langcodes"} <= loaded_by(tmp_path, f"{site.url}/")


def test_late_modules_import_all_late_packages(tmp_path: Path) -> None:
    """A worker imports the late modules before it forks, so that its processes share their memory."""
    code = "import sys; from website_scan.late_modules import import_late_modules as load; load(); print(*sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=100
    )
    assert LATE | set(MODULES) <= set(ran.stdout.split())
