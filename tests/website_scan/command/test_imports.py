"""Test that the command imports only the modules that it needs."""

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

# This program runs the command and writes the names of all imported modules to a file.
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
# Packages whose import takes at least 10 ms. Only late modules import them.
LATE = {"OpenSSL", "dns", "filelock", "http_sfv", "langcodes", "psutil", "tldextract"}
UNUSED_BY_HELP = {
    *LATE,
    *("asyncio", "certifi", "charset_normalizer", "cryptography", "difflib", "email", "http", "jinja2", "json"),
    *("requests", "selectolax", "ssl", "subprocess", "tomllib", "urllib3"),
    *("website_scan.command.gate", "website_scan.net.client", "website_scan.result", "website_scan.scoring"),
}
UNUSED_BY_SCANS = {
    *("asyncio", "celery", "django", "jinja2", "lxml", "playwright", "tomllib"),
    *("website_scan.browser.warm", "website_scan.net.proxy"),
}
DEFAULT_PAGE_SIZE = Answer(
    "<!doctype html><html lang=en><meta charset=utf-8><title>Inn</title><h1>The inn</h1><p>Rooms.",
    headers={"Content-Type": "text/html"},
)
UNUSUAL_PAGE = Answer(
    "<!doctype html><html lang=haw><meta charset=koi8-r><title>Inn</title><h1>The inn</h1>",
    headers={"Content-Type": "text/html", "Permissions-Policy": "camera=()"},
)


def imported_modules(
    folder: Path, *arguments: str, status: int = 0, variables: Mapping[str, str] = MappingProxyType({})
) -> set[str]:
    """Run the command in a process and return the imported modules."""
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
def test_help_does_not_import_the_engine(tmp_path: Path, arguments: list[str], status: int) -> None:
    assert not UNUSED_BY_HELP & imported_modules(tmp_path, *arguments, status=status)


def test_ordinary_scan_imports_few_late_modules(tmp_path: Path) -> None:
    with Site({"/": DEFAULT_PAGE_SIZE}) as site:
        loaded = imported_modules(tmp_path, f"{site.url}/")
    assert "requests" in loaded
    assert (LATE | UNUSED_BY_SCANS) & loaded <= {"OpenSSL", "psutil"}


def test_only_some_scan_types_import_openssl(tmp_path: Path) -> None:
    with Site({"/": DEFAULT_PAGE_SIZE}, certificate=Certificate.VALID) as site:
        variables = {"SCAN_CA_BUNDLE": str(site.ca_file)}
        assert "OpenSSL" not in imported_modules(tmp_path, f"{site.url}/", "--type", "seo", variables=variables)
        assert "OpenSSL" in imported_modules(tmp_path, f"{site.url}/", "--type", "security", variables=variables)


def test_scan_of_an_unusual_page_imports_late_modules(tmp_path: Path) -> None:
    """The scanner imports these packages only when a page needs them."""
    with Site({"/": UNUSUAL_PAGE}) as site:
        assert {"http_sfv", "langcodes"} <= imported_modules(tmp_path, f"{site.url}/")


def test_late_modules_import_all_late_packages(tmp_path: Path) -> None:
    """A worker imports the late modules before it forks, so that its processes share the memory."""
    code = "import sys; from website_scan.late_modules import import_late_modules as load; load(); print(*sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=100
    )
    assert LATE | set(MODULES) <= set(ran.stdout.split())


def test_init_does_not_import_the_engine(tmp_path: Path) -> None:
    assert not (UNUSED_BY_HELP - {"email", "json", "subprocess"}) & imported_modules(tmp_path, "init")
