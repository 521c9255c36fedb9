"""Real pages: templates and documentation in packages of npm and Debian, installed by their own clients.

`real_pages.toml` lists them with the findings that an owner would agree to, judged by hand.
"""

from __future__ import annotations

import shutil
import subprocess
import tarfile
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from website_scan.findings import ScanType

LIST = Path(__file__).with_suffix(".toml")
KEPT = Path(tempfile.gettempdir()) / "website-scan-real-pages"


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


def real_pages() -> Iterator[RealPage]:
    """Yield the pages whose packages can be had here, and print the others."""
    for package in tomllib.loads(LIST.read_text())["package"]:
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
