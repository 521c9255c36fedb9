"""Precision of findings on real pages, by check, with and without a browser.

The pages are templates and documentation in packages of npm and Debian, installed by their own clients.
`real_pages.toml` lists them with the findings that an owner would agree to, judged by hand.
"""

from __future__ import annotations

import shutil
import subprocess
import tarfile
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.static_host import StaticHost, authority
from benchmarks.table import Table
from tests.website_scan.net.loopback import NETWORKS
from website_scan.browser.visit import READ_BY, Browser
from website_scan.browser.warm import WarmBrowser
from website_scan.findings import ScanType, Severity
from website_scan.net.browser import find_browser
from website_scan.net.client import Network
from website_scan.net.policy import Policy
from website_scan.net.targets import parse_target
from website_scan.result import Budget, CheckResult
from website_scan.run import scan

LIST = Path(__file__).with_name("real_pages.toml")
KEPT = Path(tempfile.gettempdir()) / "website-scan-real-pages"
TIME_LIMIT_S = 120.0
WEIGHTY = frozenset({Severity.MEDIUM, Severity.HIGH, Severity.CRITICAL})
# Shares of the findings that owners agree to: of all, and of each check.
GOAL, GOAL_OF_CHECK = 0.97, 0.8

Finding = tuple[ScanType, str]


class NotJudged(Exception):
    """The browser could not load a page, for example because the machine is busy; the message says why."""


@dataclass(frozen=True, slots=True)
class RealPage:
    """A page of a package. `agreed` are the IDs of checks, by scan type, whose findings its owner would agree to."""

    package: str
    folder: Path
    path: str
    agreed: Mapping[ScanType, frozenset[str]]

    @property
    def name(self) -> str:
        return f"{self.package} {self.path}"


def measure(table: Table, share: float) -> None:
    program = find_browser("auto")
    assert program is not None, "no browser; `make browser` installs one"
    packages = tomllib.loads(LIST.read_text())["package"]
    number = sum(len(package["page"]) for package in packages)
    chosen = list(islice(real_pages(packages), max(1, round(number * share))))
    with WarmBrowser(program, ca_bundle=authority()) as browser:
        judged = {title: _judged(chosen, used) for title, used in (("static", None), ("browser", browser))}
    table.head("findings, and the share that owners agree to", "static", "", "browser", "")
    for scan_type, check in sorted({each for found, _ in judged.values() for each in found}):
        figures = [figure for found, right in judged.values() for figure in _figures(found, right, (scan_type, check))]
        table.row(f"{scan_type} {check}", *figures)
    for title, (found, right) in judged.items():
        table.head(title, "precision", "findings")
        for scan_type in ScanType:
            of_type = [each for each in found if each[0] is scan_type]
            total = sum(found[each] for each in of_type)
            table.row(scan_type, sum(right[each] for each in of_type) / total if total else "", total)
        table.row("all findings", right.total() / found.total(), found.total(), least=(GOAL,))
        worst = min(found, key=lambda each: right[each] / found[each])
        table.row(f"worst check: {' '.join(worst)}", right[worst] / found[worst], found[worst], least=(GOAL_OF_CHECK,))


def findings(page: RealPage, browser: Browser | None) -> Iterator[tuple[ScanType, CheckResult]]:
    """Scan a page for all types; yield its findings of at least medium severity.

    Raises `NotJudged` if the browser could not load the page: the findings would be those without one.
    """
    with StaticHost(page.folder) as host:
        policy = Policy(allowed_networks=NETWORKS, ca_bundle=authority())
        with Network(policy, time_limit_s=TIME_LIMIT_S) as network:
            target = parse_target(f"{host.url}/{page.path}", policy)
            for result in scan(target, ScanType, network, Budget(TIME_LIMIT_S), browser=browser):
                assert result.score is not None, (page.name, result.error)
                if browser is not None and READ_BY[result.type] and result.browser is None:
                    raise NotJudged(result.skipped_checks[0].reason)
                for category in result.categories:
                    for check in category.checks:
                        if check.status != "pass" and check.severity in WEIGHTY:
                            yield result.type, check


def _judged(pages: Iterable[RealPage], browser: Browser | None) -> tuple[Counter[Finding], Counter[Finding]]:
    """Return on how many pages each check has a finding, and on how many of these its owner would agree."""
    found: Counter[Finding] = Counter()
    right: Counter[Finding] = Counter()
    for page in pages:
        try:
            of_page = list(findings(page, browser))
        except NotJudged as error:
            print(f"left out: {page.name} ({error})", flush=True)
            continue
        for scan_type, check in of_page:
            found[scan_type, check.id] += 1
            right[scan_type, check.id] += check.id in page.agreed[scan_type]
    return found, right


def _figures(found: Counter[Finding], right: Counter[Finding], of: Finding) -> tuple[int | str, str]:
    return (found[of], f"{right[of] / found[of]:.0%}") if found[of] else ("", "")


def real_pages(packages: Iterable[dict[str, Any]]) -> Iterator[RealPage]:
    """Yield the pages of packages, downloaded when their turn comes; print the packages that are not available."""
    for package in packages:
        name = package.get("npm") or package["debian"]
        try:
            unpacked = _npm(name) if "npm" in package else _debian(name, package.get("needs", ()))
        except (OSError, subprocess.SubprocessError, tarfile.TarError) as error:
            print(f"left out: {name} ({error})")
            continue
        for page in package["page"]:
            agreed = {each: frozenset(page.get(each, ())) for each in ScanType}
            yield RealPage(name, unpacked / package["folder"], page["path"], agreed)


def _npm(spec: str) -> Path:
    """Return the folder of a package of npm, downloaded once."""
    folder = KEPT / spec.replace("/", "_")
    if not folder.exists():
        with tempfile.TemporaryDirectory() as temporary:
            _run("npm", "pack", spec, "--silent", "--pack-destination", temporary)
            (archive,) = Path(temporary).iterdir()
            with tarfile.open(archive) as files:
                files.extractall(unpacking := Path(temporary) / "unpacked", filter="data")
            _keep(unpacking, folder)
    return folder


def _debian(name: str, needs: Sequence[str]) -> Path:
    """Return the folder of a Debian package in the version of this machine's release, downloaded once.

    `needs` are the packages with files that its pages link to by symbolic links.
    """
    names = [name, *needs]
    folder = KEPT / "+".join(names)
    if not folder.exists():
        with tempfile.TemporaryDirectory() as temporary:
            _run("apt-get", "download", "-qq", *names, folder=temporary)
            unpacking = Path(temporary) / "unpacked"
            for archive in Path(temporary).glob("*.deb"):
                _run("dpkg-deb", "-x", str(archive), str(unpacking))
            _keep(unpacking, folder)
    return folder


def _keep(unpacked: Path, folder: Path) -> None:
    KEPT.mkdir(parents=True, exist_ok=True)
    shutil.move(unpacked, folder)


def _run(*command: str, folder: str | None = None) -> None:
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=300)
