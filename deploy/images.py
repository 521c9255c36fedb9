"""`make images`: build the images of the Dockerfile, and write for each a list of what it holds, as CycloneDX 1.6.

With Docker, or with Podman where there is no Docker. Where the base image can't be pulled, and with `--base debian`,
root makes one from Debian's own packages (needs Podman and mmdebstrap). Podman's builds get pip's settings and the
certificates of this machine, which do not get into the images. What a list holds is read from the files of the image.
"""

from __future__ import annotations

import argparse
import ast
import email.parser
import email.policy
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
from website_scan import __version__  # noqa: E402

IMAGES = {
    "service": "website-scan-service",
    "browser": "website-scan-service-browser",
    "command": "website-scan-command",
}
BASE = "python:3.12-slim-bookworm"  # as in the Dockerfile
RELEASE = "bookworm"
DEBIAN_BASE = "localhost/website-scan-base"
# What the official image has of Python, and the certificates that pip needs.
PACKAGES = "usr-is-merged,python-is-python3,python3-venv,ca-certificates"
EXCLUDED = ("path-exclude=/usr/share/man/*", "path-exclude=/usr/share/locale/*", "path-exclude=/usr/share/doc/*")
INCLUDED = "path-include=/usr/share/doc/*/copyright"
HOOKS = "/usr/share/mmdebstrap/hooks/maybe-merged-usr"
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
PROXIES = ("http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
MB = 1_000_000


class ImagesError(Exception):
    """Reason why no image was built; the message says what to do."""


@dataclass(frozen=True)
class Engine:
    """Program that builds and keeps images: `docker` or `podman`."""

    name: str

    def run(self, *arguments: str) -> None:
        """Run a command of the engine, with its output. Raises ImagesError if it fails."""
        if subprocess.run([self.name, *arguments], cwd=ROOT, check=False).returncode:
            raise ImagesError(f"`{self.name} {arguments[0]}` failed; its last lines say why.")

    def said(self, *arguments: str) -> str:
        """Return the output of a command. Raises ImagesError if it fails."""
        ran = subprocess.run([self.name, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
        if ran.returncode:
            raise ImagesError(f"`{self.name} {arguments[0]}` failed: {ran.stderr.strip()}")
        return ran.stdout.strip()

    def has(self, image: str) -> bool:
        ran = subprocess.run([self.name, "image", "inspect", image], capture_output=True, check=False)
        return ran.returncode == 0

    def bytes_of(self, image: str) -> int:
        """Return the size of an image with all of its layers, uncompressed."""
        return int(self.said("image", "inspect", "--format", "{{.Size}}", image))


def engine(wanted: str | None) -> Engine:
    """Return the wanted engine, else Docker if its daemon answers, else Podman. Raises ImagesError if there is none."""
    if wanted:
        return Engine(wanted)
    if shutil.which("docker") and not subprocess.run(["docker", "info"], capture_output=True, check=False).returncode:
        return Engine("docker")
    if shutil.which("podman"):
        return Engine("podman")
    raise ImagesError("There is neither a Docker that answers nor Podman here. As root: apt install podman mmdebstrap")


def base_of(on: Engine, wanted: str) -> str:
    """Return the name of the base image, which has been pulled or made. Raises ImagesError if neither is possible."""
    if wanted != "debian":
        if on.has(wanted) or not subprocess.run([on.name, "pull", wanted], cwd=ROOT, check=False).returncode:
            return wanted
        print(f"{wanted} could not be pulled.", flush=True)
    if on.name != "podman" or os.geteuid() != 0 or shutil.which("mmdebstrap") is None:
        raise ImagesError(
            "Only root can make a base from Debian's packages, with Podman: apt install podman mmdebstrap"
        )
    print(f"Making {DEBIAN_BASE} from the packages of Debian {RELEASE} …", flush=True)
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        archive = Path(folder, "base.tar")
        options = [f"--dpkgopt={each}" for each in (*EXCLUDED, INCLUDED)]
        if Path(HOOKS).is_dir():
            options.append(f"--hook-dir={HOOKS}")
        command = [
            "mmdebstrap",
            "--quiet",
            "--variant=minbase",
            f"--include={PACKAGES}",
            *options,
            RELEASE,
            str(archive),
        ]
        made = subprocess.run([*command, *sources()], capture_output=True, text=True, check=False)
        if made.returncode:
            raise ImagesError(f"mmdebstrap failed:\n{made.stderr[-2000:]}")
        on.said("import", str(archive), DEBIAN_BASE)
    return DEBIAN_BASE


def sources() -> list[str]:
    """Return Debian's sources of this machine's apt for the release, with updates and security; none if it has none."""
    form = "deb $(REPO_URI) $(RELEASE) $(COMPONENT)"
    command = ["apt-get", "indextargets", "--format", form, "Created-By: Packages", "Origin: Debian", "Component: main"]
    lines = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    wanted = {RELEASE, f"{RELEASE}-updates", f"{RELEASE}-security"}
    return sorted({line for line in lines if line.split()[2] in wanted})


def settings_of_pip() -> dict[str, str]:
    """Return pip's settings on this machine by option, from its files and its environment."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "config", "list"]
    lines = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    found: dict[str, str] = {}
    for key, _, value in sorted(line.partition("=") for line in lines if "=" in line):
        section, _, name = key.rpartition(".")
        if name and section in ("global", "install", ":env:"):
            found[name] = ast.literal_eval(value)
    return found


def passed_in(folder: Path) -> list[str]:
    """Return Podman's options for builds that may use what this machine is set up with; `folder` gets a file of it."""
    settings = settings_of_pip()
    lines = [f"{name} = " + "\n    ".join(value.split("\n")) for name, value in settings.items()]
    file = folder / "pip.conf"
    file.write_text("\n".join(["[global]", *lines, ""]))
    words = [word for value in settings.values() for word in value.split()]
    # The pages of a local index name files beside it.
    named = [Path(word.removeprefix("file://")).parent if word.startswith("file:") else Path(word) for word in words]
    mounts = {f"{path}:{path}:ro" for path in (CERTIFICATES, *named) if path.is_absolute() and path.exists()}
    return [f"--volume={each}" for each in (f"{file}:/etc/pip.conf:ro", *sorted(mounts))]


def build(on: Engine, base: str, targets: Sequence[str]) -> None:
    """Build the images of the targets on a base, labelled with the version, and with the commit of a clone."""
    asked = ["git", "rev-parse", "HEAD"]
    revision = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()
    labels = {"version": __version__, "revision": revision, "base.name": base}
    options = [f"--label=org.opencontainers.image.{name}={value}" for name, value in labels.items() if value]
    options += [f"--build-arg={name}" for name in PROXIES if name in os.environ]
    with tempfile.TemporaryDirectory() as folder:
        if on.name == "podman":
            # Only Docker's format has health checks. Chroots need neither cgroups nor a runtime.
            options += [
                "--format=docker",
                "--isolation=chroot",
                "--network=host",
                "--pull=never",
                *passed_in(Path(folder)),
            ]
        for target in targets:
            print(f"Building {IMAGES[target]} …", flush=True)
            arguments = [
                f"--build-arg=PYTHON_IMAGE={base}",
                f"--target={target}",
                f"--tag={IMAGES[target]}",
                f"--tag={IMAGES[target]}:{__version__}",
                ".",
            ]
            on.run("build", *options, *arguments)


def contents(on: Engine, image: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield kind, name, version and licence of all packages in an image, which does not run for that.

    The kind is that of package URLs: `deb`, `pypi` or `generic`; the licence of Debian's packages is empty.
    """
    for each in json.loads(on.said("image", "inspect", "--format", "{{json .Config.Env}}", image)) or ():
        name, _, value = each.partition("=")
        if name == "PYTHON_VERSION":  # of the official images, whose Python is no package
            yield "generic", "python", value, ""
    container = on.said("create", image)
    try:
        with (
            subprocess.Popen([on.name, "export", container], stdout=subprocess.PIPE) as exported,
            tarfile.open(fileobj=exported.stdout, mode="r|") as files,
        ):
            for file in files:
                path = file.name.removeprefix("./")
                if path == "var/lib/dpkg/status" and (data := files.extractfile(file)):
                    yield from packages_of_debian(data.read().decode())
                elif path.endswith(".dist-info/METADATA") and (data := files.extractfile(file)):
                    yield package_of_python(data.read().decode())
    finally:
        on.said("rm", "--force", container)


def packages_of_debian(status: str) -> Iterator[tuple[str, str, str, str]]:
    for paragraph in status.split("\n\n"):
        fields = email.parser.HeaderParser(policy=email.policy.compat32).parsestr(paragraph)
        if fields["Status"] == "install ok installed":
            yield "deb", fields["Package"], fields["Version"], ""


def package_of_python(metadata: str) -> tuple[str, str, str, str]:
    fields = email.parser.HeaderParser(policy=email.policy.compat32).parsestr(metadata)
    return "pypi", fields["Name"], fields["Version"], fields["License-Expression"] or ""


def bill_of(on: Engine, target: str, folder: Path) -> tuple[Path, Counter[str]]:
    """Write the list of an image's packages, with the image's ID; return its file and the number of each kind."""
    id = on.said("image", "inspect", "--format", "{{.Id}}", IMAGES[target]).removeprefix("sha256:")
    image = Component(
        name=IMAGES[target],
        version=__version__,
        type=ComponentType.CONTAINER,
        bom_ref=IMAGES[target],
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=id)],
    )
    bom, counts = Bom(), Counter[str]()
    bom.metadata.component = image
    for kind, name, version, licence in sorted(set(contents(on, IMAGES[target]))):
        url = PackageURL(kind, "debian" if kind == "deb" else None, name, version)
        licences = [LicenseFactory().make_from_string(licence)] if licence else []
        bom.components.add(Component(name=name, version=version, purl=url, licenses=licences, bom_ref=str(url)))
        counts[kind] += 1
    bom.register_dependency(image, bom.components)
    document: dict[str, Any] = json.loads(JsonV1Dot6(bom).output_as_string())
    document.pop("serialNumber")
    document["metadata"].pop("timestamp")  # the same image has the same list
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"sbom-{IMAGES[target]}.json"
    file.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return file, counts


def main() -> None:
    parser = argparse.ArgumentParser(prog="make images", description=__doc__)
    parser.add_argument(
        "--base", default=BASE, help=f"image with Python and apt, or `debian` to make one; default: {BASE}"
    )
    parser.add_argument("--engine", choices=("docker", "podman"), help="default: docker if it answers, else podman")
    parser.add_argument("--target", action="append", choices=IMAGES, help="only this image; may be repeated")
    parser.add_argument("--bills", type=Path, default=ROOT / "var", help="folder of the lists; default: var")
    options = parser.parse_args()
    began = time.monotonic()
    try:
        on = engine(options.engine)
        base = base_of(on, options.base)
        targets = options.target or list(IMAGES)
        build(on, base, targets)
        size = on.bytes_of(base)
        print(f"{base}: {size / MB:,.0f} MB")
        for target in targets:
            whole = on.bytes_of(IMAGES[target])
            file, counts = bill_of(on, target, options.bills)
            listed = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
            print(
                f"{IMAGES[target]}: {whole / MB:,.0f} MB, {(whole - size) / MB:,.0f} above its base; {file}: {listed}"
            )
    except ImagesError as error:
        sys.exit(str(error))
    print(f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
