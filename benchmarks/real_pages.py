"""Real pages of other projects: templates and documentation in npm and Debian packages.

`real_pages.toml` lists the pages. npm and apt download the packages, once for this machine.
"""

from __future__ import annotations

import subprocess
import tarfile
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from benchmarks.static_host import StaticHost, authority
from tests.website_scan.net.loopback import NETWORKS
from website_scan.browser.visit import Browser
from website_scan.findings import ScanType
from website_scan.net.client import Network
from website_scan.net.policy import Policy
from website_scan.net.targets import parse_target
from website_scan.result import Budget, ScanResult
from website_scan.run import scan

LIST = Path(__file__).with_name("real_pages.toml")
CACHE = Path(tempfile.gettempdir()) / "website-scan-real-pages"
TIME_LIMIT_S = 120.0
DOWNLOAD_TIME_LIMIT_S = 300
# By default, npm waits more than a minute for a registry that refuses connections.
NPM_OPTIONS = (
    "--loglevel=error",
    "--fetch-retries=1",
    "--fetch-retry-mintimeout=1000",
    "--fetch-retry-maxtimeout=1000",
)

# Table of a package in real_pages.toml.
Package = Mapping[str, Any]


class PackageUnavailable(Exception):
    """Raised if a package cannot be downloaded. The message has the package and the reason."""


class RealPage(Struct, frozen=True):
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


def packages() -> list[Package]:
    """Return all packages in real_pages.toml."""
    listed: list[Package] = tomllib.loads(LIST.read_text())["package"]
    return listed


def real_pages(packages: Iterable[Package]) -> Iterator[RealPage]:
    """Yield the pages in these packages, downloading one package at a time.

    Prints unavailable packages.
    """
    for package in packages:
        try:
            yield from pages_of(package)
        except PackageUnavailable as error:
            print(f"left out: {error}")


def pages_of(package: Package) -> list[RealPage]:
    """Return the pages in a package, after downloading it.

    Raises PackageUnavailable.
    """
    name = package.get("npm") or package["debian"]
    try:
        package_folder = _npm_folder(name) if "npm" in package else _debian_folder(name, package.get("needs", ()))
    except subprocess.CalledProcessError as error:
        lines = error.stderr.decode(errors="replace").strip().splitlines()
        raise PackageUnavailable(f"{name} ({lines[0] if lines else f'status {error.returncode}'})") from error
    except (OSError, subprocess.TimeoutExpired, tarfile.TarError) as error:
        raise PackageUnavailable(f"{name} ({error})") from error
    return [
        RealPage(
            name,
            package_folder / package["folder"],
            page["path"],
            {scan_type: frozenset(page.get(scan_type, ())) for scan_type in ScanType},
        )
        for page in package["page"]
    ]


def scan_page(page: RealPage, browser: Browser | None) -> tuple[ScanResult, ...]:
    """Serve a page on this machine and scan it for all types."""
    with StaticHost(page.folder) as host:
        policy = Policy(allowed_networks=NETWORKS, ca_bundle=authority())
        with Network(policy, time_limit_s=TIME_LIMIT_S) as network:
            target = parse_target(f"{host.url}/{page.path}", policy)
            return scan(target, ScanType, network, Budget(TIME_LIMIT_S), browser=browser)


def _npm_folder(spec: str) -> Path:
    """Return an npm package's folder. Downloads the package once."""
    folder = CACHE / spec.replace("/", "_")
    if not folder.exists():
        with tempfile.TemporaryDirectory() as temporary:
            _run("npm", "pack", spec, *NPM_OPTIONS, "--pack-destination", temporary)
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
    try:
        unpacked.rename(folder)
    except OSError:
        if not folder.exists():
            raise
        # Another process has downloaded the package at the same time.


def _run(*command: str, folder: str | None = None) -> None:
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=DOWNLOAD_TIME_LIMIT_S)
