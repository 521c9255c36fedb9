"""Benchmark how precise findings on real pages are, by check, with and without a browser.

The pages are templates and documentation in npm and Debian packages, installed by npm and apt. `real_pages.toml` lists
the pages with the findings that an owner would agree to, judged by hand.
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
from website_scan.browser.visit import PARTS_BY_SCAN_TYPE, Browser
from website_scan.browser.warm import WarmBrowser
from website_scan.findings import ScanType, Severity
from website_scan.net.browser import find_browser
from website_scan.net.client import Network
from website_scan.net.policy import Policy
from website_scan.net.targets import parse_target
from website_scan.result import Budget, CheckResult
from website_scan.run import scan

LIST = Path(__file__).with_name("real_pages.toml")
CACHE = Path(tempfile.gettempdir()) / "website-scan-real-pages"
TIME_LIMIT_S = 120.0
COUNTED_SEVERITIES = frozenset({Severity.MEDIUM, Severity.HIGH, Severity.CRITICAL})
# Minimum share of findings that site owners agree with, over all checks and for any single check.
MIN_PRECISION, MIN_CHECK_PRECISION = 0.97, 0.8

Finding = tuple[ScanType, str]


class PageNotJudged(Exception):
    """Raised if the browser cannot load a page, for example on a busy machine.

    The message is the reason.
    """


@dataclass(frozen=True, slots=True)
class RealPage:
    """A page from a package.

    `agreed` lists, by scan type, the checks whose findings the owner would agree with.
    """

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
    pages = list(islice(real_pages(packages), max(1, round(number * share))))
    with WarmBrowser(program, ca_bundle=authority()) as browser:
        counts_by_title = {
            title: _count_findings(pages, browser_or_none)
            for title, browser_or_none in (("static", None), ("browser", browser))
        }
    table.head("findings, and the share that owners agree to", "static", "", "browser", "")
    for scan_type, check in sorted(
        {finding for all_findings, _ in counts_by_title.values() for finding in all_findings}
    ):
        figures = [
            figure
            for all_findings, agreed in counts_by_title.values()
            for figure in _figures(all_findings, agreed, (scan_type, check))
        ]
        table.row(f"{scan_type} {check}", *figures)
    for title, (all_findings, agreed) in counts_by_title.items():
        table.head(title, "precision", "findings")
        for scan_type in ScanType:
            findings_of_type = [finding for finding in all_findings if finding[0] is scan_type]
            total = sum(all_findings[finding] for finding in findings_of_type)
            table.row(scan_type, sum(agreed[finding] for finding in findings_of_type) / total if total else "", total)
        table.row("all findings", agreed.total() / all_findings.total(), all_findings.total(), least=(MIN_PRECISION,))
        worst = min(all_findings, key=lambda finding: agreed[finding] / all_findings[finding])
        table.row(
            f"worst check: {' '.join(worst)}",
            agreed[worst] / all_findings[worst],
            all_findings[worst],
            least=(MIN_CHECK_PRECISION,),
        )


def findings(page: RealPage, browser: Browser | None) -> Iterator[tuple[ScanType, CheckResult]]:
    """Scan a page for all types, and yield findings with at least medium severity.

    Raises `NotJudged` if the browser could not load the page, because the findings would be those of a scan without
    browser.
    """
    with StaticHost(page.folder) as host:
        policy = Policy(allowed_networks=NETWORKS, ca_bundle=authority())
        with Network(policy, time_limit_s=TIME_LIMIT_S) as network:
            target = parse_target(f"{host.url}/{page.path}", policy)
            for result in scan(target, ScanType, network, Budget(TIME_LIMIT_S), browser=browser):
                assert result.score is not None, (page.name, result.error)
                if browser is not None and PARTS_BY_SCAN_TYPE[result.type] and result.browser is None:
                    raise PageNotJudged(result.skipped_checks[0].reason)
                for category in result.categories:
                    for check in category.checks:
                        if check.status != "pass" and check.severity in COUNTED_SEVERITIES:
                            yield result.type, check


def _count_findings(pages: Iterable[RealPage], browser: Browser | None) -> tuple[Counter[Finding], Counter[Finding]]:
    """Count pages with a finding, and pages where the owner would agree with it.

    Both counts are by check.
    """
    all_findings: Counter[Finding] = Counter()
    agreed: Counter[Finding] = Counter()
    for page in pages:
        try:
            page_findings = list(findings(page, browser))
        except PageNotJudged as error:
            print(f"left out: {page.name} ({error})", flush=True)
            continue
        for scan_type, check in page_findings:
            all_findings[scan_type, check.id] += 1
            agreed[scan_type, check.id] += check.id in page.agreed[scan_type]
    return all_findings, agreed


def _figures(all_findings: Counter[Finding], agreed: Counter[Finding], finding: Finding) -> tuple[int | str, str]:
    return (
        (all_findings[finding], f"{agreed[finding] / all_findings[finding]:.0%}") if all_findings[finding] else ("", "")
    )


def real_pages(packages: Iterable[dict[str, Any]]) -> Iterator[RealPage]:
    """Yield the pages in these packages, downloading one package at a time.

    Prints unavailable packages.
    """
    for package in packages:
        name = package.get("npm") or package["debian"]
        try:
            package_folder = _npm_folder(name) if "npm" in package else _debian_folder(name, package.get("needs", ()))
        except (OSError, subprocess.SubprocessError, tarfile.TarError) as error:
            print(f"left out: {name} ({error})")
            continue
        for page in package["page"]:
            agreed = {scan_type: frozenset(page.get(scan_type, ())) for scan_type in ScanType}
            yield RealPage(name, package_folder / package["folder"], page["path"], agreed)


def _npm_folder(spec: str) -> Path:
    """Return an npm package's folder. Downloads the package once."""
    folder = CACHE / spec.replace("/", "_")
    if not folder.exists():
        with tempfile.TemporaryDirectory() as temporary:
            _run("npm", "pack", spec, "--silent", "--pack-destination", temporary)
            (archive,) = Path(temporary).iterdir()
            with tarfile.open(archive) as files:
                files.extractall(unpacking := Path(temporary) / "unpacked", filter="data")
            _cache_folder(unpacking, folder)
    return folder


def _debian_folder(name: str, needs: Sequence[str]) -> Path:
    """Return the folder with a Debian package's files.

    Downloads it once, for this machine's release.

    `needs` names packages with files that the package's pages use through symbolic links.
    """
    names = [name, *needs]
    folder = CACHE / "+".join(names)
    if not folder.exists():
        with tempfile.TemporaryDirectory() as temporary:
            _run("apt-get", "download", "-qq", *names, folder=temporary)
            unpacking = Path(temporary) / "unpacked"
            for archive in Path(temporary).glob("*.deb"):
                _run("dpkg-deb", "-x", str(archive), str(unpacking))
            _cache_folder(unpacking, folder)
    return folder


def _cache_folder(unpacked: Path, folder: Path) -> None:
    CACHE.mkdir(parents=True, exist_ok=True)
    shutil.move(unpacked, folder)


def _run(*command: str, folder: str | None = None) -> None:
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=300)
